import { setTimeout as sleep } from 'node:timers/promises'
import type { Arm } from '../arm.ts'
import { findEngine, load } from '../engine/load.ts'
import { RunningArm } from '../protocol/running-arm.ts'
import type { Workspace } from '../protocol/workspace.ts'
import { reasonText } from '../report/reason.ts'
import { compareAnswers } from './compare-answers.ts'
import { PortWatch } from './port-watch.ts'
import { askAll, type Samples, toLoad } from './replay.ts'
import type { TriedRequest } from './tried-app.ts'

export interface Rehearsal {
  /** An arm may be there twice. */
  readonly arms: readonly Arm[]
  /** Held by the baseline while these run. */
  readonly ports: readonly number[]
  readonly requests: readonly TriedRequest[]
  /** By request: the answers of each start of the baseline. */
  readonly expected: readonly (readonly Samples[])[]
  /** Under load, to each arm. */
  readonly connections: number
  readonly workspace: Workspace
  readonly signal: AbortSignal
}

/** Milliseconds of load to each, since some programs call others once in many requests only. */
const loadTime = 1000
/** Milliseconds after it, for calls that a program makes when it has answered. */
const afterTime = 500

/**
 * Runs arms at once, as they will be measured. Why they cannot be: one does not start beside the
 * others, answers differ, or one calls the ports that the baseline will hold, so that it would
 * measure the baseline's services. Undefined: they can.
 */
export async function rehearse({ ports, signal, ...rest }: Rehearsal): Promise<string | undefined> {
  try {
    await using watch = await PortWatch.begin(ports, signal)
    const why = await runTogether(watch, { ports, signal, ...rest })
    signal.throwIfAborted()
    return watch.touched === undefined ? why : `something connects to port ${watch.touched}, not through the mesh`
  } catch (error) {
    signal.throwIfAborted()
    return (error as Error).message
  }
}

async function runTogether(
  { signal }: PortWatch,
  { arms, ports, requests, expected, connections, workspace }: Rehearsal,
): Promise<string | undefined> {
  await using running = new AsyncDisposableStack()
  const reserved = new Set(ports)
  try {
    const all: RunningArm[] = []
    for (const arm of arms) {
      const started = await RunningArm.start(arm, { ...workspace, workers: 1, reserved, signal })
      running.defer(() => started.end())
      all.push(started)
    }
    const under = {
      requests: requests.map(toLoad),
      load: { loop: 'closed' as const, durationMs: loadTime },
      connections,
    }
    for (const each of all) {
      const found = await askAll(each, { requests, signal, portOf: () => undefined })
      const differs = found.findIndex((one, index) => compareAnswers(expected[index]!, one).differences.length > 0)
      const { method, path } = requests[differs] ?? {}
      if (differs >= 0) return `${each.arm.title} answers ${method} ${path} otherwise if it runs beside others`
      await load(findEngine(), { ...under, target: await each.loadTarget() }, signal)
    }
    await sleep(afterTime, undefined, { signal })
    return undefined
  } catch (error) {
    // The caller knows why.
    if (signal.aborted) return undefined
    return `they do not start beside each other: ${reasonText((error as Error).message)}`
  }
}
