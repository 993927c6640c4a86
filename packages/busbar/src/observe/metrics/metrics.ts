/**
 * The metrics of `GET /metrics` and where their values come from. `docs/reference/metrics.md` lists
 * the same metrics.
 */
import {
  endOfOpenMetrics,
  formatHistogram,
  formatMetric,
  type Metric,
  type MetricsSyntax,
  type Reading,
  type Sample,
  toHistogram,
} from './prometheus.ts'
import type { AppStatus, InstanceStats, ServiceStats, WorkerStats } from '../app-status.ts'
import { eventMetrics } from './event-metrics.ts'
import { edgeHistograms, edgeMetrics } from './edge-metrics.ts'
import type { Exemplars } from '../traces/exemplars.ts'
import { remoteMetrics } from './remote-metrics.ts'
import { processMetrics, readUsages } from './process-metrics.ts'
import { gcHistograms, runtimeMetrics } from './runtime-metrics.ts'
import { nothingObserved, type Observed, observedMetrics } from './observed-metrics.ts'
import { formatFamilies } from './service-families.ts'
import { entranceMetrics, queueTimeMetric as queueTimes, refusalMetric, refusalSamples } from './entrance-metrics.ts'
import { queueMetrics } from './queue-metrics.ts'

type Source =
  | { readonly from: 'app'; readonly value: (app: AppStatus['app']) => number }
  | { readonly from: 'workers'; readonly value: (worker: WorkerStats) => number | null }
  | { readonly from: 'instances'; readonly value: (instance: InstanceStats) => number }

const workerLabels = ['worker', 'name', 'kind']
const instanceLabels = ['service', 'instance', 'worker']

function app(name: string, help: string, value: (app: AppStatus['app']) => number): [Metric, Source] {
  return [
    { name, type: 'gauge', help, labels: ['app'] },
    { from: 'app', value },
  ]
}

function worker(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (worker: WorkerStats) => number | null,
): [Metric, Source] {
  return [
    { name, type, help, labels: workerLabels },
    { from: 'workers', value },
  ]
}

function instance(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (instance: InstanceStats) => number,
): [Metric, Source] {
  return [
    { name, type, help, labels: instanceLabels },
    { from: 'instances', value },
  ]
}

const simple: readonly (readonly [Metric, Source])[] = [
  app(
    'busbar_start_time_seconds',
    'When the app was started, in seconds since 1970.',
    ({ startedAt }) => startedAt / 1000,
  ),
  app(
    'busbar_ready',
    'Whether the app runs, each service has a healthy instance, and the gateway a worker.',
    ({ ready }) => Number(ready),
  ),
  worker('busbar_worker_up', 'gauge', 'Whether the worker serves and its event loop responds.', ({ state }) =>
    Number(state === 'serving'),
  ),
  worker('busbar_worker_blocked', 'gauge', 'Whether the worker serves but its event loop is blocked.', ({ state }) =>
    Number(state === 'blocked'),
  ),
  worker(
    'busbar_worker_restarts_total',
    'counter',
    'How often the worker died and was restarted.',
    ({ restarts }) => restarts,
  ),
  worker(
    'busbar_worker_connections',
    'gauge',
    'Open connections that the supervisor passed to the worker.',
    ({ connections }) => connections,
  ),
  worker(
    'busbar_worker_requests_in_flight',
    'gauge',
    'Requests from outside that the worker has not answered completely.',
    ({ requests }) => requests,
  ),
  [
    {
      name: 'busbar_worker_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time of the worker; starts from zero with each replacement.',
      labels: workerLabels,
      startsWithWorker: true,
    },
    { from: 'workers', value: ({ cpuTime }) => seconds(cpuTime) },
  ],
  worker(
    'busbar_worker_event_loop_utilization',
    'gauge',
    'The share of the last second in which the event loop was busy, 0 to 1.',
    ({ eventLoopUtilization }) => eventLoopUtilization,
  ),
  worker(
    'busbar_worker_event_loop_silence_seconds',
    'gauge',
    'Time since the last heartbeat of the event loop.',
    ({ silentFor }) => seconds(silentFor),
  ),
  worker('busbar_worker_heap_used_bytes', 'gauge', 'JavaScript heap in use.', ({ heapUsed }) => heapUsed),
  worker(
    'busbar_worker_memory_bytes',
    'gauge',
    'Memory: of a thread its heap and what the heap refers to, of a process all of it.',
    ({ memory }) => memory,
  ),
  instance('busbar_instance_up', 'gauge', 'Whether the instance serves and its event loop responds.', ({ state }) =>
    Number(state === 'serving'),
  ),
  instance('busbar_calls_total', 'counter', 'Calls that the instance has begun to handle.', ({ calls }) => calls),
  instance(
    'busbar_call_failures_total',
    'counter',
    'Calls without a response, or with a status of 500 or more.',
    ({ failures }) => failures,
  ),
  instance('busbar_calls_in_flight', 'gauge', 'Calls that the instance is handling.', ({ inFlight }) => inFlight),
]

const waiting: Metric = {
  name: 'busbar_calls_waiting',
  type: 'gauge',
  help: 'Calls that wait for an instance of the service with room.',
  labels: ['service'],
}

const shed: Metric = {
  name: 'busbar_calls_shed_total',
  type: 'counter',
  help: 'Calls that were refused because too many were waiting for the service.',
  labels: ['service'],
}

const lastExit: Metric = {
  name: 'busbar_worker_last_exit_info',
  type: 'gauge',
  help: 'Why the worker last died; always 1.',
  labels: [...workerLabels, 'why', 'service'],
}

const duration: Metric = {
  name: 'busbar_call_duration_seconds',
  type: 'histogram',
  help: 'Duration of calls at their caller. An empty caller is outside; "*" stands for all pairs beyond the distinguished ones.',
  labels: ['caller', 'callee'],
}

/** All metrics, in the order of the text. */
export const metrics: readonly Metric[] = [
  ...simple.map(([metric]) => metric),
  waiting,
  shed,
  ...eventMetrics.map(([metric]) => metric),
  ...queueMetrics.map(([metric]) => metric),
  lastExit,
  duration,
  ...edgeMetrics.map(([metric]) => metric),
  ...edgeHistograms.map(([metric]) => metric),
  ...processMetrics.map(([metric]) => metric),
  ...runtimeMetrics.map(([metric]) => metric),
  ...gcHistograms.map(([metric]) => metric),
  ...entranceMetrics.map(([metric]) => metric),
  refusalMetric,
  queueTimes,
  ...remoteMetrics.map(([metric]) => metric),
  ...observedMetrics.map(([metric]) => metric),
]

/** Without those that services record themselves. */
export function readMetrics(status: AppStatus, observed: Observed = nothingObserved, exemplars?: Exemplars): Reading[] {
  const { entrance, services, app } = status
  const ofServices = (value: (one: ServiceStats) => number): Sample[] =>
    services.map((one) => ({ labels: { service: one.service }, value: value(one) }))
  const usages = readUsages(status)
  const pairs = status.calls.map((one) => toHistogram(one, { caller: one.caller, callee: one.callee }))
  return [
    ...simple.map(([metric, source]) => ({ metric, samples: samplesOf(status, source) })),
    { metric: waiting, samples: ofServices((one) => one.waiting) },
    { metric: shed, samples: ofServices((one) => one.shed) },
    ...eventMetrics.map(([metric, value]) => ({ metric, samples: ofServices(({ events }) => value(events)) })),
    ...queueMetrics.map(([metric, value]) => ({ metric, samples: ofServices(({ queue }) => value(queue)) })),
    { metric: lastExit, samples: status.workers.flatMap(exitSamples) },
    { metric: duration, histograms: pairs },
    ...edgeMetrics.map(([metric, samplesOf]) => ({ metric, samples: samplesOf(status.edges) })),
    ...edgeHistograms.map(([metric, samplesOf]) => ({ metric, histograms: samplesOf(status.edges, exemplars) })),
    ...processMetrics.map(([metric, samplesOf]) => ({ metric, samples: samplesOf(status, usages) })),
    ...runtimeMetrics.map(([metric, samplesOf]) => ({ metric, samples: samplesOf(status) })),
    ...gcHistograms.map(([metric, samplesOf]) => ({ metric, histograms: samplesOf(status) })),
    ...entranceMetrics.map(([metric, samplesOf]) => ({
      metric,
      samples: entrance === null ? [] : samplesOf(entrance, app.name),
    })),
    { metric: refusalMetric, samples: refusalSamples(status) },
    { metric: queueTimes, histograms: entrance === null ? [] : [toHistogram(entrance.queueTimes, { app: app.name })] },
    ...remoteMetrics.map(([metric, samplesOf]) => ({ metric, samples: samplesOf(status) })),
    ...observedMetrics.map(([metric, samplesOf]) => ({ metric, samples: samplesOf(observed) })),
  ]
}

export function formatMetrics(
  status: AppStatus,
  syntax: MetricsSyntax = 'prometheus',
  observed: Observed = nothingObserved,
): string {
  const isOpen = syntax === 'openmetrics'
  const texts = readMetrics(status, observed, isOpen ? observed.exemplars() : undefined).map((reading) =>
    'histograms' in reading
      ? formatHistogram(reading.metric, reading.histograms)
      : formatMetric(isOpen ? toOpenMetrics(reading.metric) : reading.metric, reading.samples),
  )
  return texts.join('') + formatFamilies(observed.services.families, syntax) + (isOpen ? endOfOpenMetrics : '')
}

/**
 * In OpenMetrics, the suffix of a counter belongs to its samples, not to its name. A counter whose
 * name is then that of a gauge has no type there.
 */
function toOpenMetrics(metric: Metric): Metric {
  if (metric.type !== 'counter') return metric
  const family = metric.name.replace(/_total$/, '')
  return metrics.some(({ name }) => name === family) ? { ...metric, type: 'unknown' } : { ...metric, family }
}

function samplesOf(status: AppStatus, source: Source): Sample[] {
  switch (source.from) {
    case 'app':
      return [{ labels: { app: status.app.name }, value: source.value(status.app) }]
    case 'workers':
      return status.workers.flatMap((one) => {
        const value = source.value(one)
        return value === null ? [] : [{ labels: labelsOf(one), value }]
      })
    case 'instances':
      return status.instances.map((one) => ({
        labels: { service: one.service, instance: `${one.instance}`, worker: `${one.worker}` },
        value: source.value(one),
      }))
  }
}

function labelsOf({ worker: number, name, kind }: WorkerStats): Record<string, string> {
  return { worker: `${number}`, name, kind }
}

function exitSamples(one: WorkerStats): Sample[] {
  const { lastExit: exit } = one
  return exit === null ? [] : [{ labels: { ...labelsOf(one), why: exit.why, service: exit.service ?? '' }, value: 1 }]
}

function seconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000
}
