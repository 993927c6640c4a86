/** Counts the calls of one caller to one method. */
export interface CallEdge {
  /** A call begins. Returns when, as `performance.now()` does, if it is measured. */
  begin(): number | undefined
  /** The call has left its caller's queue. */
  started?(): void
  /** It has waited for a limit of its service: so many milliseconds more. */
  waited?(milliseconds: number): void
  /** The call is sent again: its instance was lost, or has not accepted it. */
  retried(): void
  /**
   * `status`: of HTTP. `callee` and `caller`: the workers that answered and that called, as
   * `shared/metrics/worker-pair.ts` numbers them. Default: this one.
   */
  end(status: number, began: number | undefined, callee?: number, caller?: number): void
}

/** The status of a call that has succeeded. */
export const succeeded = 200

/**
 * Counts the outcome of what `step` does with its argument: a value, a promise, or an exception.
 */
export function counting<In, Out>(
  edge: CallEdge,
  began: number | undefined,
  step: (value: In) => Out,
): (value: In) => Out {
  const passed = <Value>(value: Value): Value => {
    edge.end(succeeded, began)
    return value
  }
  const failed = (error: unknown): never => {
    edge.end(statusOf(error), began)
    throw error
  }
  return (value) => {
    let result: Out
    try {
      result = step(value)
    } catch (error) {
      return failed(error)
    }
    return result instanceof Promise ? (result.then(passed, failed) as Out) : passed(result)
  }
}

/** The status of the error with which a call has failed. */
export function statusOf(error: unknown): number {
  const status = (error as { status?: unknown } | undefined)?.status
  return typeof status === 'number' ? status : 500
}
