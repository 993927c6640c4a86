/** The app as a graph: services, and what flows between them. */
import type { AppStatus, Edge, Instance } from '../../api/types.ts'
import { edgeKey, recentOf } from '../../state/history.ts'
import { quantile } from '../../state/latency.ts'

/** Seconds over which the graph shows rates and latencies. */
export const recentSeconds = 30

export const outside = ''
/** Edges beyond the distinguished ones. */
export const others = '*'

export interface ServiceNode {
  readonly id: string
  readonly kind: 'outside' | 'service' | 'remote' | 'others'
  readonly label: string
  /** `shared × 2`, `process`. */
  readonly note: string
  readonly state: Instance['state'] | undefined
}

/** All calls of one service to another one. */
export interface Flow {
  readonly id: string
  readonly caller: string
  readonly callee: string
  readonly edges: readonly Edge[]
  readonly transports: readonly string[]
  /** Null at the first moment. */
  readonly perSecond: number | null
  readonly failed: number
  readonly calls: number
  /** Milliseconds; null without a recent call. */
  readonly p50: number | null
  readonly p99: number | null
}

export function nodesOf(status: AppStatus): ServiceNode[] {
  const { services, instances, workers, remotes, edges } = status
  const ends = new Set(edges.flatMap(({ caller, callee }) => [caller, callee]))
  const own = services.map(({ service }): ServiceNode => {
    const list = instances.filter((one) => one.service === service)
    const kinds = new Set(list.map(({ worker }) => workers.find((one) => one.worker === worker)?.kind))
    const note = `${[...kinds].join(', ')}${list.length > 1 ? ` × ${list.length}` : ''}`
    return { id: service, kind: 'service', label: service, note, state: worstOf(list) }
  })
  return [
    ...(ends.has(outside)
      ? [{ id: outside, kind: 'outside', label: 'clients', note: 'outside', state: undefined } as const]
      : []),
    ...own,
    ...remotes.map(({ service, reachable }): ServiceNode => ({
      id: service,
      kind: 'remote',
      label: service,
      note: 'another app',
      state: reachable ? 'serving' : 'waiting',
    })),
    ...(ends.has(others)
      ? [{ id: others, kind: 'others', label: 'others', note: 'not told apart', state: undefined } as const]
      : []),
  ]
}

/** `key` of the moment: what is recent changes with it. */
export function flowsOf(status: AppStatus): Flow[] {
  const grouped = Map.groupBy(status.edges, ({ caller, callee }) => flowId(caller, callee))
  return [...grouped].map(([id, edges]) => {
    const { caller, callee } = edges[0]!
    const { perSecond, calls, failures, counts } = recentOf(edges.map(edgeKey), recentSeconds)
    return {
      id,
      caller,
      callee,
      edges,
      transports: [...new Set(edges.map(({ transport }) => transport))].filter(Boolean),
      perSecond,
      failed: calls === 0 ? 0 : failures / calls,
      calls: edges.reduce((sum, edge) => sum + edge.calls, 0),
      p50: quantile(counts, 0.5),
      p99: quantile(counts, 0.99),
    }
  })
}

export function flowId(caller: string, callee: string): string {
  return `${caller}→${callee}`
}

const order: readonly Instance['state'][] = [
  'givenUp',
  'blocked',
  'waiting',
  'stopped',
  'starting',
  'draining',
  'serving',
]

function worstOf(instances: readonly Instance[]): Instance['state'] | undefined {
  if (instances.some(({ unhealthy }) => unhealthy !== null)) return 'blocked'
  return order.find((state) => instances.some((one) => one.state === state))
}
