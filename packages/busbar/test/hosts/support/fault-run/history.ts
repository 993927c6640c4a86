/** What callers have seen of their calls, and whether that can be. */

export type Method = 'read' | 'write' | 'ticks'

/** How a call has ended for its caller. */
export type Outcome =
  | { readonly is: 'answered'; readonly at: string; readonly input: unknown }
  | { readonly is: 'streamed'; readonly values: readonly number[]; readonly wanted: number }
  | { readonly is: 'failed'; readonly code: string; readonly values: readonly number[] }

export interface Operation {
  readonly id: string
  readonly method: Method
  readonly beganAt: number
  outcome: Outcome | undefined
  took: number
}

/** One call that a host has begun. */
export interface Execution {
  readonly id: unknown
  readonly host: string
}

/** Codes of errors that a fault of a host, a link or a server may cause. */
const allowed = new Set(['LINK_LOST', 'SERVICE_UNAVAILABLE', 'SERVICE_HANGUP', 'DEADLINE_EXCEEDED', 'WORKER_DIED'])

export class History {
  readonly operations: Operation[] = []

  begin(method: Method): Operation {
    const id = `${method}-${this.operations.length}`
    const operation: Operation = { id, method, beganAt: performance.now(), outcome: undefined, took: 0 }
    this.operations.push(operation)
    return operation
  }

  end(operation: Operation, outcome: Outcome): void {
    operation.outcome = outcome
    operation.took = Math.round(performance.now() - operation.beganAt)
  }

  /** How often each kind of outcome was. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { method, outcome } of this.operations) {
      const key = `${method} ${outcome?.is === 'failed' ? outcome.code : (outcome?.is ?? 'pending')}`
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  }

  /** What is wrong. `limit`: milliseconds after which a call counts as hung. */
  faults(executions: readonly Execution[], limit: number): string[] {
    const byId = Map.groupBy(executions, ({ id }) => id)
    return this.operations.flatMap((operation) => faultsOf(operation, byId.get(operation.id) ?? [], limit))
  }
}

function faultsOf({ id, method, outcome, took }: Operation, runs: readonly Execution[], limit: number): string[] {
  if (outcome === undefined) return [`${id} has never ended`]
  const faults: string[] = []
  if (took > limit) faults.push(`${id} took ${took} ms`)
  if (outcome.is === 'failed' && !allowed.has(outcome.code)) faults.push(`${id} failed with ${outcome.code}`)
  if (method === 'write' && runs.length > 1) faults.push(`${id} was carried out ${runs.length} times`)
  if (method === 'read' && runs.length > 2) faults.push(`${id} was carried out ${runs.length} times`)
  if (outcome.is === 'answered') {
    if (outcome.input !== id) faults.push(`${id} got the answer of ${String(outcome.input)}`)
    if (!runs.some(({ host }) => host === outcome.at))
      faults.push(`${id} was answered by ${outcome.at}, which did not run it`)
  }
  if (outcome.is !== 'answered') {
    const wrong = outcome.values.findIndex((value, at) => value !== at)
    if (wrong >= 0) faults.push(`${id} has ${outcome.values[wrong]} at ${wrong}`)
    if (outcome.is === 'streamed' && outcome.values.length !== outcome.wanted)
      faults.push(`${id} ended with ${outcome.values.length} of ${outcome.wanted} values, without an error`)
  }
  return faults
}
