/**
 * A chain of calls that never ends is stopped by counting: each call says how many led to it. Over a byte stream the
 * number travels as a header, which is believed only on connections that this mesh made itself and is taken out before
 * the program looks.
 */
import { type Problem, problemOf } from './problem.ts'
import { currentScope } from './scope.ts'

export const hopsHeader = 'busbar-hops'

/** Of a call that starts here and now. */
export function nextHops(): number {
  return (currentScope()?.hops ?? 0) + 1
}

/** What the caller is told whose call would be one too many. */
export function hopLimitProblem(service: string, maxHops: number): Problem {
  const detail = `the call to service ${service} is number ${maxHops + 1} of a chain in which each caused the next; ${maxHops} are allowed`
  return problemOf('HOP_LIMIT', detail, service)
}
