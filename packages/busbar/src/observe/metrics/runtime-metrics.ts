/**
 * The metrics of Node and of V8 in each worker, by OpenTelemetry's semantic conventions, and under
 * the names of `prom-client`, for which most boards are made.
 */
import { gcBounds, type LoopDelays, type RuntimeStats } from '../../shared/metrics/runtime-cells.ts'
import type { AppStatus, WorkerStats } from '../app-status.ts'
import {
  type Convention,
  type HistogramSample,
  type Labels,
  type Metric,
  type Sample,
  toHistogram,
} from './prometheus.ts'

type Entry = readonly [Metric, (status: AppStatus) => readonly Sample[]]

const labels = ['worker', 'name', 'kind']
const spaceLabel = 'v8js_heap_space_name'

const delayTexts = {
  min: 'the shortest',
  mean: 'the mean',
  stddev: 'the standard deviation',
  p50: 'the median',
  p90: 'the 90th percentile',
  p99: 'the 99th percentile',
}

/** In the order of the text. */
export const runtimeMetrics: readonly Entry[] = [
  ...spaces('v8js.memory.heap.used', 'used', 'used', 'JavaScript heap in use, by heap space.'),
  ...spaces('v8js.memory.heap.limit', 'size', 'total', 'Memory of the heap space.'),
  ...spaces('v8js.memory.heap.space.available_size', 'available', 'available', 'Free memory of the heap space.'),
  ...spaces('v8js.memory.heap.space.physical_size', 'physical', undefined, 'Physical memory of the heap space.'),
  alias(
    'nodejs_heap_size_used_bytes',
    'JavaScript heap in use.',
    workers((one) => one.heapUsed),
  ),
  alias(
    'nodejs_heap_size_total_bytes',
    'JavaScript heap.',
    workers(({ runtime }) => runtime?.heap.total),
  ),
  alias(
    'nodejs_heap_size_limit_bytes',
    'The size up to which the JavaScript heap may grow.',
    workers(({ runtime }) => runtime?.heap.limit),
  ),
  alias(
    'nodejs_external_memory_bytes',
    'Memory outside the heap that the heap refers to.',
    workers(({ runtime }) => runtime?.heap.external),
  ),
  ...both(
    ['nodejs_eventloop_utilization_ratio', 'nodejs_eventloop_utilization'],
    { name: 'nodejs.eventloop.utilization', unit: '1' },
    'The share of the last second in which the event loop was busy, 0 to 1.',
    workers((one) => one.eventLoopUtilization),
  ),
  [
    {
      name: 'nodejs_eventloop_time_seconds_total',
      type: 'counter',
      help: 'Time of the event loop, by state; starts from zero with each replacement.',
      labels: [...labels, 'nodejs_eventloop_state'],
      convention: { name: 'nodejs.eventloop.time', unit: 's' },
      startsWithWorker: true,
    },
    byRuntime(({ loopTime }) =>
      (['active', 'idle'] as const).map((state) => [{ nodejs_eventloop_state: state }, loopTime[state] / 1000]),
    ),
  ],
  alias(
    'nodejs_eventloop_lag_seconds',
    'How late the last heartbeat of the event loop was.',
    delays(({ last }) => last),
  ),
  ...both(
    ['nodejs_eventloop_delay_max_seconds', 'nodejs_eventloop_lag_max_seconds'],
    { name: 'nodejs.eventloop.delay.max', unit: 's' },
    'The longest delay of the event loop in the last ten seconds, or since it blocks.',
    // While it blocks, the first is what it reported last, and the second the time since then.
    workers(({ runtime, eventLoopDelay }) =>
      eventLoopDelay === null ? null : Math.max(runtime?.delays.max ?? 0, eventLoopDelay) / 1000,
    ),
  ),
  ...(['min', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const).flatMap((kind) =>
    both(
      [`nodejs_eventloop_delay_${kind}_seconds`, `nodejs_eventloop_lag_${kind}_seconds`],
      { name: `nodejs.eventloop.delay.${kind}`, unit: 's' },
      `Delay of the event loop in the last ten seconds: ${delayTexts[kind]}.`,
      delays((all) => all[kind]),
    ),
  ),
  [
    {
      name: 'nodejs_version_info',
      type: 'gauge',
      help: 'The version of Node; always 1.',
      labels: ['version', 'major', 'minor', 'patch'],
      convention: null,
    },
    () => [{ labels: versionLabels(process.version), value: 1 }],
  ],
]

/** `kind` is the type of a collection, as in `prom-client`, so the worker's own is left out. */
export const gcHistograms: readonly (readonly [Metric, (status: AppStatus) => readonly HistogramSample[]])[] = [
  gcHistogram('v8js_gc_duration_seconds', ['worker', 'name', 'kind', 'v8js_gc_type'], {
    name: 'v8js.gc.duration',
    unit: 's',
  }),
  gcHistogram('nodejs_gc_duration_seconds', ['worker', 'name', 'kind'], null),
]

function gcHistogram(
  name: string,
  labelNames: readonly string[],
  convention: Convention | null,
): (typeof gcHistograms)[number] {
  const help = 'Duration of garbage collections, by type; starts from zero with each replacement.'
  return [
    { name, type: 'histogram', help, labels: labelNames, convention, startsWithWorker: true },
    ({ workers: all }) =>
      all.flatMap((one) =>
        (one.runtime?.gc ?? []).map(({ kind, sum, counts }) => {
          const own = labelsOf(one)
          const type = convention === null ? { ...own, kind } : { ...own, v8js_gc_type: kind }
          let below = 0
          const buckets = counts.map((count, at) => ({ le: gcBounds[at] ?? null, count: (below += count) }))
          return toHistogram({ sum, buckets }, type)
        }),
      ),
  ]
}

function alias(name: string, help: string, samplesOf: Entry[1]): Entry {
  return [{ name, type: 'gauge', help, labels, convention: null }, samplesOf]
}

/** Under the name of the conventions, and under an alias. */
function both(
  [name, other]: readonly [string, string],
  convention: Convention,
  help: string,
  samplesOf: Entry[1],
): readonly Entry[] {
  return [[{ name, type: 'gauge', help, labels, convention }, samplesOf], alias(other, help, samplesOf)]
}

/** `other`: in the alias of `prom-client`. */
function spaces(
  name: string,
  what: 'used' | 'size' | 'available' | 'physical',
  other: string | undefined,
  help: string,
): readonly Entry[] {
  const by = (label: string): Entry[1] =>
    byRuntime((runtime) => runtime.spaces.map((space) => [{ [label]: space.name }, space[what]]))
  const metric = { type: 'gauge', help } as const
  const convention: Convention = { name, unit: 'By', isSum: true }
  const own = { ...metric, name: `${name.replaceAll('.', '_')}_bytes`, labels: [...labels, spaceLabel], convention }
  if (other === undefined) return [[own, by(spaceLabel)]]
  const alias = { ...metric, name: `nodejs_heap_space_size_${other}_bytes`, labels: [...labels, 'space'] }
  return [
    [own, by(spaceLabel)],
    [{ ...alias, convention: null }, by('space')],
  ]
}

function workers(value: (worker: WorkerStats) => number | null | undefined): Entry[1] {
  return (status) =>
    status.workers.flatMap((one) => {
      const found = value(one)
      return found === null || found === undefined ? [] : [{ labels: labelsOf(one), value: found }]
    })
}

function delays(value: (delays: LoopDelays) => number): Entry[1] {
  return workers(({ runtime }) => runtime && value(runtime.delays) / 1000)
}

function byRuntime(values: (runtime: RuntimeStats) => readonly (readonly [Labels, number])[]): Entry[1] {
  return (status) =>
    status.workers.flatMap((one) =>
      (one.runtime === null ? [] : values(one.runtime)).map(([more, value]) => ({
        labels: { ...labelsOf(one), ...more },
        value,
      })),
    )
}

function labelsOf({ worker, name, kind }: WorkerStats): Labels {
  return { worker: `${worker}`, name, kind }
}

function versionLabels(version: string): Labels {
  const [major = '', minor = '', patch = ''] = version.slice(1).split('.')
  return { version, major, minor, patch }
}
