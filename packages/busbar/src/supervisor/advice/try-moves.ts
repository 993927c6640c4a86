/** Applies advice, measures what it has changed, and takes it back if it is worse. */
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import {
  betterBecause,
  failingBecause,
  type Measured,
  measuredOf,
  worseBecause,
} from '../../observe/advice/judgement.ts'
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

export interface Trial {
  readonly before: Measured
  readonly after: Measured
  readonly kept: boolean
  /** One sentence. */
  readonly why: string
}

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

function noCalls(seconds: number): BusbarError {
  return new BusbarError('OPERATION_UNSUPPORTED', {
    message: `no call from outside has ended in ${seconds} s, so there is nothing to compare`,
    hint: 'Try it while the app has calls, for longer if they are few.',
  })
}
