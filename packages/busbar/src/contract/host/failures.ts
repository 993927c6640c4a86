import { BusbarError, type ErrorCode, type InputIssue, isErrorCode } from '../errors.ts'
import { nameOf } from '../call/end-reasons.ts'
import type { CallSite } from '../call/live-call.ts'
import type { Fail } from '../context.ts'
import type { DeclaredErrors } from '../errors.ts'
import type { ErrorSpec } from '../method.ts'
import { checkOf, type Checked } from '../schema.ts'
import { cloneValue } from '../value/clone.ts'
import { SerialisationError } from '../value/serialisable.ts'
import { MethodNotFound, methodUnknown } from './unknown-names.ts'

/** A declared error that `fail` has thrown. */
interface Declared {
  readonly site: CallSite
  /** Undefined if its data is already checked: most schemas are synchronous. */
  readonly checking: Promise<BusbarError<string>> | undefined
}

const declared = new WeakMap<object, Declared>()

/**
 * Creates the `fail` function of a method's context. Its data is checked like a result: undeclared
 * fields are not sent, and invalid data is a fault of the service.
 */
export function createFail(site: () => CallSite, errors: Readonly<Record<string, ErrorSpec>>): Fail<DeclaredErrors> {
  const checks = new Map(Object.entries(errors).map(([code, { data }]) => [code, checkOf(data)]))
  return (code, ...[data]) => {
    const spec = Object.hasOwn(errors, code) ? errors[code] : undefined
    if (spec === undefined) throw new TypeError(`fail('${code}') in ${nameOf(site())}, which declares no such error`)
    const make = (value: unknown, checking?: Declared['checking']): BusbarError<string> => {
      const parts = { message: `${nameOf(site())} answered ${code}`, service: site().service, data: value }
      const error = new BusbarError<string>(code, parts, spec)
      declared.set(error, { site: site(), checking })
      return error
    }
    const pass = (checked: Checked): BusbarError<string> => {
      if (checked.issues !== undefined) throw new OutputInvalid(checked.issues, `the data of ${code}`)
      return make(cloneValue(checked.value))
    }
    if (spec.data === undefined) throw make(undefined)
    const checked = checks.get(code)?.(data) ?? { value: data }
    if (!(checked instanceof Promise)) throw pass(checked)
    const checking = checked.then(pass)
    checking.catch(() => {})
    throw make(data, checking)
  }
}

/**
 * Matched by identity: only an error that this very method declared is passed on as declared; see
 * {@link toCallError}.
 */
function declaredBy(thrown: unknown, site: CallSite): Declared | undefined {
  const found = declared.get(thrown as object)
  return found?.site === site ? found : undefined
}

/**
 * For an error whose data is still being checked: resolves to the error, rejects with what the
 * schema refused. Undefined for anything else.
 */
export function pendingDataCheck(thrown: unknown, site: CallSite): Promise<BusbarError<string>> | undefined {
  return declaredBy(thrown, site)?.checking
}

/** Codes that hold for the caller's caller too, whichever service they come from. */
const passedOn: ReadonlySet<ErrorCode> = new Set([
  'DEADLINE_EXCEEDED',
  'CALL_ABORTED',
  'RESOURCE_EXHAUSTED',
  'SERVICE_UNAVAILABLE',
  'SERVICE_HANGUP',
  'WORKER_DIED',
  'LINK_LOST',
  'QUEUE_UNAVAILABLE',
  'QUEUE_FULL',
])

/** Codes that a method may throw to its caller: authentication, permission, overload. */
const ownCodes: ReadonlySet<ErrorCode> = new Set([...passedOn, 'UNAUTHENTICATED', 'FORBIDDEN', 'INPUT_INVALID'])

/**
 * Converts what a method threw into the error that its caller gets. Anything not meant for callers
 * becomes INTERNAL with an id, under which the service logs the details: a stack, a database
 * message, or another service's error, whose code would be misleading here.
 */
export function toCallError(thrown: unknown, site: CallSite): BusbarError<string> {
  const own = declaredBy(thrown, site)
  if (own !== undefined && own.checking === undefined) return thrown as BusbarError<string>
  let known: BusbarError<string> | undefined
  try {
    known = forCallers(thrown, site)
  } catch {
    // Looking at a proxy runs code of the service, which can throw.
  }
  return known ?? internal(thrown, site)
}

function forCallers(thrown: unknown, site: CallSite): BusbarError<string> | undefined {
  if (thrown instanceof MethodNotFound) return methodUnknown(site.service, site.method, thrown.names)
  if (!BusbarError.is(thrown)) return undefined
  const isOwn = thrown.service === undefined || thrown.service === site.service
  const isForCallers = passedOn.has(thrown.code) || (isOwn && ownCodes.has(thrown.code))
  return isForCallers && isSerialisable(thrown.data) ? thrown : undefined
}

function internal(thrown: unknown, site: CallSite): BusbarError {
  const id = newId()
  const { service } = site
  site.log.error(`${nameOf(site)} failed (${id}): ${describe(thrown)}`, { id })
  const message = `${nameOf(site)} failed; the service's log has the cause under ${id}`
  return new BusbarError('INTERNAL', { message, service, data: { id }, cause: thrown })
}

function isSerialisable(data: unknown): boolean {
  try {
    cloneValue(data)
    return true
  } catch {
    return false
  }
}

/** Browsers have `randomUUID` only in secure contexts. */
function newId(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?(): string } }
  return crypto?.randomUUID?.() ?? Math.random().toString(36).slice(2)
}

function describe(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.stack ?? `${thrown.name}: ${thrown.message}`
    return `a non-error was thrown: ${String(thrown)}`
  } catch {
    return 'a value was thrown that cannot be shown'
  }
}

export function inputInvalid(site: { service: string; method: string }, issues: readonly InputIssue[]): BusbarError {
  const [first] = issues
  const where = first === undefined || first.path.length === 0 ? '' : ` at ${first.path.join('.')}`
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new BusbarError('INPUT_INVALID', {
    message: `the input of ${nameOf(site)} is not valid${where}: ${first?.message ?? 'no reason given'}${more}`,
    service: site.service,
    data: { issues },
  })
}

/**
 * Converts a {@link SerialisationError} of an input to INPUT_INVALID; returns anything else
 * unchanged.
 */
export function toInputInvalid(site: { service: string; method: string }, thrown: unknown): unknown {
  if (!(thrown instanceof SerialisationError)) return thrown
  return inputInvalid(site, [{ path: thrown.path, message: thrown.message }])
}

/** A result, or an error's data, that its schema refused. Only for the log. */
export class OutputInvalid extends Error {
  constructor(issues: readonly InputIssue[], what = 'result') {
    const faults = issues.map(({ path, message }) => `${path.join('.') || what}: ${message}`).join('; ')
    super(what === 'result' ? faults : `${what}: ${faults}`)
    this.name = 'OutputInvalid'
  }
}

/** An error as received; `status` only matters for a declared code. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly status: number
  readonly data: unknown
}

/** Undefined for a code that is neither in the table nor in the contract. */
export function fromWire(
  wire: WireError,
  service: string,
  errors: Readonly<Record<string, ErrorSpec>>,
): BusbarError<string> | undefined {
  const { code, message, data } = wire
  const parts = { message, service, data }
  if (isErrorCode(code)) return new BusbarError(code, parts)
  return Object.hasOwn(errors, code) ? new BusbarError<string>(code, parts, errors[code]) : undefined
}
