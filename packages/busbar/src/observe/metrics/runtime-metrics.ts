/**
 * The metrics of processes and of Node, by OpenTelemetry's semantic conventions, and under the
 * names of `prom-client`, for which most boards are made.
 */
import type { AppStatus, WorkerStats } from '../app-status.ts'
import type { Labels, Metric, Sample } from './prometheus.ts'

type Entry = readonly [Metric, (status: AppStatus) => readonly Sample[]]

/** The same labels for the process of the supervisor and its threads, and for the other ones. */
const labels = ['worker', 'name', 'kind']

/** In the order of the text. */
export const runtimeMetrics: readonly Entry[] = [
  ...both(
    'counter',
    ['process_cpu_time_seconds_total', 'process_cpu_seconds_total'],
    'Processor time of the process, user and system.',
    processes((one) => seconds(one.cpuTime)),
  ),
  ...both(
    'gauge',
    ['process_memory_usage_bytes', 'process_resident_memory_bytes'],
    'Resident memory of the process.',
    processes((one) => one.memory),
  ),
  entry('process_start_time_seconds', 'gauge', 'When the app was started, in seconds since 1970.', ({ app }) => [
    { labels: supervisor, value: app.startedAt / 1000 },
  ]),
  ...both(
    'gauge',
    ['v8js_memory_heap_used_bytes', 'nodejs_heap_size_used_bytes'],
    'JavaScript heap in use.',
    workers((one) => one.heapUsed),
  ),
  ...both(
    'gauge',
    ['nodejs_eventloop_utilization_ratio', 'nodejs_eventloop_utilization'],
    'The share of the last second in which the event loop was busy, 0 to 1.',
    workers((one) => one.eventLoopUtilization),
  ),
  ...both(
    'gauge',
    ['nodejs_eventloop_delay_max_seconds', 'nodejs_eventloop_lag_max_seconds'],
    'The longest delay of the event loop in the last second, or since it blocks.',
    workers((one) => seconds(one.eventLoopDelay)),
  ),
  [
    {
      name: 'nodejs_version_info',
      type: 'gauge',
      help: 'The version of Node; always 1.',
      labels: ['version', 'major', 'minor', 'patch'],
    },
    () => [{ labels: versionLabels(process.version), value: 1 }],
  ],
]

/** The process of the supervisor, which has the threads of the app. */
const supervisor = { worker: '', name: 'supervisor', kind: 'supervisor' }

interface Usage {
  /** Milliseconds. */
  readonly cpuTime: number | null
  /** Bytes. */
  readonly memory: number | null
}

function entry(
  name: string,
  type: Metric['type'],
  help: string,
  samplesOf: (status: AppStatus) => readonly Sample[],
): Entry {
  return [{ name, type, help, labels }, samplesOf]
}

function both(
  type: Metric['type'],
  names: readonly [string, string],
  help: string,
  samplesOf: (status: AppStatus) => readonly Sample[],
): readonly Entry[] {
  return names.map((name) => entry(name, type, help, samplesOf))
}

function processes(value: (process: Usage) => number | null): (status: AppStatus) => readonly Sample[] {
  return (status) => [
    ...known(supervisor, value(status.app)),
    ...status.workers
      .filter(({ kind }) => kind === 'process' || kind === 'command')
      .flatMap((one) => known(labelsOf(one), value(one))),
  ]
}

function workers(value: (worker: WorkerStats) => number | null): (status: AppStatus) => readonly Sample[] {
  return (status) => status.workers.flatMap((one) => known(labelsOf(one), value(one)))
}

function known(of: Labels, value: number | null): Sample[] {
  return value === null ? [] : [{ labels: of, value }]
}

function labelsOf({ worker, name, kind }: WorkerStats): Labels {
  return { worker: `${worker}`, name, kind }
}

function versionLabels(version: string): Labels {
  const [major = '', minor = '', patch = ''] = version.slice(1).split('.')
  return { version, major, minor, patch }
}

function seconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000
}
