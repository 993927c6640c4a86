import type { AppStatus, EntranceStats } from '../app-status.ts'
import type { Metric, Sample } from './prometheus.ts'

type Entry = readonly [Metric, (entrance: EntranceStats, app: string) => readonly Sample[]]

function single(name: string, type: 'counter' | 'gauge', help: string, value: (one: EntranceStats) => number): Entry {
  return [{ name, type, help, labels: ['app'] }, (entrance, app) => [{ labels: { app }, value: value(entrance) }]]
}

function each(
  name: string,
  help: string,
  label: string,
  values: (one: EntranceStats) => Record<string, number>,
): Entry {
  const samples = (entrance: EntranceStats, app: string): Sample[] =>
    Object.entries(values(entrance)).map(([key, value]) => ({ labels: { app, [label]: key }, value }))
  return [{ name, type: 'counter', help, labels: ['app', label] }, samples]
}

/** Those of the native entrance, in the order of the text. An app without it has no samples. */
export const entranceMetrics: readonly Entry[] = [
  single('busbar_entrance_connections', 'gauge', 'Open connections of clients.', (one) => one.connections),
  single(
    'busbar_entrance_connections_total',
    'counter',
    'Connections that the native entrance has accepted.',
    (one) => one.accepted,
  ),
  each('busbar_entrance_handshakes_total', 'Handshakes of TLS.', 'outcome', (one) => ({
    complete: one.handshakes,
    failed: one.failedHandshakes,
  })),
  each('busbar_entrance_requests_total', 'Requests that were read.', 'protocol', ({ requests }) => ({ ...requests })),
  single(
    'busbar_entrance_requests_in_flight',
    'gauge',
    'Requests that workers have and have not answered completely; upgraded connections too.',
    (one) => one.inFlight,
  ),
  each('busbar_entrance_bytes_total', 'Bytes of connections, without those of TLS itself.', 'direction', (one) => ({
    received: one.bytesReceived,
    sent: one.bytesSent,
  })),
  single(
    'busbar_entrance_moved_total',
    'counter',
    'Requests that another worker got, because theirs died or was late before it began them.',
    (one) => one.moved,
  ),
  single(
    'busbar_entrance_repeated_total',
    'counter',
    'Requests that were repeated, because their worker died.',
    (one) => one.repeated,
  ),
  single(
    'busbar_entrance_direct_total',
    'counter',
    'Requests that services in processes and commands got without a worker between.',
    (one) => one.direct,
  ),
  single(
    'busbar_entrance_floods_total',
    'counter',
    'Connections of HTTP/2 that were closed because of a flood.',
    (one) => one.floods,
  ),
]

export const refusalMetric: Metric = {
  name: 'busbar_entrance_refusals_total',
  type: 'counter',
  help: 'Responses of the entrance itself, native or portable, in place of services.',
  labels: ['app', 'status', 'reason'],
}

export function refusalSamples({ app, refusals }: Pick<AppStatus, 'app' | 'refusals'>): readonly Sample[] {
  return refusals.map(({ status, reason, count }) => ({
    labels: { app: app.name, status: String(status), reason },
    value: count,
  }))
}

export const queueTimeMetric: Metric = {
  name: 'busbar_entrance_queue_seconds',
  type: 'histogram',
  help: 'How long requests waited until a worker called their handler.',
  labels: ['app'],
}
