/**
 * The metrics of the app's edges. Those of HTTP and RPC have the names, units and attributes of
 * OpenTelemetry's semantic conventions, as its exporters write them for Prometheus.
 */
import type { EdgeStats, OutcomeStats, WorkerOutcomeStats } from '../app-status.ts'
import type { Exemplars } from '../traces/exemplars.ts'
import { type HistogramSample, type Labels, type Metric, type Sample, toHistogram } from './prometheus.ts'

const edgeLabels = ['caller', 'callee', 'protocol', 'method', 'route', 'transport']

const calls: Metric = {
  name: 'busbar_edge_calls_total',
  type: 'counter',
  help: 'Calls that are over.',
  labels: [...edgeLabels, 'status'],
}

const retries: Metric = {
  name: 'busbar_edge_retries_total',
  type: 'counter',
  help: 'How often calls were sent again. A retried call is one call.',
  labels: edgeLabels,
}

const inFlight: Metric = {
  name: 'busbar_edge_calls_in_flight',
  type: 'gauge',
  help: 'Calls that have begun and are not over.',
  labels: edgeLabels,
}

const serverLabels = ['service', 'caller', 'transport', 'worker']
const clientLabels = ['service', 'server_address', 'transport', 'worker']
const httpLabels = ['http_request_method', 'http_route', 'http_response_status_code', 'error_type']
const rpcLabels = ['rpc_system_name', 'rpc_method', 'rpc_response_status_code', 'error_type']

const httpServer = duration('http.server.request.duration', 'Duration of HTTP requests, by the service that answers.', [
  ...serverLabels,
  ...httpLabels,
])
const httpClient = duration('http.client.request.duration', 'Duration of HTTP requests, by the service that calls.', [
  ...clientLabels,
  ...httpLabels,
])
const rpcServer = duration('rpc.server.call.duration', 'Duration of typed calls, by the service that answers.', [
  ...serverLabels,
  ...rpcLabels,
])
const rpcClient = duration('rpc.client.call.duration', 'Duration of typed calls, by the service that calls.', [
  ...clientLabels,
  ...rpcLabels,
])

/** The side of a call that a metric measures, and its labels there. */
interface Side {
  readonly worker: 'caller' | 'callee'
  readonly labels: (edge: EdgeStats) => Labels
}

const asServer: Side = {
  worker: 'callee',
  labels: ({ callee, caller, transport }) => ({ service: callee, caller, transport }),
}

const asClient: Side = {
  worker: 'caller',
  labels: ({ caller, callee, transport }) => ({ service: caller, server_address: callee, transport }),
}

/** `exemplars`: for a syntax that has them. */
type Histogram = readonly [
  Metric,
  (edges: readonly EdgeStats[], exemplars: Exemplars | undefined) => readonly HistogramSample[],
]
type Simple = readonly [Metric, (edges: readonly EdgeStats[]) => readonly Sample[]]

/** In the order of the text, before the histograms. */
export const edgeMetrics: readonly Simple[] = [
  [
    calls,
    (edges) =>
      edges.flatMap((edge) =>
        edge.outcomes.map(({ status, count }) => ({ labels: { ...labelsOf(edge), status }, value: count })),
      ),
  ],
  [retries, (edges) => edges.map((edge) => ({ labels: labelsOf(edge), value: edge.retries }))],
  [inFlight, (edges) => edges.map((edge) => ({ labels: labelsOf(edge), value: edge.inFlight }))],
]

export const edgeHistograms: readonly Histogram[] = [
  [httpServer, (edges, exemplars) => samples(edges, exemplars, 'http', asServer)],
  [httpClient, (edges, exemplars) => samples(edges.filter(isFromService), exemplars, 'http', asClient)],
  [rpcServer, (edges, exemplars) => samples(edges, exemplars, 'rpc', asServer)],
  [rpcClient, (edges, exemplars) => samples(edges.filter(isFromService), exemplars, 'rpc', asClient)],
]

function duration(name: string, help: string, labels: readonly string[]): Metric {
  const convention = { name, unit: 's' }
  return { name: `${name.replaceAll('.', '_')}_seconds`, type: 'histogram', help, labels, convention }
}

function samples(
  edges: readonly EdgeStats[],
  exemplars: Exemplars | undefined,
  protocol: EdgeStats['protocol'],
  side: Side,
): readonly HistogramSample[] {
  return edges
    .filter((edge) => edge.protocol === protocol)
    .flatMap((edge) =>
      edge.outcomes.flatMap((one) => {
        const groups = byWorker(one, side)
        const labels = { ...whatOf(edge), ...outcomeLabels(edge, one) }
        return groups.map(([worker, calls]) => {
          // Not every span knows the workers of its call, and a single series has all calls.
          const of = groups.length === 1 ? {} : { [side.worker]: worker }
          return toHistogram(
            calls,
            { ...side.labels(edge), worker: String(worker ?? ''), ...labels },
            exemplars && ((above, upTo) => exemplars.find(edge, one.status, of, above, upTo)),
          )
        })
      }),
    )
}

type Calls = Pick<WorkerOutcomeStats, 'sum' | 'buckets'>

function byWorker({ workers }: OutcomeStats, { worker }: Side): [number | null, Calls][] {
  const groups = Map.groupBy(workers, (one) => one[worker])
  return [...groups].map(([slot, parts]) => [slot, parts.length === 1 ? parts[0]! : sumOf(parts)])
}

/** All have the same bounds. */
function sumOf(parts: readonly Calls[]): Calls {
  const [{ buckets }] = parts as [Calls]
  return {
    sum: parts.reduce((all, one) => all + one.sum, 0),
    buckets: buckets.map(({ le }, at) => ({ le, count: parts.reduce((all, one) => all + one.buckets[at]!.count, 0) })),
  }
}

function isFromService({ caller }: EdgeStats): boolean {
  return caller !== ''
}

function whatOf({ protocol, callee, method, route }: EdgeStats): Labels {
  if (protocol === 'http') return { http_request_method: method, http_route: route }
  return { rpc_system_name: 'busbar', rpc_method: `${callee}/${method}` }
}

/** By the conventions, a call without a response has no status, and only failures have a type. */
function outcomeLabels({ protocol }: EdgeStats, { status }: OutcomeStats): Labels {
  const code = status === 'none' ? '' : status
  const failure = status === 'none' ? '_OTHER' : status >= '5' ? status : ''
  const name = protocol === 'http' ? 'http_response_status_code' : 'rpc_response_status_code'
  return { [name]: code, error_type: failure }
}

function labelsOf({ caller, callee, protocol, method, route, transport }: EdgeStats): Labels {
  return { caller, callee, protocol, method, route, transport }
}
