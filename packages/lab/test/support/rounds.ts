/** Rounds as recorded by a session. */
import type { Distribution, LoadResult } from '../../src/engine/job.ts'
import type { Cell } from '../../src/protocol/plan.ts'
import type { CellRound, OpenSlice, Round } from '../../src/protocol/round.ts'
import type { Slice } from '../../src/protocol/slice.ts'
import { serverArm } from './fixture.ts'

export function cellOf(name: string, baseline: string | undefined, control = false): Cell {
  return {
    name,
    arm: serverArm(name),
    workers: 1,
    work: { connections: 10, requests: [{ path: '/' }] },
    baseline,
    ratedBy: baseline ?? name,
    translated: false,
    control,
  }
}

export function roundOf(cells: Readonly<Record<string, Partial<CellRound>>>): Round {
  const filled = Object.entries(cells).map(([name, cell]) => [name, { ...empty, ...cell }] as const)
  return { seconds: 10, waited: 0, cells: new Map(filled) }
}

const empty: CellRound = {
  slices: [],
  open: [],
  lost: 0,
  faults: [],
  failure: undefined,
  cold: undefined,
  answers: [],
  runtimes: [],
}

/** A slice of one second and one CPU second, with a number of answers. */
export function sliceOf(perSecond: number, more: Partial<LoadResult> = {}): Slice {
  const result: LoadResult = {
    type: 'result',
    seconds: 1,
    done: perSecond,
    perSecond,
    bytes: perSecond,
    statuses: { 200: perSecond },
    failures: {},
    failed: 0,
    queued: 0,
    unsent: 0,
    unfinished: 0,
    late: 0,
    connects: 10,
    connectFailures: 0,
    firstProblem: null,
    latency: latencyOf(2),
    pacing: null,
    generator: { userSeconds: 0.5, systemSeconds: 0, busy: 0.5 },
    ...more,
  }
  return {
    result,
    ticks: [{ type: 'tick', at: 1, done: perSecond, failed: 0, bytes: 0, p50: 1, p99: 2, max: 3 }],
    disturbance: { steal: 0, throttled: 0, busySeconds: 1.5, seconds: 1 },
    otherCores: 0,
    serverCpuSeconds: 1,
    answered: perSecond,
    memory: undefined,
    runtime: undefined,
    probe: undefined,
  }
}

/** A slice at 70 % of 1,000 per second with a given p99. */
export function openOf(p99: number, more: Partial<LoadResult> = {}): OpenSlice {
  return { share: 0.7, rate: 700, slice: sliceOf(700, { latency: latencyOf(p99), pacing: latencyOf(0.1), ...more }) }
}

/** 98 % take a millisecond, the others as long as given. */
function latencyOf(p99: number): Distribution {
  const buckets: [number, number][] = [
    [Math.min(1, p99), 980],
    [p99, 20],
  ]
  return { count: 1000, mean: 1, stdev: 1, min: 1, p50: 1, p75: 1, p90: 1, p99, p999: p99, max: p99, buckets }
}
