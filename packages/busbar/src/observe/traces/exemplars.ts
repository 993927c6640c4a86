import type { EdgeStats } from '../app-status.ts'
import type { StoredSpan, StoredTrace } from './trace-store.ts'

/** A call of a histogram whose trace can be looked at. */
export interface Exemplar {
  readonly trace: string
  readonly span: string
  /** Seconds. */
  readonly value: number
  /** Seconds since 1970. */
  readonly time: number
}

/** So many of the latest traces are looked at for a scrape. */
const maxTraces = 1000

type EdgeOf = Pick<EdgeStats, 'caller' | 'callee' | 'protocol' | 'method' | 'route' | 'transport'>

/** The recent calls of each edge and status, the latest first. */
export class Exemplars {
  readonly #calls: ReadonlyMap<string, readonly StoredSpan[]>

  /** `traces`: the latest first. */
  constructor(traces: readonly StoredTrace[]) {
    const spans = traces.slice(0, maxTraces).flatMap((trace) => trace.spans)
    this.#calls = Map.groupBy(
      spans.filter(({ part }) => part === 'call'),
      ({ caller = '', service, protocol, method, transport, status }) =>
        keyOf([caller, service, protocol, method, transport, status === 0 ? 'none' : `${status}`]),
    )
  }

  /** The latest call that took longer than `above` seconds, and `upTo` at most. */
  find(edge: EdgeOf, status: string, above: number, upTo: number): Exemplar | undefined {
    const { caller, callee, protocol, method, route, transport } = edge
    const found = this.#calls
      .get(keyOf([caller, callee, protocol, method, transport, status]))
      ?.find(({ duration, path }) => duration / 1000 > above && duration / 1000 <= upTo && isBelow(path, route))
    if (found === undefined) return undefined
    const { trace, id, duration, start } = found
    return { trace, span: id, value: duration / 1000, time: (start + duration) / 1000 }
  }
}

/** A route of the gateway is the beginning of paths. A host may precede it. */
function isBelow(path: string | undefined, route: string): boolean {
  const prefix = route.slice(Math.max(0, route.indexOf('/')))
  return path === undefined || !prefix.startsWith('/') || path.startsWith(prefix)
}

function keyOf(parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts)
}
