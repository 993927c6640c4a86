import type { Backend, Connected, Probe, TestLog } from './backend.ts'
import type { CallRecord } from './contract.ts'

export interface CaseContext {
  readonly backend: Backend
  readonly probe: Probe
  readonly record: CallRecord
  readonly log: TestLog
  readonly connected: Connected
}

/** Test cases for every backend, by title. */
export type Cases = Readonly<Record<string, (context: CaseContext) => Promise<void>>>
