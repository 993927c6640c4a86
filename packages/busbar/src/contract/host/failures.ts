import { BusbarError, errorTable, type ErrorCode, type InputIssue } from '../errors.ts'
import { nameOf, type CallSite } from '../call.ts'
import type { Fail } from '../context.ts'
import type { DeclaredErrors } from '../errors.ts'
import type { ErrorSpec } from '../method.ts'
import { checkOf, type Checked } from '../schema.ts'
import { cloneValue } from '../value/clone.ts'
import { Uncarriable } from '../value/kinds.ts'
import { MethodMissing, methodUnknown } from './unknown.ts'

/** Of an error that a method declared by `fail`. */
interface Declared {
  readonly site: CallSite
  /** Undefined where its data has been checked already: most schemas answer at once. */
  readonly checking: Promise<BusbarError<string>> | undefined
}

const declared = new WeakMap<object, Declared>()

/**
 * The `fail` of a method's context. Its data passes its schema like a result: what the schema does not have is not sent, and
 * what it refuses is a fault of the service.
 */
export function failOf(site: () => CallSite, errors: Readonly<Record<string, ErrorSpec>>): Fail<DeclaredErrors> {
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
      if (checked.issues !== undefined) throw new OutputRefused(checked.issues, `the data of ${code}`)
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

/** Known by identity: only what this very method declared goes out as its own; see {@link toCallError}. */
function declaredBy(thrown: unknown, site: CallSite): Declared | undefined {
  const found = thrown instanceof Error ? declared.get(thrown) : undefined
  return found?.site === site ? found : undefined
}

/**
 * Of an error whose data is being checked: what it becomes, or a rejection with what the schema refused. Undefined for
 * everything else that was thrown.
 */
export function checkingOf(thrown: unknown, site: CallSite): Promise<BusbarError<string>> | undefined {
  return declaredBy(thrown, site)?.checking
}

/** Of these it does not matter whose they were: what they say holds for the caller's caller too. */
const passedOn: ReadonlySet<ErrorCode> = new Set([
  'DEADLINE_EXCEEDED',
  'CALL_ABORTED',
  'RESOURCE_EXHAUSTED',
  'SERVICE_UNAVAILABLE',
  'SERVICE_HANGUP',
  'WORKER_DIED',
  'LINK_LOST',
])

/** What a method may answer with by throwing it: who may call, and whether there is room. */
const ownCodes: ReadonlySet<ErrorCode> = new Set([...passedOn, 'UNAUTHENTICATED', 'FORBIDDEN', 'INPUT_INVALID'])

/**
 * The caller's view of what a method threw. Everything that is not meant for callers becomes INTERNAL with an id, under
 * which the service's log has the whole of it: a stack, a message of a database, or the error of another service, whose
 * code would say something else here.
 */
export function toCallError(thrown: unknown, site: CallSite): BusbarError<string> {
  const own = declaredBy(thrown, site)
  if (own !== undefined && own.checking === undefined) return thrown as BusbarError<string>
  if (thrown instanceof MethodMissing) return methodUnknown(site.service, site.method, thrown.names)
  if (BusbarError.is(thrown)) {
    const isOwn = thrown.service === undefined || thrown.service === site.service
    const isForCallers = passedOn.has(thrown.code) || (isOwn && ownCodes.has(thrown.code))
    if (isForCallers && isCarried(thrown.data)) return thrown
  }
  return internal(thrown, site)
}

function internal(thrown: unknown, site: CallSite): BusbarError {
  const id = newId()
  const { service } = site
  site.log.error(`${nameOf(site)} failed (${id}): ${describe(thrown)}`, { id })
  const message = `${nameOf(site)} failed; the log of the service has the cause under ${id}`
  return new BusbarError('INTERNAL', { message, service, data: { id }, cause: thrown })
}

function isCarried(data: unknown): boolean {
  try {
    cloneValue(data)
    return true
  } catch {
    return false
  }
}

/** Browsers have `randomUUID` in secure contexts only. */
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

/** Of an input that no call carries; anything else is returned as it is. */
export function fromUncarriable(site: { service: string; method: string }, thrown: unknown): unknown {
  if (!(thrown instanceof Uncarriable)) return thrown
  return inputInvalid(site, [{ path: thrown.path, message: thrown.message }])
}

/** What the schema of a result, or of an error's data, refused: for the log. */
export class OutputRefused extends Error {
  constructor(issues: readonly InputIssue[], what = 'result') {
    const faults = issues.map(({ path, message }) => `${path.join('.') || what}: ${message}`).join('; ')
    super(what === 'result' ? faults : `${what}: ${faults}`)
    this.name = 'OutputRefused'
  }
}

/** As it came over a wire: `status` where the code is a declared one. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly status: number
  readonly data: unknown
}

/** Undefined for a code that neither the table nor the contract has. */
export function fromWire(
  wire: WireError,
  service: string,
  errors: Readonly<Record<string, ErrorSpec>>,
): BusbarError<string> | undefined {
  const { code, message, data } = wire
  const parts = { message, service, data }
  if (Object.hasOwn(errorTable, code)) return new BusbarError(code as ErrorCode, parts)
  return Object.hasOwn(errors, code) ? new BusbarError<string>(code, parts, errors[code]) : undefined
}
