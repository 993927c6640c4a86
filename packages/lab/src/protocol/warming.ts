import type { Tick } from '../engine/job.ts'
import type { Timing } from './plan.ts'

/** `few`: too few responses, so that V8 may not have compiled it. `unsteady`: the rate changed. */
export type Cold = 'few' | 'unsteady'

/**
 * `load`: applies the load for so many milliseconds. `calls`: how many responses one response
 * counts for. Returns what was lacking in the end.
 */
export async function warmUp(
  load: (milliseconds: number) => Promise<readonly Tick[]>,
  timing: Timing,
  calls = 1,
): Promise<Cold | undefined> {
  const ticks = [...(await load(timing.warmUpMs))]
  for (let spent = 0; coldOf(ticks, timing, calls) !== undefined && spent < timing.extraWarmUpMs; spent += windowMs)
    ticks.push(...(await load(windowMs)))
  return coldOf(ticks, timing, calls)
}

/** Responses a second. Slower requests are the program's own work, and little else. */
const fast = 300
const ticksPerSecond = 10

function coldOf(ticks: readonly Tick[], { warmUpRequests, untilSteady }: Timing, calls: number): Cold | undefined {
  const responses = calls * ticks.reduce((sum, { done }) => sum + done, 0)
  if (responses < warmUpRequests && responses * ticksPerSecond > fast * ticks.length) return 'few'
  return untilSteady && !isSteady(ticks) ? 'unsteady' : undefined
}

/** Length of the two windows that {@link isSteady} compares. */
const windowMs = 2000
/** Rates that differ by less count as equal on a busy machine. */
const steadyTolerance = 0.05

/**
 * True if the load has settled: the rates of the last two windows are equal. False if it was too
 * short.
 */
export function isSteady(ticks: readonly Tick[]): boolean {
  const count = (windowMs / 1000) * ticksPerSecond
  if (ticks.length < 2 * count) return false
  const rate = (part: readonly Tick[]) => part.reduce((sum, tick) => sum + tick.done, 0)
  const [before, last] = [rate(ticks.slice(-2 * count, -count)), rate(ticks.slice(-count))]
  return Math.abs(last - before) <= steadyTolerance * Math.max(before, 1)
}
