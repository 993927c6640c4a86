import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRawEntry } from '../../config/app.ts'
import { foldersInUse } from '../../config/services/shared-folders.ts'
import { type AppWindow, type Reading, windowOf } from '../../observe/advice/app-window.ts'
import type { ModelParts } from '../../observe/advice/app-model.ts'
import { placementOf } from '../../observe/advice/placement.ts'
import type { PlacementCosts } from '../../observe/advice/placement-costs.ts'
import type { OperationContext } from '../admin/operations/operation.ts'
import { machineTime } from './machine-time.ts'

export type Watched = Pick<OperationContext, 'running' | 'edges' | 'observations'>

/** Watches the app for some time. Rejects if `signal` aborts. */
export async function watchApp(watched: Watched, seconds: number, signal: AbortSignal): Promise<AppWindow> {
  const before = readingOf(watched)
  await sleep(seconds * 1000, undefined, { signal })
  return windowOf(before, readingOf(watched))
}

/** Watches it so many times, one after the other. */
export async function watchRounds(
  watched: Watched,
  seconds: number,
  rounds: number,
  signal: AbortSignal,
): Promise<AppWindow[]> {
  const readings = [readingOf(watched)]
  for (let round = 0; round < rounds; round++) {
    await sleep((seconds * 1000) / rounds, undefined, { signal })
    readings.push(readingOf(watched))
  }
  const windows = readings.slice(1).map((reading, at) => windowOf(readings[at]!, reading))
  return [windowOf(readings[0]!, readings.at(-1)!), ...windows]
}

function readingOf({ running, edges }: Pick<Watched, 'running' | 'edges'>): Reading {
  // It also collects the counts of the edges.
  const status = running.status()
  return { at: performance.now(), status, edges: structuredClone(edges()), machine: machineTime() }
}

export async function modelParts(
  { running, observations }: Watched,
  window: AppWindow,
  costs: PlacementCosts,
): Promise<ModelParts> {
  const { app } = running
  const bytes = observations.traces.bytesByPair()
  return {
    window,
    placement: placementOf(app, isRawEntry(app), await foldersInUse(app.services)),
    costs,
    cores: availableParallelism(),
    bytesOf: (caller, callee) => bytes.get(`${caller} ${callee}`),
    recordsTraces: app.traces !== undefined,
    isExported: app.export !== undefined || app.cluster !== undefined,
  }
}
