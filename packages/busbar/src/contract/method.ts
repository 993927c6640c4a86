import { BusbarError, type DeclaredErrors, errorTable } from './errors.ts'
import { isTimeLimit } from './call-options.ts'
import type { Context } from './context.ts'
import type { CallOptions, CallPromise, CallStream } from './calls.ts'
import { parseHttp, type HttpMapping } from './http/mapping.ts'
import { outgoing } from './strip/output.ts'
import { isSchema, type InputOf, type OutputOf, type Schema } from './schema.ts'

/** What a method's schemas say, as types: of the caller's side, and of the implementation's. */
export interface MethodTypes {
  /** What the caller gives, and what the implementation gets. */
  readonly given: unknown
  readonly input: unknown
  /** What the implementation returns, and what the caller gets. */
  readonly returned: unknown
  readonly output: unknown
  readonly errors: DeclaredErrors
}

/** A method of a contract. Made by {@link fn} and {@link stream}. */
export interface Method<Kind extends 'fn' | 'stream' = 'fn' | 'stream', Types extends MethodTypes = MethodTypes> {
  readonly kind: Kind
  readonly input: Schema | undefined
  readonly output: Schema | undefined
  readonly errors: Readonly<Record<string, ErrorSpec>>
  readonly idempotent: boolean
  readonly key: ((input: never) => string | number) | undefined
  readonly http: HttpMapping | undefined
  /** Of its success over HTTP; undefined for 200, and 204 without a result. */
  readonly status: SuccessStatus | undefined
  readonly timeout: number | undefined
  readonly docs: string | undefined
  /** Only types: there is no such property. */
  readonly '~types'?: Types
}

export type Methods = Readonly<Record<string, Method>>

export type TypesOf<M extends Method> = NonNullable<M['~types']>

/** The method as its caller sees it. */
export type Call<Kind, Types extends MethodTypes> = undefined extends Types['given']
  ? (input?: Types['given'], options?: CallOptions) => Answer<Kind, Types>
  : (input: Types['given'], options?: CallOptions) => Answer<Kind, Types>

type Answer<Kind, Types extends MethodTypes> = Kind extends 'stream'
  ? CallStream<Types['output'], Types['errors']>
  : CallPromise<Types['output'], Types['errors']>

/** The method as it is implemented. `Extra`: what interceptors put into the context. */
export type Handler<M extends Method, Extra> = (
  input: TypesOf<M>['input'],
  context: InMethod<TypesOf<M>['errors'], Extra>,
) => M['kind'] extends 'stream'
  ? AsyncIterable<TypesOf<M>['returned']>
  : TypesOf<M>['returned'] | PromiseLike<TypesOf<M>['returned']>

/** What interceptors put there may stand instead of what every call has: metadata that a schema made something of. */
export type InMethod<E extends DeclaredErrors, Extra> = Extra extends { readonly metadata: unknown }
  ? Omit<Context<E>, 'metadata'> & Extra
  : Context<E> & Extra

/** An error that a method declares. */
export interface ErrorSpec<D = unknown> {
  /** Of the answer over HTTP: 400 to 499. */
  readonly status: number
  readonly data: Schema<unknown, D> | undefined
}

type ErrorDeclaration = Schema | ErrorSpec

export interface MethodOptions<I, O, E> {
  /** Undefined: no input. */
  readonly input?: I
  /** Undefined: no result; what the implementation returns is dropped. */
  readonly output?: O
  /** Errors that the method answers with by `fail(code, data)`: the schema of their data, or {@link error} for a status of choice. */
  readonly errors?: E
  /** Calling it twice is calling it once: it may be tried again when an answer does not come. Default: false. */
  readonly idempotent?: boolean
  /** `GET /products/{id}`: path and method of the REST mapping. Default: `POST /<service>/<method>`. */
  readonly http?: string
  /** Milliseconds until the call fails with DEADLINE_EXCEEDED where the caller says nothing. Default: no limit. */
  readonly timeout?: number
  readonly docs?: string
}

interface Keyed<Given> {
  /** Calls with the same key go to the same instance. */
  readonly key?: (input: Given) => string | number
}

type Maybe<S, Side extends 'in' | 'out'> = S extends Schema ? (Side extends 'in' ? InputOf<S> : OutputOf<S>) : undefined
type Result<S, Side extends 'in' | 'out'> = S extends Schema ? Maybe<S, Side> : void

interface Succeeding {
  /** Of its success over HTTP: 201 for what makes something. Default: 200, and 204 without a result. */
  readonly status?: SuccessStatus
}

export type SuccessStatus = 200 | 201 | 202 | 203

/** What {@link fn} makes of its options. */
export interface TypesFrom<I, O, E> {
  readonly given: Maybe<I, 'in'>
  readonly input: Maybe<I, 'out'>
  readonly returned: Result<O, 'in'>
  readonly output: Result<O, 'out'>
  readonly errors: ErrorsFrom<NoInfer<E>>
}

/** Not inferred from: what a contract may hold at all would otherwise say which errors a method has. */
type ErrorsFrom<E> = {
  readonly [Code in keyof E]: E[Code] extends ErrorSpec<infer D> ? D : Maybe<E[Code], 'out'>
}

/** A method with one answer. */
export function fn<
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
  const E extends Readonly<Record<string, ErrorDeclaration>> = {},
>(options: MethodOptions<I, O, E> & Keyed<Maybe<I, 'in'>> & Succeeding = {}): Method<'fn', TypesFrom<I, O, E>> {
  return define('fn', options)
}

/** A method that answers with many values, one after the other, as fast as they are taken. `output` is one of them. */
export function stream<
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
  const E extends Readonly<Record<string, ErrorDeclaration>> = {},
>(options: MethodOptions<I, O, E> & Keyed<Maybe<I, 'in'>> = {}): Method<'stream', TypesFrom<I, O, E>> {
  return define('stream', options)
}

/** Declares an error with a status of choice (400 to 499). Without a schema it has no data. */
export function error<S extends Schema | undefined = undefined>(status: number, data?: S): ErrorSpec<Maybe<S, 'out'>> {
  if (!Number.isInteger(status) || status < 400 || status > 499)
    throw invalid(
      `the status of a declared error is ${status}`,
      'Give one from 400 to 499: other faults are not for callers.',
    )
  const checked = data && outgoing(data, `the data of an error with status ${status}`)
  return { status, data: checked as Schema<unknown, Maybe<S, 'out'>> | undefined }
}

/** What {@link Method} is made from, whatever its types. */
type AnyOptions = MethodOptions<unknown, unknown, Readonly<Record<string, ErrorDeclaration>>> &
  Keyed<never> &
  Succeeding

function define<Kind extends 'fn' | 'stream', T extends MethodTypes>(kind: Kind, options: AnyOptions): Method<Kind, T> {
  const { http, status, key, timeout, docs, idempotent = false } = options
  if (status !== undefined && ![200, 201, 202, 203].includes(status))
    throw invalid(`the status of a method's success is ${status}`, 'Give 200, 201, 202 or 203.')
  if (timeout !== undefined && !(isTimeLimit(timeout) && timeout > 0))
    throw invalid(`the time limit of a method is ${String(timeout)}`, 'Give a number of milliseconds above 0.')
  const input = schemaOf(options.input, 'input')
  const mapping = http === undefined ? undefined : parseHttp(http)
  return {
    kind,
    input,
    output: outputOf(options.output),
    errors: Object.fromEntries(Object.entries(options.errors ?? {}).map(toSpec)),
    idempotent,
    key,
    http: mapping,
    status,
    timeout,
    docs,
  }
}

function schemaOf(value: unknown, where: string): Schema | undefined {
  if (value === undefined || isSchema(value)) return value
  throw invalid(
    `the ${where} of a method is no Standard Schema`,
    'Zod 4, Valibot and ArkType have such schemas; type<T>() is one.',
  )
}

function outputOf(value: unknown): Schema | undefined {
  const schema = schemaOf(value, 'output')
  return schema && outgoing(schema, 'the output of a method')
}

const statusByName: readonly (readonly [RegExp, number])[] = [
  [/NOT_FOUND$/, 404],
  [/(CONFLICT|EXISTS)$/, 409],
  [/GONE$/, 410],
  [/TOO_MANY/, 429],
]

function toSpec([code, declared]: [string, ErrorDeclaration]): [string, ErrorSpec] {
  if (!/^[A-Z][A-Z0-9_]*$/.test(code))
    throw invalid(
      `an error is declared as ${JSON.stringify(code)}`,
      'Write codes as NOT_FOUND: capitals, digits and underscores.',
    )
  if (Object.hasOwn(errorTable, code))
    throw invalid(
      `an error is declared as ${code}, which Busbar itself answers with`,
      `Throw new BusbarError('${code}', …), or choose another code.`,
    )
  if (!isSchema(declared)) return [code, declared]
  const status = statusByName.find(([pattern]) => pattern.test(code))?.[1] ?? 400
  return [code, { status, data: outgoing(declared, `the data of ${code}`) }]
}

function invalid(message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint })
}
