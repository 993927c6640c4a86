import * as z from 'zod'
import type { App } from '../../../config/app.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { ownSpansOf } from '../../../observe/traces/own-spans.ts'
import { summaryOf, waterfallOf } from '../../../observe/traces/waterfall.ts'
import { defineJson } from './operation.ts'
import { knownService } from './serving-worker.ts'

const status = z.int().nullable().meta({ description: 'null: no complete response' })
const milliseconds = z.number().meta({ description: 'milliseconds' })
const caller = z.string().nullable().meta({ description: 'null: outside the app' })

const summary = z.object({
  id: z.string(),
  start: z.number().meta({ description: 'milliseconds since 1970' }),
  duration: milliseconds,
  first: z.object({ caller, service: z.string(), method: z.string(), path: z.string().nullable(), status }),
  hops: z.int(),
  failed: z.int(),
  services: z.array(z.string()),
})

const hop = z.object({
  id: z.string().meta({ description: 'of its span' }),
  spans: z
    .array(z.string())
    .meta({ description: "all of its spans; a program's own have one of these as their parent" }),
  parent: z.string().nullable().meta({ description: 'the hop that caused it' }),
  within: z.string().nullable().meta({ description: 'the own span of the calling service in which it was made' }),
  depth: z.int(),
  caller,
  service: z.string(),
  protocol: z.enum(['http', 'rpc']),
  method: z.string(),
  path: z.string().nullable(),
  route: z.string().nullable().meta({ description: 'the path template by which it is counted, or the prefix' }),
  transport: z.string().nullable(),
  workers: z.array(z.string()),
  start: z.number().meta({ description: 'milliseconds since the start of the trace' }),
  duration: milliseconds,
  queue: milliseconds,
  wire: milliseconds.nullable(),
  run: milliseconds.nullable(),
  sent: z.number().meta({ description: 'bytes of the request' }),
  received: z.number().meta({ description: 'bytes of the response' }),
  status,
  attempts: z.int().meta({ description: 'how often it was sent' }),
})

const attributes = z.record(z.string(), z.unknown())

const ownSpan = z.object({
  id: z.string(),
  parent: z.string().nullable().meta({ description: 'a span of a call, or another own span' }),
  call: z.string().nullable().meta({ description: 'the call whose service has made it' }),
  service: z.string(),
  worker: z.string(),
  name: z.string(),
  kind: z.enum(['internal', 'server', 'client', 'producer', 'consumer']),
  scope: z.string().meta({ description: 'the library that has made it' }),
  start: z.number().meta({ description: 'milliseconds since the start of the trace' }),
  duration: milliseconds,
  failed: z.boolean(),
  message: z.string().nullable(),
  attributes,
  events: z.array(z.object({ name: z.string(), time: milliseconds, attributes })),
})

export const listTraces = defineJson({
  name: 'listTraces',
  method: 'GET',
  path: '/traces',
  summary: 'The recent traces that the supervisor keeps in memory, the latest first.',
  input: z.strictObject({
    service: z.string().optional().meta({ description: 'only traces with a call to this service' }),
    failed: z.stringbool().default(false).meta({ description: 'only traces with a failed call' }),
    limit: z.coerce.number().int().min(0).max(10_000).default(20).meta({ description: 'at most this many' }),
  }),
  output: z.object({
    sample: z.number().nullable().meta({ description: 'the share of traces that are kept; null: traces are off' }),
    traces: z.array(summary),
  }),
  handle({ service, failed, limit }, { running: { app }, observations: { traces } }) {
    const found = traces.list({ service, failed, limit })
    // One of another app is known by its calls.
    if (service !== undefined && found.length === 0 && !isRemote(app, service)) knownService(app, service)
    return { sample: app.traces?.sample ?? null, traces: found.map((trace) => mutable(summaryOf(trace))) }
  },
})

export const getTrace = defineJson({
  name: 'getTrace',
  method: 'GET',
  path: '/traces/{id}',
  summary: 'One trace: its calls in the order in which they caused each other.',
  input: z.strictObject({ id: z.string().meta({ description: '32 hexadecimal digits' }) }),
  output: summary.extend({
    calls: z.array(hop),
    own: z.array(ownSpan).meta({ description: 'spans that services have made by the API of OpenTelemetry' }),
    dropped: z.int().meta({ description: 'spans beyond those that are kept of one trace' }),
  }),
  handle({ id }, { running: { app }, observations: { traces } }) {
    const trace = traces.get(id.toLowerCase())
    if (trace !== undefined) {
      const calls = waterfallOf(trace)
      const own = ownSpansOf(trace, calls).map((span) => ({ ...mutable(span), attributes: { ...span.attributes } }))
      return { ...mutable(summaryOf(trace)), calls: mutable(calls), own, dropped: trace.dropped }
    }
    throw new BusbarError('TRACE_UNKNOWN', {
      message: `no trace ${JSON.stringify(id.slice(0, 64))} is kept`,
      hint:
        app.traces === undefined
          ? 'This app has no traces: set traces.sample in its config.'
          : `List those that are: busbar traces. The app keeps the last ${app.traces.keep}.`,
    })
  },
})

function isRemote({ remotes = [] }: App, service: string): boolean {
  return remotes.some(({ name }) => name === service)
}

type Mutable<T> = T extends readonly (infer One)[]
  ? Mutable<One>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T

/** Schemas have no readonly arrays. */
function mutable<T>(value: T): Mutable<T> {
  return value as Mutable<T>
}
