import type { OwnAttributes } from '../../shared/traces/own-span.ts'
import type { StoredTrace } from './trace-store.ts'
import { enclosing, type Hop } from './waterfall.ts'

/** A span that code of a service has made. Times are milliseconds. */
export interface OwnSpan {
  readonly id: string
  /** Of its trace: a call's span, or another own one. Null: none that was recorded. */
  readonly parent: string | null
  /** The call whose service has made it. Null: none that was recorded. */
  readonly call: string | null
  readonly service: string
  readonly worker: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** The library that has made it. */
  readonly scope: string
  /** Since the start of the trace. */
  readonly start: number
  readonly duration: number
  readonly failed: boolean
  readonly message: string | null
  readonly attributes: OwnAttributes
  /** `time`: since the start of the trace. */
  readonly events: readonly { readonly name: string; readonly time: number; readonly attributes: OwnAttributes }[]
}

/** By the numbers of OpenTelemetry. */
const kinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const
const error = 2

/** `hops`: of the same trace. In the order of their starts. */
export function ownSpansOf({ spans, own }: StoredTrace, hops: readonly Hop[]): OwnSpan[] {
  const begin = Math.min(...spans.map(({ start }) => start))
  const calls = new Map(hops.flatMap(({ id, spans: all }) => all.map((span) => [span, id] as const)))
  const owns = new Map(own.map((one) => [one.id, one]))
  return own
    .toSorted((one, other) => one.start - other.start)
    .map(
      ({ id, parent, service, worker, name, kind, scope, start, duration, status, message, attributes, events }) => ({
        id,
        parent: parent !== undefined && (calls.has(parent) || owns.has(parent)) ? parent : null,
        call: enclosing(parent, calls, owns) ?? null,
        service,
        worker,
        name,
        kind: kinds[kind] ?? 'internal',
        scope,
        start: start - begin,
        duration,
        failed: status === error,
        message: message ?? null,
        attributes,
        events: events.map((event) => ({ ...event, time: event.time - begin })),
      }),
    )
}
