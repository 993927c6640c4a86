import { acceleratorNames, type AcceleratorState } from '../../shared/accelerators.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/calls/call-id.ts'
import type { HostReport, HostServiceReport, WithheldService } from '../../shared/hosts.ts'
import { isTransport } from '../../shared/metrics/edge-table.ts'
import type { OwnEvent, OwnLink, OwnSpanRecord } from '../../shared/traces/own-span.ts'
import type { SpanRecord } from '../../shared/traces/span.ts'
import type { FromWorker, LogRecord, ServiceReport } from '../../shared/control-messages.ts'

/**
 * Whether a message has the form of a worker's. Programs run in the worker, and may find a way to
 * its channel. A message of any other form must not end the supervisor.
 */
export function isWorkerMessage(message: unknown): message is FromWorker {
  if (!isObject(message) || !Object.hasOwn(forms, String(message['type']))) return false
  return has(message, forms[message['type'] as FromWorker['type']])
}

type Check = (value: unknown) => boolean
type Form<T> = { readonly [K in keyof Omit<T, 'type'>]-?: Check }

const text: Check = (value) => typeof value === 'string'
const number: Check = (value) => typeof value === 'number'
const boolean: Check = (value) => typeof value === 'boolean'
const cells: Check = (value) => value instanceof Uint32Array
const optional = (check: Check): Check => {
  return (value) => value === undefined || check(value)
}
const listOf = (check: Check): Check => {
  return (value) => Array.isArray(value) && value.every(check)
}
const oneOf = (...values: readonly string[]): Check => {
  return (value) => values.includes(value as string)
}
const object = (form: Readonly<Record<string, Check>>): Check => {
  return (value) => isObject(value) && has(value, form)
}

const error = object({
  code: text,
  message: text,
  hint: optional(text),
  service: optional(text),
  stack: optional(text),
} satisfies Form<Omit<ErrorRecord, 'data'>>)
const report = object({
  name: text,
  listens: text,
  startedIn: number,
  tls: optional(boolean),
  contract: optional(text),
  warnings: listOf(text),
} satisfies Form<ServiceReport>)
const record = object({
  time: number,
  level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
  service: optional(text),
  stream: oneOf('stdout', 'stderr', 'busbar'),
  line: text,
  continues: optional(boolean),
} satisfies Form<LogRecord>)
const span = object({
  part: oneOf('call', 'answer'),
  trace: text,
  id: text,
  parent: optional(text),
  caller: optional(text),
  service: text,
  protocol: oneOf('http', 'rpc'),
  method: text,
  path: optional(text),
  transport: optional(isTransport),
  start: number,
  duration: number,
  queue: number,
  sent: number,
  received: number,
  status: number,
  retries: number,
  route: optional(text),
  workers: optional(number),
  tracestate: optional(text),
} satisfies Form<SpanRecord>)
const isPlain: Check = (value) => text(value) || number(value) || boolean(value)
const attributes: Check = (value) =>
  isObject(value) && Object.values(value).every((one) => isPlain(one) || listOf(isPlain)(one))
const ownSpan = object({
  trace: text,
  id: text,
  parent: optional(text),
  tracestate: optional(text),
  service: text,
  name: text,
  kind: number,
  scope: text,
  version: optional(text),
  start: number,
  duration: number,
  status: number,
  message: optional(text),
  attributes,
  events: listOf(object({ name: text, time: number, attributes } satisfies Form<OwnEvent>)),
  links: listOf(object({ trace: text, id: text, attributes } satisfies Form<OwnLink>)),
  dropped: object({ attributes: number, events: number, links: number } satisfies Form<OwnSpanRecord['dropped']>),
} satisfies Form<OwnSpanRecord>)
const hostReport = object({
  name: text,
  app: optional(text),
  version: optional(text),
  state: oneOf('linked', 'unlinked', 'ejected'),
  why: optional(text),
  lastReceivedAt: optional(number),
  calls: listOf(text),
  services: listOf(object({ name: text, load: number, inFlight: number } satisfies Form<HostServiceReport>)),
  withheld: listOf(object({ name: text, why: text } satisfies Form<WithheldService>)),
} satisfies Form<HostReport>)
const call = object({ link: optional(number), number } satisfies Form<CallId>)

const accelerator = object({
  name: oneOf(...acceleratorNames),
  on: boolean,
  why: (value) => value === null || typeof value === 'string',
} satisfies Form<AcceleratorState>)

const forms: { readonly [T in FromWorker['type']]: Form<Extract<FromWorker, { type: T }>> } = {
  listening: {},
  starting: { service: text },
  started: { service: text, path: optional(text), topics: optional(listOf(text)), queued: optional(listOf(text)) },
  accelerators: { states: listOf(accelerator) },
  ready: { services: listOf(report) },
  failed: { error },
  health: { service: text, healthy: boolean, failures: number, why: text },
  hosts: { hosts: listOf(hostReport) },
  log: { records: listOf(record) },
  spans: { spans: listOf(span), own: listOf(ownSpan) },
  metrics: { json: text },
  pathTemplates: { service: text, templates: listOf(text), withdrawn: listOf(text) },
  fault: { service: optional(text), reason: oneOf('exception', 'rejection', 'exit'), error },
  closed: { service: optional(text) },
  stopped: {},
  taskDone: { id: number, result: () => true, error: optional(error) },
  unlinked: { peer: number, link: number, reason: error },
  callsDrained: { peer: number },
  callAbandoned: { peer: number, service: text, call },
  taken: { id: number },
  declined: { id: number },
  heartbeat: {},
  counters: { cells },
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function has(value: Record<string, unknown>, form: Readonly<Record<string, Check>>): boolean {
  return Object.entries(form).every(([name, check]) => check(value[name]))
}
