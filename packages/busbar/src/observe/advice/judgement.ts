/** What two measurements say about a change between them. */
import { type AppWindow, isFromOutside, type Latency, latencyOf } from './app-window.ts'
import { durationText } from './figures.ts'
import { moreFailures } from './more-failures.ts'

/** Of all calls from outside. Times are milliseconds. */
export interface Measured extends Latency {
  readonly callsPerSecond: number
  /** Processors. Null: not known. */
  readonly cpu: number | null
  /** Milliseconds of processor time of each call. */
  readonly cpuPerCall: number | null
  /** How far apart the means of parts of the time are, relative to the median. */
  readonly spread: number
  /** The means of these parts, without the shortest and the longest. Null without calls. */
  readonly low: number | null
  readonly high: number | null
}

/** A difference below this share may be chance. */
const margin = 0.05

/** The whole, and its parts. */
export function measuredOf([window, ...rounds]: readonly AppWindow[]): Measured {
  const latency = outsideLatency(window!)
  const means = rounds.flatMap((round) => outsideLatency(round).mean ?? []).toSorted((one, other) => one - other)
  const inner = means.length < 3 ? means : means.slice(1, -1)
  const [low = null, high = null, middle = 1] = [inner.at(0), inner.at(-1), means.at(means.length >> 1)]
  const callsPerSecond = latency.calls / window!.seconds
  const cpuPerCall = window!.cpu === null || latency.calls === 0 ? null : (window!.cpu / callsPerSecond) * 1000
  const spread = means.length < 3 ? 0 : (high! - low!) / middle
  return { ...latency, callsPerSecond, cpu: window!.cpu, cpuPerCall, spread, low, high }
}

function outsideLatency({ edges }: AppWindow): Latency {
  return latencyOf(edges.filter(isFromOutside))
}

/** Undefined: no more calls fail. */
export function failingBecause(before: AppWindow, after: AppWindow): string | undefined {
  const more = moreFailures(before, after)
  if (more === undefined) return undefined
  const { failures, calls, share, expected } = more
  const which = 'of the routes that were called in both measurements'
  return `more calls fail: ${failures} of ${calls} (${percent(share)}) after ${percent(expected)}, ${which}`
}

/** Undefined: it is not worse. */
export function worseBecause(before: Measured, after: Measured): string | undefined {
  if (after.mean === null) return 'no call has ended after the moves'
  const fewer = after.callsPerSecond / before.callsPerSecond
  const dearer = cpuRatio(before, after)
  const chance = chanceOf(before, after)
  // Callers that wait for answers make more calls when these are faster.
  const isFaster = isLonger(before, after) || fewer > 1 + chance
  if (isLonger(after, before) && fewer < 1 + chance)
    return `calls take ${durationText(after.mean)} on average after ${durationText(before.mean!)}`
  if (fewer < 1 - chance && !isLonger(before, after))
    return `${after.callsPerSecond.toFixed(0)} calls a second end after ${before.callsPerSecond.toFixed(0)}`
  if (dearer > 1 + chance && !isFaster) return 'each call uses more processor time, and is no faster'
  return undefined
}

export function betterBecause(before: Measured, after: Measured): string {
  const cpu =
    before.cpuPerCall === null || after.cpuPerCall === null
      ? 'the processor time is not known'
      : `each uses ${durationText(after.cpuPerCall)} of processor time after ${durationText(before.cpuPerCall)}`
  const isClear = isLonger(before, after) || cpuRatio(before, after) < 1 - chanceOf(before, after)
  const means = `calls take ${durationText(after.mean!)} on average after ${durationText(before.mean!)}; ${cpu}`
  if (isClear) return means
  const ranges = `parts of the time had means of ${rangeText(after)} after ${rangeText(before)}`
  return `no clear difference: ${means}; ${ranges}`
}

/**
 * Whether calls take clearly longer in `one`: no part of it is as short as a part of the other. A
 * part of a busy machine can be many times the others, so the ratio of two means says little.
 */
function isLonger(one: Measured, other: Measured): boolean {
  return one.mean! > other.mean! * (1 + margin) && (one.low ?? one.mean!) > (other.high ?? other.mean!)
}

function chanceOf(before: Measured, after: Measured): number {
  return Math.max(margin, before.spread, after.spread)
}

function cpuRatio(before: Measured, after: Measured): number {
  return before.cpuPerCall === null || after.cpuPerCall === null ? 1 : after.cpuPerCall / before.cpuPerCall
}

function rangeText({ low, high, mean }: Measured): string {
  return `${durationText(low ?? mean!)} to ${durationText(high ?? mean!)}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
