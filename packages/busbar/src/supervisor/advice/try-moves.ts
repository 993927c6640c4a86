/** Applies advice by `move`, measures what it has changed, and takes it back if it is worse. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { type AppWindow, isFromOutside, type Latency, latencyOf } from '../../observe/advice/app-window.ts'
import type { RunningApp } from '../running-app.ts'
import { type Watched, watchRounds } from './watch-app.ts'

export interface TryMoves {
  readonly moves: readonly { readonly service: string; readonly run: Service['run'] }[]
  /** Of each measurement. */
  readonly seconds: number
  /** After the moves, until new workers have optimised their code. */
  readonly settle: number
}

/** Of all calls from outside. Times are milliseconds. */
export interface Measured extends Latency {
  readonly callsPerSecond: number
  /** Processors. Null: not known. */
  readonly cpu: number | null
  /** Milliseconds of processor time of each call. */
  readonly cpuPerCall: number | null
  /** How far apart the mean durations of parts of the time are, relative to the median. */
  readonly spread: number
}

export interface Trial {
  readonly before: Measured
  readonly after: Measured
  readonly kept: boolean
  /** One sentence. */
  readonly why: string
}

/** A difference below this share may be chance. */
const margin = 0.05
/** Each measurement has so many parts. Their differences show what is chance. */
const parts = 5

/** One at a time in each app. */
const trying = new WeakSet<RunningApp>()

/** If `signal` aborts, or a move fails, everything is where it was before. */
export async function tryMoves(
  watched: Watched,
  { moves, seconds, settle }: TryMoves,
  signal: AbortSignal,
): Promise<Trial> {
  const { running } = watched
  if (trying.has(running))
    throw new BusbarError('OPERATION_UNSUPPORTED', {
      message: 'another trial of advice is running in this app',
      hint: 'Wait until it has ended.',
    })
  trying.add(running)
  const places = new Map(running.app.services.map(({ name, run, instances }) => [name, { run, instances }]))
  const moved: string[] = []
  const moveBack = async (): Promise<void> => {
    for (const service of moved.splice(0).toReversed()) {
      const { run, instances } = places.get(service)!
      await running.move(service, run === 'shared' ? { run } : { run, instances })
    }
  }
  try {
    const before = measuredOf(await watchRounds(watched, seconds, parts, signal))
    if (before.mean === null) throw noCalls(seconds)
    for (const { service, run } of moves) {
      signal.throwIfAborted()
      await running.move(service, { run })
      moved.push(service)
    }
    await sleep(settle * 1000, undefined, { signal })
    const after = measuredOf(await watchRounds(watched, seconds, parts, signal))
    const why = worseBecause(before, after)
    if (why !== undefined) await moveBack()
    return { before, after, kept: why === undefined, why: why ?? betterBecause(before, after) }
  } catch (error) {
    await moveBack()
    throw error
  } finally {
    trying.delete(running)
  }
}

/** The whole, and its parts. */
function measuredOf([window, ...rounds]: readonly AppWindow[]): Measured {
  const latency = outsideLatency(window!)
  const means = rounds.flatMap((round) => outsideLatency(round).mean ?? []).toSorted((one, other) => one - other)
  // The best and the worst part do not count.
  const [low = 0, high = 0, middle = 1] = [means.at(1), means.at(-2), means.at(means.length >> 1)]
  const callsPerSecond = latency.calls / window!.seconds
  const cpuPerCall = window!.cpu === null || latency.calls === 0 ? null : (window!.cpu / callsPerSecond) * 1000
  return { ...latency, callsPerSecond, cpu: window!.cpu, cpuPerCall, spread: Math.max(0, high - low) / middle }
}

function outsideLatency({ edges }: AppWindow): Latency {
  return latencyOf(edges.filter(isFromOutside))
}

/** Undefined: it is not worse. */
function worseBecause(before: Measured, after: Measured): string | undefined {
  if (after.mean === null) return 'no call has ended after the moves'
  const [failed, failedBefore] = [after.failures / after.calls, before.failures / before.calls]
  if (failed > failedBefore + 0.001) return `more calls fail: ${percent(failed)} after ${percent(failedBefore)}`
  const slower = after.mean / before.mean!
  const fewer = after.callsPerSecond / before.callsPerSecond
  const dearer = cpuRatio(before, after)
  const chance = chanceOf(before, after)
  // Callers that wait for answers make more calls when these are faster.
  const isFaster = slower < 1 - chance || fewer > 1 + chance
  if (slower > 1 + chance && fewer < 1 + chance)
    return `calls take ${milliseconds(after.mean)} on average after ${milliseconds(before.mean!)}`
  if (fewer < 1 - chance && slower > 1 - chance)
    return `${after.callsPerSecond.toFixed(0)} calls a second end after ${before.callsPerSecond.toFixed(0)}`
  if (dearer > 1 + chance && !isFaster) return 'each call uses more processor time, and is no faster'
  return undefined
}

function betterBecause(before: Measured, after: Measured): string {
  const cpu =
    before.cpuPerCall === null || after.cpuPerCall === null
      ? 'the processor time is not known'
      : `each uses ${milliseconds(after.cpuPerCall)} of processor time after ${milliseconds(before.cpuPerCall)}`
  const chance = chanceOf(before, after)
  const isClear = after.mean! < before.mean! * (1 - chance) || cpuRatio(before, after) < 1 - chance
  const doubt = isClear ? '' : 'no clear difference: '
  return `${doubt}calls take ${milliseconds(after.mean!)} on average after ${milliseconds(before.mean!)}; ${cpu}`
}

function chanceOf(before: Measured, after: Measured): number {
  return Math.max(margin, before.spread, after.spread)
}

function cpuRatio(before: Measured, after: Measured): number {
  return before.cpuPerCall === null || after.cpuPerCall === null ? 1 : after.cpuPerCall / before.cpuPerCall
}

function noCalls(seconds: number): BusbarError {
  return new BusbarError('OPERATION_UNSUPPORTED', {
    message: `no call from outside has ended in ${seconds} s, so there is nothing to compare`,
    hint: 'Try it while the app has calls, for longer if they are few.',
  })
}

function milliseconds(value: number): string {
  return `${Number(value.toPrecision(3))} ms`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
