import type { Distribution } from '../engine/job.ts'

/** The sum of several distributions, which share their bucket edges. Milliseconds. */
export interface Merged {
  readonly mean: number
  readonly stdev: number
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  readonly min: number
  readonly buckets: readonly (readonly [edge: number, count: number])[]
}

/** Null if nothing was recorded. */
export function merge(distributions: readonly Distribution[]): Merged | null {
  const counts = new Map<number, number>()
  for (const { buckets } of distributions)
    for (const [edge, count] of buckets) counts.set(edge, (counts.get(edge) ?? 0) + count)
  const buckets = [...counts].toSorted(([one], [other]) => one - other)
  const total = buckets.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  const mean = distributions.reduce((sum, each) => sum + each.mean * each.count, 0) / total
  const at = (share: number) => percentileOf(buckets, total, share)
  return {
    mean,
    stdev: Math.sqrt(buckets.reduce((sum, [edge, count]) => sum + count * (edge - mean) ** 2, 0) / total),
    p50: at(0.5),
    p75: at(0.75),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999),
    max: buckets.at(-1)![0],
    min: buckets[0]![0],
    buckets,
  }
}

type Buckets = readonly (readonly [edge: number, count: number])[]

/** The smallest edge with at least this share of the values at or below it. */
export function percentileOf(buckets: Buckets, total: number, share: number): number {
  let seen = 0
  for (const [edge, count] of buckets) {
    seen += count
    if (seen >= share * total) return edge
  }
  return buckets.at(-1)![0]
}

export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Bins of one width between the smallest and the largest value. */
export function binsOf(buckets: Buckets, wanted = 10): Bin[] {
  const [first, last] = [buckets[0]?.[0] ?? 0, buckets.at(-1)?.[0] ?? 0]
  const width = (last - first) / wanted
  if (width === 0) return buckets.length === 0 ? [] : [{ from: first, to: last, count: countIn(buckets) }]
  return Array.from({ length: wanted }, (_, at) => {
    const [from, to] = [first + at * width, at === wanted - 1 ? last : first + (at + 1) * width]
    return { from, to, count: countIn(buckets.filter(([edge]) => edge <= to && (edge > from || at === 0))) }
  })
}

function countIn(buckets: Buckets): number {
  return buckets.reduce((sum, [, count]) => sum + count, 0)
}
