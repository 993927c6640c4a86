import type { Slice } from './slice.ts'

/** Wrong or missing answers of one kind. */
export interface Fault {
  /** The engine's name, such as `mismatch:header`, after the place where it was seen. */
  readonly kind: string
  readonly count: number
  /** The first example. */
  readonly what: string
}

/** Wrong or missing answers of one slice. */
export function faultsOfSlice({ result, probe }: Slice): Fault[] {
  const found = Object.entries(result.failures).map(([kind, count]) => fault(kind, count, result.firstProblem))
  const { connectFailures } = result
  if (connectFailures > 0) found.push(fault('connections failed', connectFailures, result.firstProblem))
  // A probe measures how long answers take, so a timeout is not a fault.
  const { timeout: _, ...wrong } = probe?.result.failures ?? {}
  const besides = Object.entries(wrong).map(([kind, count]) =>
    fault(`probe, ${kind}`, count, probe?.result.firstProblem ?? null),
  )
  return [...found, ...besides]
}

/** One sentence per kind, with the sum of the counts and the first example. */
export function formatFaults(faults: readonly Fault[]): string[] {
  return [...Map.groupBy(faults, ({ kind }) => kind)].map(
    ([kind, same]) => `${kind} × ${same.reduce((sum, { count }) => sum + count, 0)}: ${same[0]!.what}`,
  )
}

function fault(kind: string, count: number, what: string | null): Fault {
  return { kind, count, what: what ?? 'no example was recorded' }
}
