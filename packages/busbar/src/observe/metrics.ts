/** What `GET /metrics` answers: each metric, what it means, and where its value comes from. `docs/reference/metrics.md` follows. */
import { formatHistogram, formatMetric, type HistogramSample, type Metric, type Sample } from './prometheus.ts'
import type { AppStatus, CallFigures, InstanceFigures, WorkerFigures } from './status.ts'

type Source =
  | { readonly from: 'app'; readonly value: (app: AppStatus['app']) => number }
  | { readonly from: 'workers'; readonly value: (worker: WorkerFigures) => number | null }
  | { readonly from: 'instances'; readonly value: (instance: InstanceFigures) => number }

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
  value: (worker: WorkerFigures) => number | null,
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
  value: (instance: InstanceFigures) => number,
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
  app('busbar_ready', 'Whether each service has an instance that serves, and the gateway a worker.', ({ ready }) =>
    Number(ready),
  ),
  worker('busbar_worker_up', 'gauge', 'Whether the worker serves and its event loop turns.', ({ state }) =>
    Number(state === 'serving'),
  ),
  worker('busbar_worker_blocked', 'gauge', 'Whether the worker serves but its event loop does not turn.', ({ state }) =>
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
  worker(
    'busbar_worker_cpu_seconds_total',
    'counter',
    'Processor time of the worker; starts from zero with each replacement.',
    ({ cpuTime }) => seconds(cpuTime),
  ),
  worker(
    'busbar_worker_event_loop_utilization',
    'gauge',
    'The share of the last second in which the event loop was busy, 0 to 1.',
    ({ eventLoopUtilization }) => eventLoopUtilization,
  ),
  worker(
    'busbar_worker_event_loop_silence_seconds',
    'gauge',
    'How long ago the event loop last turned.',
    ({ silentFor }) => seconds(silentFor),
  ),
  worker('busbar_worker_heap_used_bytes', 'gauge', 'JavaScript heap in use.', ({ heapUsed }) => heapUsed),
  worker(
    'busbar_worker_memory_bytes',
    'gauge',
    'Memory: of a thread its heap and what the heap refers to, of a process all of it.',
    ({ memory }) => memory,
  ),
  instance('busbar_instance_up', 'gauge', 'Whether the instance serves and its event loop turns.', ({ state }) =>
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

/** All of them, in the order of the text. */
export const metrics: readonly Metric[] = [...simple.map(([metric]) => metric), waiting, shed, lastExit, duration]

export function formatMetrics(status: AppStatus): string {
  return [
    ...simple.map(([metric, source]) => formatMetric(metric, samplesOf(status, source))),
    formatMetric(
      waiting,
      status.services.map(({ service, waiting }) => ({ labels: { service }, value: waiting })),
    ),
    formatMetric(
      shed,
      status.services.map(({ service, shed }) => ({ labels: { service }, value: shed })),
    ),
    formatMetric(lastExit, status.workers.flatMap(exitSamples)),
    formatHistogram(duration, status.calls.map(toHistogram)),
  ].join('')
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

function labelsOf({ worker: number, name, kind }: WorkerFigures): Record<string, string> {
  return { worker: `${number}`, name, kind }
}

function exitSamples(one: WorkerFigures): Sample[] {
  const { lastExit: exit } = one
  return exit === null ? [] : [{ labels: { ...labelsOf(one), why: exit.why, service: exit.service ?? '' }, value: 1 }]
}

function toHistogram({ caller, callee, sum, buckets }: CallFigures): HistogramSample {
  return {
    labels: { caller, callee },
    sum: sum / 1000,
    buckets: buckets.map(({ le, count }) => ({ le: le === null ? Infinity : le / 1000, count })),
  }
}

function seconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000
}
