import { acceleratorNames, type AcceleratorState } from '../../shared/accelerators.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallId, FromWorker, LogRecord, ServiceReport } from '../../shared/control.ts'

/**
 * Whether a message is one that a worker sends. Code of a program runs where the worker runs, and may find a way to its channel
 * that Busbar does not know; a message of any other form must not end the supervisor.
 */
export function isFromWorker(message: unknown): message is FromWorker {
  if (!isObject(message) || !Object.hasOwn(forms, String(message['type']))) return false
  return has(message, forms[message['type'] as FromWorker['type']])
}

type Check = (value: unknown) => boolean
type Form<T> = { readonly [K in keyof Omit<T, 'type'>]-?: Check }

const text: Check = (value) => typeof value === 'string'
const number: Check = (value) => typeof value === 'number'
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
  tls: optional((value) => typeof value === 'boolean'),
  warnings: listOf(text),
} satisfies Form<ServiceReport>)
const record = object({
  time: number,
  level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
  service: optional(text),
  stream: oneOf('stdout', 'stderr', 'busbar'),
  line: text,
} satisfies Form<LogRecord>)
const call = object({ link: optional(number), number } satisfies Form<CallId>)

const accelerator = object({
  name: oneOf(...acceleratorNames),
  on: (value) => typeof value === 'boolean',
  why: (value) => value === null || typeof value === 'string',
} satisfies Form<AcceleratorState>)

const forms: { readonly [T in FromWorker['type']]: Form<Extract<FromWorker, { type: T }>> } = {
  listening: {},
  starting: { service: text },
  started: { service: text, path: optional(text) },
  accelerators: { states: listOf(accelerator) },
  ready: { services: listOf(report) },
  failed: { error },
  log: { records: listOf(record) },
  fault: { service: optional(text), reason: oneOf('exception', 'rejection', 'exit'), error },
  closed: { service: optional(text) },
  stopped: {},
  unlinked: { peer: number, link: number, reason: error },
  left: { peer: number },
  gaveUp: { peer: number, service: text, call },
  taken: { id: number },
  declined: { id: number },
  beat: { cells, instances: optional(cells) },
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function has(value: Record<string, unknown>, form: Readonly<Record<string, Check>>): boolean {
  return Object.entries(form).every(([name, check]) => check(value[name]))
}
