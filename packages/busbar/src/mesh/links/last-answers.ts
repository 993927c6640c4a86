/** What links that are about to end still have to deliver. */
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { Link } from './link.ts'

/** Milliseconds between two looks. */
const idleCheck = 50

/**
 * Waits for at most `timeout` milliseconds until the calls in flight are answered, and their
 * callers have read that. A service may have ended before its last answer is on its way: that takes
 * some more ticks.
 */
export async function answersArrive(links: Iterable<Link>, timeout: number): Promise<void> {
  const deadline = performance.now() + timeout
  await waitWhile(() => areAnswering(links), deadline)
  const read = Promise.all([...links].map((link) => link.answersRead()))
  await settlesWithin(Math.max(0, deadline - performance.now()), [read])
}

export function areAnswering(links: Iterable<Link>): boolean {
  return [...links].some(({ answering }) => answering > 0)
}

export async function waitWhile(isBusy: () => boolean, deadline: number): Promise<void> {
  while (isBusy() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, idleCheck))
}
