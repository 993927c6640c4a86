/**
 * A latency histogram in 32-bit cells that one thread writes and anyone reads. Buckets are
 * log-linear, four per doubling, so a value is known to within a quarter, from a microsecond to a
 * minute.
 *
 *     (0, 1] (1, 2] (2, 3] (3, 4] │ (4, 5] (5, 6] (6, 7] (7, 8] │ (8, 10] (10, 12] …   microseconds
 *
 * A bucket includes its upper bound, as Prometheus' `le` does, so every fourth bound is exactly one
 * of its bounds. Counts only increase; they wrap and are compared by difference.
 */

/** Buckets per doubling: 2 to this power. */
const fineness = 2
const perDoubling = 1 << fineness
/** Longer times than 2 to this power, in microseconds (67 s), are in the last bucket. */
const doublings = 26

export const bucketCount = (doublings - fineness + 1) * perDoubling + 1

/** The bucket of a duration in whole microseconds, rounded up. */
export function bucketOf(microseconds: number): number {
  // The upper bound belongs to its bucket.
  const value = microseconds <= 1 ? 0 : microseconds - 1
  if (value >= 2 ** doublings) return bucketCount - 1
  if (value < perDoubling) return value
  const doubling = 31 - Math.clz32(value)
  const within = (value >>> (doubling - fineness)) - perDoubling
  return (doubling - fineness + 1) * perDoubling + within
}

/** In microseconds; Infinity for the last bucket. */
export function upperBound(bucket: number): number {
  if (bucket >= bucketCount - 1) return Infinity
  if (bucket < perDoubling) return bucket + 1
  const doubling = Math.floor(bucket / perDoubling) - 1
  return (perDoubling + (bucket % perDoubling) + 1) * 2 ** doubling
}

/**
 * The duration in microseconds that `share` of the counted calls did not exceed; 0 without calls.
 */
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
