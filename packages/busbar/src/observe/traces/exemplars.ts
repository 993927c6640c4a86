import { calleeOf, callerOf, workerOf } from '../../shared/metrics/worker-pair.ts'
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

/** Slots of workers. Null: none, as an edge counts it. Undefined: any. */
interface WorkersOf {
  readonly caller?: number | null
  readonly callee?: number | null
}

/** The recent calls of each edge and status, the latest first. */
export class Exemplars {
  readonly #calls: ReadonlyMap<string, readonly StoredSpan[]>

  /** `traces`: the latest first. */
  constructor(traces: readonly StoredTrace[]) {
    const spans = traces.slice(0, maxTraces).flatMap((trace) => trace.spans)
    this.#calls = Map.groupBy(
      spans.filter(({ part }) => part === 'call'),
      ({ caller = '', service, protocol, method, route = '', transport, status }) =>
        keyOf([caller, service, protocol, method, route, transport, status === 0 ? 'none' : `${status}`]),
    )
  }

  /** The latest call of these workers that took longer than `above` seconds, and `upTo` at most. */
  find(edge: EdgeOf, status: string, workers: WorkersOf, above: number, upTo: number): Exemplar | undefined {
    const { caller, callee, protocol, method, route, transport } = edge
    const found = this.#calls
      .get(keyOf([caller, callee, protocol, method, route, transport, status]))
      ?.find((span) => span.duration / 1000 > above && span.duration / 1000 <= upTo && isOf(span, workers))
    if (found === undefined) return undefined
    const { trace, id, duration, start } = found
    return { trace, span: id, value: duration / 1000, time: (start + duration) / 1000 }
  }
}

function isOf({ workers }: StoredSpan, { caller, callee }: WorkersOf): boolean {
  const isSame = (wanted: number | null | undefined, of: (pair: number) => number): boolean =>
    wanted === undefined || (workers !== undefined && of(workers) === workerOf(wanted ?? undefined))
  return isSame(caller, callerOf) && isSame(callee, calleeOf)
}

function keyOf(parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts)
}
