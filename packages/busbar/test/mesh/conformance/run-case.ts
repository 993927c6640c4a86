import type { Backend } from './backend.ts'
import { tcp } from './backends/tcp.ts'
import { Caller } from './case.ts'
import type { Case } from './case.ts'
import { ProgramLog } from './program-log.ts'
import type { Outcome } from './recording.ts'

export interface Result {
  readonly caller: readonly Outcome[]
  readonly program: readonly string[]
  readonly handedOver: boolean
}

const known = new Map<string, Promise<Result>>()

/** The expected result: that over TCP, run once for all ways. */
export function oracle(one: Case): Promise<Result> {
  const result = known.get(one.name) ?? runCase(one, tcp)
  known.set(one.name, result)
  return result
}

export async function runCase(one: Case, backend: Backend): Promise<Result> {
  const log = new ProgramLog()
  const server = await one.program(log)
  await using link = await backend.serve(server)
  const caller = new Caller(link)
  if (one.call === undefined) await caller.send()
  else await one.call(caller, log)
  const outcomes = await caller.outcomes()
  await log.settled()
  // Effects of closing are not part of the case.
  return { caller: outcomes, program: log.byCall(), handedOver: caller.handedOver }
}

/** The part of a result that must be equal. */
export function ordered({ isDuplex }: Case, result: Result): Result {
  if (isDuplex !== true) return result
  const speaker = (event: string): string => event.split(' ', 1)[0]!
  return { ...result, program: result.program.toSorted((one, other) => speaker(one).localeCompare(speaker(other))) }
}
