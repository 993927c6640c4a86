import type { ArmResult, ComparisonResult, Latency, Result, SliceResult } from '../../src/result.ts'

const latency: Latency = {
  mean: 2,
  stdev: 1,
  p50: 2,
  p75: 2,
  p90: 3,
  p99: 8,
  p999: 9,
  max: 10,
  buckets: [
    [1, 500],
    [2, 300],
    [3, 150],
    [8, 48],
    [10, 2],
  ],
}

/** Values per round. */
export interface Recorded {
  readonly perSecond: readonly number[]
  readonly p99?: readonly number[]
  readonly invalid?: string
}

/** A result from figures for each arm. The first is the baseline. */
export function resultOf(arms: Readonly<Record<string, Recorded>>, more: Partial<Result> = {}): Result {
  const [baseline, ...others] = Object.keys(arms)
  return {
    version: 1,
    scenario: 'fixture',
    question: 'Which is it?',
    unit: 'request',
    versions: {},
    generator: 'busbar-load',
    seed: 1,
    command: 'busbar bench fixture --seed 1',
    startedAt: '2026-01-02T03:04:05.000Z',
    seconds: 60,
    rounds: arms[baseline!]!.perSecond.length,
    stopped: null,
    machine: {
      platform: 'linux x64',
      kernel: '6',
      cpu: 'a processor',
      cores: 2,
      memory: 8e9,
      node: 'v24.21.0',
      governor: null,
      virtualised: true,
    },
    floor: { perSecond: 1.01, perCpuSecond: 1.01 },
    smallestDifference: 0.03,
    notes: [],
    arms: Object.entries(arms).map(([name, recorded]) => armOf(name, recorded)),
    comparisons: others.flatMap((arm) => (arms[arm]!.invalid ? [] : comparisonsOf(arm, baseline!, arms[arm]!))),
    ...more,
  }
}

function armOf(name: string, { perSecond, p99 = [], invalid }: Recorded): ArmResult {
  const closed = perSecond.map((value, at) => sliceOf(at + 1, value, null, 5))
  const open = p99.map((value, at) => sliceOf(at + 1, 700, 0.7, value))
  return {
    name,
    title: `${name}, in words`,
    control: false,
    valid: invalid === undefined,
    invalidBecause: invalid === undefined ? [] : [invalid],
    coldRounds: 0,
    parameters: { workers: 1, connections: 10, pipelining: 1, rate: null },
    throughput: { perSecond: perSecond[0]!, perCpuSecond: perSecond[0]!, bytesPerSecond: 1000, saturated: false },
    latency,
    open:
      open.length === 0
        ? []
        : [{ share: 0.7, rate: 700, perSecond: 700, latency, overloaded: false, generatorLate: false }],
    probe: null,
    status: { 200: 1000 },
    failures: {},
    unanswered: 0,
    server: {
      cores: 1,
      pss: 1e8,
      rss: 2e8,
      processes: 1,
      threads: 1,
      heapTotal: 3e7,
      heapUsed: 2e7,
      newSpace: 1e6,
      oldSpace: 1e7,
      utilisation: 0.9,
      loopDelay: 1,
      gc: 0.01,
    },
    slices: [...closed, ...open],
  }
}

function sliceOf(round: number, perSecond: number, share: number | null, p99: number): SliceResult {
  return {
    round,
    share,
    perSecond,
    perCpuSecond: perSecond,
    p50: 2,
    p99,
    steal: 0,
    otherCores: 0,
    series: Array.from({ length: 10 }, () => [perSecond / 10, p99] as const),
    runtime: [{ at: 0.25, utilisation: 0.9, delayMax: 1, gc: 2, heapUsed: 2e7, cpu: 0.9 }],
  }
}

function comparisonsOf(arm: string, baseline: string, { p99 }: Recorded): ComparisonResult[] {
  const range = { ratio: 1, low: 0.9, high: 1.1, confidence: 0.99, rounds: 6 }
  const found = { baseline, arm, ...range, verdict: 'unclear' as const, decides: true }
  return [
    { ...found, metric: 'perCpuSecond', share: null },
    ...(p99 === undefined ? [] : [{ ...found, metric: 'p99' as const, share: 0.7 }]),
  ]
}
