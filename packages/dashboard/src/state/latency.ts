/** Latency histograms: counts by the upper bound of their bucket. */
import type { Bucket } from '../api/types.ts'

/** By upper bound in milliseconds; Infinity for the last bucket. */
export type Counts = Map<number, number>

export function addBuckets(counts: Counts, buckets: readonly Bucket[]): void {
  for (const { le, count } of buckets) counts.set(le ?? Infinity, (counts.get(le ?? Infinity) ?? 0) + count)
}

/** The bound that `share` of the calls did not exceed; null without calls. */
export function quantile(counts: Counts, share: number): number | null {
  const sorted = [...counts].sort(([one], [other]) => one - other)
  const all = sorted.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [bound, count] of sorted) if ((seen += count) >= all * share) return bound
  return null
}

/** The upper bounds of the rows of a heat map in milliseconds: two per doubling, up to 12 s. */
export const rowBounds: readonly number[] = Array.from({ length: 36 }, (_, row) => 0.064 * 2 ** (row / 2))

/** The row of a bucket. */
export function rowOf(bound: number): number {
  if (bound === Infinity) return rowBounds.length - 1
  return Math.min(rowBounds.length - 1, Math.max(0, Math.ceil(Math.log2(bound / rowBounds[0]!) * 2)))
}
