import type { Tick } from '../engine/job.ts'

/** Two stretches of a load whose rates differ by no more than this are as steady as a busy machine lets them be. */
const alike = 0.05
/** Milliseconds of each of the two. */
export const stretchMs = 2000

/** Whether the load had settled in its last stretch, against the one before; false where it was too short to tell. */
export function isSteady(ticks: readonly Tick[]): boolean {
  const count = stretchMs / 100
  if (ticks.length < 2 * count) return false
  const rate = (part: readonly Tick[]) => part.reduce((sum, tick) => sum + tick.done, 0)
  const [before, last] = [rate(ticks.slice(-2 * count, -count)), rate(ticks.slice(-count))]
  return Math.abs(last - before) <= alike * Math.max(before, 1)
}
