import type { Backend, Connected, Probe, TestLog } from './backend.ts'
import type { Diary } from './contract.ts'

export interface Ground {
  readonly backend: Backend
  readonly probe: Probe
  readonly diary: Diary
  readonly log: TestLog
  readonly connected: Connected
}

/** What holds over every transport, by what it says. */
export type Cases = Readonly<Record<string, (ground: Ground) => Promise<void>>>
