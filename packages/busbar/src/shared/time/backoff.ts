/** Milliseconds. */
const firstWait = 100
const longestWait = 10_000

/**
 * The wait before the next attempt: a random time up to a limit that doubles with each failure.
 * Many callers of a host that has restarted do not come back at the same moment ("full jitter", AWS
 * Architecture Blog, 2015).
 */
export function backoff(failures: number, random: () => number = Math.random): number {
  const limit = Math.min(longestWait, firstWait * 2 ** Math.min(failures, 20))
  // At least a part of it, so that a port that refuses at once is not dialled in a loop.
  return limit * (0.25 + 0.75 * random())
}
