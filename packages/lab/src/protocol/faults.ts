import type { Slice } from './slice.ts'

/** Answers that came wrong or not at all, of one kind. */
export interface Fault {
  /** As the engine names it, such as `mismatch:header`; with where it was seen before it. */
  readonly kind: string
  readonly count: number
  /** The first such answer. */
  readonly what: string
}

/** What came wrong or not at all in one slice. */
export function faultsOfSlice({ result, probe }: Slice): Fault[] {
  const found = Object.entries(result.failures).map(([kind, count]) => fault(kind, count, result.firstProblem))
  const { connectFailures } = result
  if (connectFailures > 0) found.push(fault('connections failed', connectFailures, result.firstProblem))
  // A probe may wait for as long as it takes, which is what it measures; but what comes must be right.
  const { timeout: _, ...wrong } = probe?.result.failures ?? {}
  const besides = Object.entries(wrong).map(([kind, count]) =>
    fault(`probe, ${kind}`, count, probe?.result.firstProblem ?? null),
  )
  return [...found, ...besides]
}

/** Each kind once, with the sum of its counts and its first example. */
export function faultsInWords(faults: readonly Fault[]): string[] {
  return [...Map.groupBy(faults, ({ kind }) => kind)].map(
    ([kind, same]) => `${kind} × ${same.reduce((sum, { count }) => sum + count, 0)}: ${same[0]!.what}`,
  )
}

function fault(kind: string, count: number, what: string | null): Fault {
  return { kind, count, what: what ?? 'no example was kept' }
}
