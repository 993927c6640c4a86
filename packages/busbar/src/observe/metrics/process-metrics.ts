/**
 * The metrics of processes, by OpenTelemetry's semantic conventions, and under the names of
 * `prom-client`, for which most boards are made.
 */
import type { AppStatus, WorkerStats } from '../app-status.ts'
import type { Convention, Labels, Metric, Sample } from './prometheus.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

/** By process ID. */
type Usages = ReadonlyMap<number, ProcessUsage>
type SamplesOf = (status: AppStatus, usages: Usages) => readonly Sample[]
type Entry = readonly [Metric, SamplesOf]

/** The same labels for the process of the supervisor and its threads, and for the other ones. */
const labels = ['worker', 'name', 'kind']

const cpuHelp = 'Processor time of the process; starts from zero with each replacement.'
const memoryHelp = 'Resident memory of the process.'
const virtualHelp = 'Virtual memory of the process.'
const descriptorsHelp = 'Open file descriptors of the process. Linux only.'
const startedAt: SamplesOf = ({ app }) => [{ labels: supervisor, value: app.startedAt / 1000 }]
const memory = processes((one) => one.memory)
const virtual = processes((_, { virtual }) => virtual)
const descriptors = processes((_, one) => one.descriptors)

/** In the order of the text. */
export const processMetrics: readonly Entry[] = [
  [
    {
      name: 'process_cpu_time_seconds_total',
      type: 'counter',
      help: cpuHelp,
      labels: [...labels, 'cpu_mode'],
      convention: { name: 'process.cpu.time', unit: 's' },
      startsWithWorker: true,
    },
    (status, usages) =>
      (['user', 'system'] as const).flatMap((mode) =>
        processes((_, usage) => usage[mode])(status, usages).map((one) => ({
          ...one,
          labels: { ...one.labels, cpu_mode: mode },
        })),
      ),
  ],
  entry('process_cpu_seconds_total', 'counter', cpuHelp, null, processes(cpuSeconds)),
  entry(
    'process_cpu_user_seconds_total',
    'counter',
    cpuHelp,
    null,
    processes((_, { user }) => user),
  ),
  entry(
    'process_cpu_system_seconds_total',
    'counter',
    cpuHelp,
    null,
    processes((_, { system }) => system),
  ),
  entry('process_memory_usage_bytes', 'gauge', memoryHelp, bytes('process.memory.usage'), memory),
  entry('process_resident_memory_bytes', 'gauge', memoryHelp, null, memory),
  entry('process_memory_virtual_bytes', 'gauge', virtualHelp, bytes('process.memory.virtual'), virtual),
  entry('process_virtual_memory_bytes', 'gauge', virtualHelp, null, virtual),
  entry(
    'process_heap_bytes',
    'gauge',
    'Data segment of the process. Linux only.',
    null,
    processes((_, one) => one.heap),
  ),
  entry(
    'process_unix_file_descriptors',
    'gauge',
    descriptorsHelp,
    { name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}', isSum: true },
    descriptors,
  ),
  entry('process_open_fds', 'gauge', descriptorsHelp, null, descriptors),
  entry(
    'process_max_fds',
    'gauge',
    'The most file descriptors that the process may have. Linux only.',
    null,
    processes((_, one) => one.maxDescriptors),
  ),
  entry('process_uptime_seconds', 'gauge', 'Time since the app was started.', seconds('process.uptime'), ({ app }) => [
    { labels: supervisor, value: Math.max(0, Date.now() - app.startedAt) / 1000 },
  ]),
  entry('process_start_time_seconds', 'gauge', 'When the app was started, in seconds since 1970.', null, startedAt),
]

/** Of the supervisor, and of workers in processes and commands. */
export function readUsages({ app, workers }: AppStatus): Usages {
  const pids = [app.pid, ...workers.filter(isProcess).flatMap(({ pid }) => pid ?? [])]
  return new Map(pids.map((pid) => [pid, usageOf(pid)]))
}

/** The process of the supervisor, which has the threads of the app. */
const supervisor = { worker: '', name: 'supervisor', kind: 'supervisor' }

interface Known {
  readonly pid: number | null
  /** Milliseconds. */
  readonly cpuTime: number | null
  /** Bytes. */
  readonly memory: number | null
}

function entry(
  name: string,
  type: Metric['type'],
  help: string,
  convention: Convention | null,
  samplesOf: SamplesOf,
): Entry {
  return [{ name, type, help, labels, convention }, samplesOf]
}

function seconds(name: string): Convention {
  return { name, unit: 's' }
}

function bytes(name: string): Convention {
  return { name, unit: 'By', isSum: true }
}

function processes(valueOf: (one: Known, usage: ProcessUsage) => number | null | undefined): SamplesOf {
  return ({ app, workers }, usages) => {
    const sampleOf = (of: Labels, one: Known): Sample[] => {
      const value = valueOf(one, (one.pid !== null && usages.get(one.pid)) || {})
      return value === null || value === undefined ? [] : [{ labels: of, value }]
    }
    return [
      ...sampleOf(supervisor, app),
      ...workers
        .filter(isProcess)
        .flatMap((one) => sampleOf({ worker: `${one.worker}`, name: one.name, kind: one.kind }, one)),
    ]
  }
}

function cpuSeconds({ cpuTime }: Known): number | null {
  return cpuTime === null ? null : cpuTime / 1000
}

function isProcess({ kind }: WorkerStats): boolean {
  return kind === 'process' || kind === 'command'
}
