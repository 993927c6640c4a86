/** Metrics of the services of other apps that an app calls. */
import type { AppStatus } from '../app-status.ts'
import type { Metric, Sample } from './prometheus.ts'

const host = ['service', 'host']

function ofHosts(
  name: string,
  help: string,
  value: (one: AppStatus['remotes'][number]['hosts'][number]) => number | null,
) {
  const metric: Metric = { name, type: 'gauge', help, labels: host }
  const samplesOf = ({ remotes }: AppStatus): Sample[] =>
    remotes.flatMap(({ service, hosts }) =>
      hosts.flatMap((one) => {
        const now = value(one)
        return now === null ? [] : [{ labels: { service, host: one.host }, value: now }]
      }),
    )
  return [metric, samplesOf] as const
}

export const remoteMetrics: readonly (readonly [Metric, (status: AppStatus) => Sample[]])[] = [
  [
    {
      name: 'busbar_remote_reachable',
      type: 'gauge',
      help: 'Whether a worker has a link to a host of another app that offers the service.',
      labels: ['service'],
    },
    ({ remotes }) => remotes.map(({ service, reachable }) => ({ labels: { service }, value: Number(reachable) })),
  ],
  ofHosts('busbar_remote_links', 'Workers of this app with a link to the host.', ({ links }) => links),
  ofHosts('busbar_remote_ejected', 'Whether the host gets no calls for a while, because they failed.', ({ state }) =>
    Number(state === 'ejected'),
  ),
  ofHosts(
    'busbar_remote_calls_in_flight',
    'Calls of this app that the host has not answered. Without accelerators, open connections to programs count instead.',
    (one) => one.inFlight,
  ),
  ofHosts(
    'busbar_remote_load',
    'Calls in flight at the host, of all callers, as it has reported last.',
    ({ load }) => load,
  ),
  ofHosts('busbar_remote_silence_seconds', 'Time since the host was heard last.', ({ silentFor }) =>
    silentFor === null ? null : silentFor / 1000,
  ),
  [
    {
      name: 'busbar_cluster_connected',
      type: 'gauge',
      help: 'Whether the app is connected to a NATS server; absent without a cluster.',
      labels: ['cluster'],
    },
    ({ cluster }) =>
      cluster === null ? [] : [{ labels: { cluster: cluster.name }, value: Number(cluster.fault === null) }],
  ],
  [
    {
      name: 'busbar_cluster_members',
      type: 'gauge',
      help: 'Other hosts of the cluster that have announced themselves a short while ago.',
      labels: ['cluster'],
    },
    ({ cluster }) => (cluster === null ? [] : [{ labels: { cluster: cluster.name }, value: cluster.members.length }]),
  ],
]
