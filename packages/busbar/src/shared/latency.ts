/**
 * How long calls took, as counts in 32-bit cells that one thread writes and anyone reads. Buckets are log-linear: four to
 * each doubling, so a value is known to within a quarter of itself, from a microsecond to a minute.
 *
 *     (0, 1] (1, 2] (2, 3] (3, 4] │ (4, 5] (5, 6] (6, 7] (7, 8] │ (8, 10] (10, 12] …   microseconds
 *
 * A bucket includes its upper bound, as Prometheus' `le` does, so that every fourth bound is one of its bounds exactly.
 * Counts only grow, whoever reads them; they wrap, and are compared by difference.
 */

/** Buckets to one doubling: 2 to the power of this. */
const fineness = 2
const perDoubling = 1 << fineness
/** What took longer than 2 to the power of this, in microseconds (67 s), is in the last bucket. */
const doublings = 26

export const bucketCount = (doublings - fineness + 1) * perDoubling + 1

/** Of a duration in whole microseconds, rounded up. */
export function bucketOf(microseconds: number): number {
  // The bound belongs to the bucket below it.
  const value = microseconds <= 1 ? 0 : microseconds - 1
  if (value >= 2 ** doublings) return bucketCount - 1
  if (value < perDoubling) return value
  const doubling = 31 - Math.clz32(value)
  const within = (value >>> (doubling - fineness)) - perDoubling
  return (doubling - fineness + 1) * perDoubling + within
}

/** In microseconds; Infinity for the last. */
export function upperBound(bucket: number): number {
  if (bucket >= bucketCount - 1) return Infinity
  if (bucket < perDoubling) return bucket + 1
  const doubling = Math.floor(bucket / perDoubling) - 1
  return (perDoubling + (bucket % perDoubling) + 1) * 2 ** doubling
}

/** The duration, in microseconds, that `share` of the counted calls did not exceed; 0 where there are none. */
export function quantile(counts: ArrayLike<number>, share: number): number {
  let all = 0
  for (let bucket = 0; bucket < bucketCount; bucket++) all += counts[bucket]!
  if (all === 0) return 0
  let seen = 0
  for (let bucket = 0; bucket < bucketCount - 1; bucket++) {
    seen += counts[bucket]!
    if (seen >= all * share) return upperBound(bucket)
  }
  return 2 ** doublings
}
