import type { ArmResult, Latency, Result } from '../result.ts'

/** What the tables and `compare` need, a hundredth of the size: for a repository. */
export function compact(result: Result): Result {
  return { ...result, arms: result.arms.map(withoutSamples) }
}

function withoutSamples(arm: ArmResult): ArmResult {
  return {
    ...arm,
    latency: withoutBuckets(arm.latency),
    probe: withoutBuckets(arm.probe),
    open: arm.open.map((open) => ({ ...open, latency: withoutBuckets(open.latency) })),
    slices: arm.slices.map((slice) => ({ ...slice, series: [], runtime: [] })),
  }
}

function withoutBuckets(latency: Latency | null): Latency | null {
  return latency && { ...latency, buckets: [] }
}
