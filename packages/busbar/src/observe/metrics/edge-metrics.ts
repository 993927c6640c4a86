/**
 * The metrics of the app's edges. Those of HTTP and RPC have the names, units and attributes of
 * OpenTelemetry's semantic conventions, as its exporters write them for Prometheus.
 */
import type { EdgeStats, OutcomeStats } from '../app-status.ts'
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

const serverLabels = ['service', 'caller', 'transport']
const clientLabels = ['service', 'server_address', 'transport']
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
  side: (edge: EdgeStats) => Labels,
): readonly HistogramSample[] {
  return edges
    .filter((edge) => edge.protocol === protocol)
    .flatMap((edge) =>
      edge.outcomes.map((one) =>
        toHistogram(
          one,
          { ...side(edge), ...whatOf(edge), ...outcomeLabels(edge, one) },
          exemplars && ((above, upTo) => exemplars.find(edge, one.status, above, upTo)),
        ),
      ),
    )
}

function asServer({ callee, caller, transport }: EdgeStats): Labels {
  return { service: callee, caller, transport }
}

function asClient({ caller, callee, transport }: EdgeStats): Labels {
  return { service: caller, server_address: callee, transport }
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
