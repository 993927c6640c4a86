/** Applies advice, measures what it has changed, and takes it back if it is worse. */
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { type AppWindow, isFromOutside, type Latency, latencyOf } from '../../observe/advice/app-window.ts'
import { durationText } from '../../observe/advice/figures.ts'
import { moreFailures } from '../../observe/advice/more-failures.ts'
import type { Relocation } from '../generations/changes.ts'
import type { RunningApp } from '../running-app.ts'
import { type Watched, watchRounds } from './watch-app.ts'

export interface TryMoves {
  readonly moves: readonly Relocation[]
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

/**
 * If `signal` aborts, a move fails, or a service does not run where it was to run, everything is
 * where it was before.
 */
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
  let takeBack: (() => Promise<unknown>) | undefined
  const moveBack = async (): Promise<void> => {
    const begin = takeBack
    takeBack = undefined
    await begin?.()
  }
  try {
    const windows = await watchRounds(watched, seconds, parts, signal)
    const before = measuredOf(windows)
    if (before.mean === null) throw noCalls(seconds)
    const wanted = new Map([...kindsOf(running.status()), ...moves.map(({ service, run }) => [service, run] as const)])
    signal.throwIfAborted()
    takeBack = await running.moveTogether(moves)
    refuseOtherPlaces(running, wanted)
    await sleep(settle * 1000, undefined, { signal })
    const windowsAfter = await watchRounds(watched, seconds, parts, signal)
    refuseOtherPlaces(running, wanted)
    const after = measuredOf(windowsAfter)
    const why = failingBecause(windows[0]!, windowsAfter[0]!) ?? worseBecause(before, after)
    if (why !== undefined) await moveBack()
    return { before, after, kept: why === undefined, why: why ?? betterBecause(before, after) }
  } catch (error) {
    await moveBack()
    throw error
  } finally {
    trying.delete(running)
  }
}

type Kind = AppStatus['workers'][number]['kind']

/** By service: in which workers its instances are. */
function kindsOf({ instances, workers }: AppStatus): Map<string, Kind | 'several kinds'> {
  const kinds = new Map(workers.map(({ worker, kind }) => [worker, kind]))
  const found = new Map<string, Kind | 'several kinds'>()
  for (const { service, worker } of instances) {
    const kind = kinds.get(worker)
    if (kind === undefined) continue
    found.set(service, (found.get(service) ?? kind) === kind ? kind : 'several kinds')
  }
  return found
}

/** A move may succeed and have another effect: the config decides where services can run. */
function refuseOtherPlaces(running: RunningApp, wanted: ReadonlyMap<string, string>): void {
  const kinds = kindsOf(running.status())
  for (const [service, kind] of wanted) {
    const now = kinds.get(service) ?? 'no worker'
    if (now === kind) continue
    const copyOf = running.app.services.find(({ name }) => name === service)?.copyOf
    const why = copyOf === undefined ? '' : `: it cannot be in a thread with ${copyOf}, which has the same folder`
    throw new BusbarError('OPERATION_UNSUPPORTED', {
      message: `after the moves, ${service} runs as ${now} and not as ${kind}${why}`,
      hint: 'Everything is where it was before.',
    })
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

/** Undefined: no more calls fail. */
function failingBecause(before: AppWindow, after: AppWindow): string | undefined {
  const more = moreFailures(before, after)
  return more && `more calls fail: ${percent(more.share)} after ${percent(more.expected)}`
}

/** Undefined: it is not worse. */
function worseBecause(before: Measured, after: Measured): string | undefined {
  if (after.mean === null) return 'no call has ended after the moves'
  const slower = after.mean / before.mean!
  const fewer = after.callsPerSecond / before.callsPerSecond
  const dearer = cpuRatio(before, after)
  const chance = chanceOf(before, after)
  // Callers that wait for answers make more calls when these are faster.
  const isFaster = slower < 1 - chance || fewer > 1 + chance
  if (slower > 1 + chance && fewer < 1 + chance)
    return `calls take ${durationText(after.mean)} on average after ${durationText(before.mean!)}`
  if (fewer < 1 - chance && slower > 1 - chance)
    return `${after.callsPerSecond.toFixed(0)} calls a second end after ${before.callsPerSecond.toFixed(0)}`
  if (dearer > 1 + chance && !isFaster) return 'each call uses more processor time, and is no faster'
  return undefined
}

function betterBecause(before: Measured, after: Measured): string {
  const cpu =
    before.cpuPerCall === null || after.cpuPerCall === null
      ? 'the processor time is not known'
      : `each uses ${durationText(after.cpuPerCall)} of processor time after ${durationText(before.cpuPerCall)}`
  const chance = chanceOf(before, after)
  const isClear = after.mean! < before.mean! * (1 - chance) || cpuRatio(before, after) < 1 - chance
  const doubt = isClear ? '' : 'no clear difference: '
  return `${doubt}calls take ${durationText(after.mean!)} on average after ${durationText(before.mean!)}; ${cpu}`
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

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
