/**
 * Whether more calls fail after a change than before it. Each route is compared with itself: one
 * that always fails says nothing, however often it is called.
 */
import { type AppWindow, type EdgeWindow, isFromOutside } from './app-window.ts'

/** Of the calls after the change, to routes that were called before it too. */
export interface MoreFailures {
  readonly calls: number
  readonly failures: number
  /** From 0 to 1. */
  readonly share: number
  /** If each route failed as often as before. */
  readonly expected: number
}

/** Fewer are no reason to take a change back, however certain. */
const minShare = 0.001
/** So many more than expected. One can be the only call of its route, and all of it. */
const minFailures = 2
/**
 * Standard deviations. Without any change, one of 20 comparisons exceeds that. A false alarm costs
 * less than failures do, so the limit is low: of as many calls, 5 failures exceed it after none.
 */
const limit = 1.645

/** The test of Cochran, Mantel and Haenszel, of calls from outside. Undefined: no more fail. */
export function moreFailures(before: AppWindow, after: AppWindow): MoreFailures | undefined {
  const earlier = byRoute(before)
  let [calls, failures, expected, excess, variance] = [0, 0, 0, 0, 0]
  for (const [route, now] of byRoute(after)) {
    const was = earlier.get(route)
    if (was === undefined) continue
    calls += now.calls
    failures += now.failures
    expected += now.calls * (was.failures / was.calls)
    const [all, failed] = [now.calls + was.calls, now.failures + was.failures]
    excess += now.failures - (now.calls * failed) / all
    variance += (now.calls * was.calls * failed * (all - failed)) / (all * all * (all - 1))
  }
  // The counts are whole numbers, of which the test has half of one more.
  if (variance === 0 || (excess - 0.5) / Math.sqrt(variance) < limit) return undefined
  const found = { calls, failures, share: failures / calls, expected: expected / calls }
  if (failures - expected < minFailures) return undefined
  return found.share < found.expected + minShare ? undefined : found
}

/** Over all transports, which a move changes. */
function byRoute({ edges }: AppWindow): Map<string, Pick<EdgeWindow, 'calls' | 'failures'>> {
  const found = new Map<string, Pick<EdgeWindow, 'calls' | 'failures'>>()
  for (const { callee, protocol, method, route, calls, failures } of edges.filter(isFromOutside)) {
    const key = JSON.stringify([callee, protocol, method, route])
    const sum = found.get(key) ?? { calls: 0, failures: 0 }
    found.set(key, { calls: sum.calls + calls, failures: sum.failures + failures })
  }
  return found
}
