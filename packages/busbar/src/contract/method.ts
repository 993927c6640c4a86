import { BusbarError, type DeclaredErrors, isErrorCode } from './errors.ts'
import { type Many, schemaOfMany } from './many.ts'
import { isTimeLimit } from './call/call-options.ts'
import type { Context } from './context.ts'
import type { CallOptions, CallPromise, CallStream } from './call/call-types.ts'
import { isRpcName } from './protobuf/syntax.ts'
import { parseHttp, type HttpMapping } from './http/mapping/http-mapping.ts'
import { stripUndeclared } from './strip/strip-output.ts'
import { isSchema, type InputOf, type OutputOf, type Schema } from './schema.ts'

/** The types of a method, for the caller and for the implementation. */
export interface MethodTypes {
  /** What the caller passes, and what the implementation gets. */
  readonly given: unknown
  readonly input: unknown
  /** What the implementation returns, and what the caller gets. */
  readonly returned: unknown
  readonly output: unknown
  readonly errors: DeclaredErrors
}

/** A method of a contract, created by {@link fn} or {@link stream}. */
export interface Method<Kind extends 'fn' | 'stream' = 'fn' | 'stream', Types extends MethodTypes = MethodTypes> {
  readonly kind: Kind
  readonly input: Schema | undefined
  /** The caller sends many values; `input` is the schema of one. */
  readonly takesMany?: boolean
  readonly output: Schema | undefined
  readonly errors: Readonly<Record<string, ErrorSpec>>
  readonly idempotent: boolean
  readonly key: ((input: never) => string | number) | undefined
  readonly http: HttpMapping | undefined
  /** HTTP status of a success; undefined for 200, or 204 without a result. */
  readonly status: SuccessStatus | undefined
  readonly timeout: number | undefined
  readonly docs: string | undefined
  /** The name in gRPC, if it does not follow from the name. */
  readonly grpc?: string | undefined
  /** Clients can `enqueue` it. */
  readonly queued?: true | undefined
  /** Type only; no such property exists. */
  readonly '~types'?: Types
}

export type Methods = Readonly<Record<string, Method>>

export type TypesOf<M extends Method> = NonNullable<M['~types']>

/** A method as its caller sees it. */
export type Call<Kind, Types extends MethodTypes> = undefined extends Types['given']
  ? (input?: Types['given'], options?: CallOptions) => Answer<Kind, Types>
  : (input: Types['given'], options?: CallOptions) => Answer<Kind, Types>

type Answer<Kind, Types extends MethodTypes> = Kind extends 'stream'
  ? CallStream<Types['output'], Types['errors']>
  : CallPromise<Types['output'], Types['errors']>

/** A method as it is implemented. `Extra`: the context fields that interceptors add. */
export type Handler<M extends Method, Extra> = (
  input: TypesOf<M>['input'],
  context: InMethod<TypesOf<M>['errors'], Extra>,
) => M['kind'] extends 'stream'
  ? AsyncIterable<TypesOf<M>['returned']>
  : TypesOf<M>['returned'] | PromiseLike<TypesOf<M>['returned']>

/** Fields of interceptors may replace those of every call: metadata that a schema has converted. */
export type InMethod<E extends DeclaredErrors, Extra> = Extra extends { readonly metadata: unknown }
  ? Omit<Context<E>, 'metadata'> & Extra
  : Context<E> & Extra

/** An error that a method declares. */
export interface ErrorSpec<D = unknown> {
  /** HTTP status: 400 to 499. */
  readonly status: number
  readonly data: Schema<unknown, D> | undefined
}

type ErrorDeclaration = Schema | ErrorSpec

export interface MethodOptions<I, O, E> {
  /** Undefined: no input. */
  readonly input?: I
  /** Undefined: no result; the returned value is dropped. */
  readonly output?: O
  /**
   * Errors that the method throws by `fail(code, data)`: the schema of their data, or {@link error}
   * for a specific status.
   */
  readonly errors?: E
  /**
   * Calling it twice has the same effect as calling it once, so it may be retried. Default: false.
   */
  readonly idempotent?: boolean
  /** REST mapping, such as `GET /products/{id}`. Default: `POST /<service>/<method>`. */
  readonly http?: string
  /** The name in gRPC, such as `CreateItem`. Default: the method's own with a capital letter. */
  readonly grpc?: string
  /** Timeout in milliseconds if the caller sets none. Default: no limit. */
  readonly timeout?: number
  readonly docs?: string
}

interface Keyed<Given> {
  /** Calls with the same key go to the same instance. */
  readonly key?: (input: Given) => string | number
}

/** What the caller passes of many values. */
type Values<T> = Iterable<T> | AsyncIterable<T>

type Given<I> = I extends Many<infer S> ? Values<InputOf<S>> : Maybe<I, 'in'>
type Received<I> = I extends Many<infer S> ? AsyncIterable<OutputOf<S>> : Maybe<I, 'out'>
type Maybe<S, Side extends 'in' | 'out'> = S extends Schema ? (Side extends 'in' ? InputOf<S> : OutputOf<S>) : undefined
type Result<S, Side extends 'in' | 'out'> = S extends Schema ? Maybe<S, Side> : void

interface Succeeding {
  /**
   * HTTP status of a success: 201 for a method that creates something. Default: 200, or 204 without
   * a result.
   */
  readonly status?: SuccessStatus
}

export type SuccessStatus = 200 | 201 | 202 | 203

interface Queueing<Q> {
  /**
   * Clients get `enqueue` beside the call: the app keeps the item on disk, and runs the method at
   * least once. Default: false.
   */
  readonly queue?: Q
}

/** A method that clients can enqueue. */
export interface Queued {
  readonly queued: true
}

/** The method types that {@link fn} derives from its options. */
export interface TypesFrom<I, O, E> {
  readonly given: Given<I>
  readonly input: Received<I>
  readonly returned: Result<O, 'in'>
  readonly output: Result<O, 'out'>
  readonly errors: ErrorsFrom<NoInfer<E>>
}

/** Without inference: otherwise the constraint would decide which errors a method has. */
type ErrorsFrom<E> = {
  readonly [Code in keyof E]: E[Code] extends ErrorSpec<infer D> ? D : Maybe<E[Code], 'out'>
}

/** Defines a method with one result. */
export function fn<
  I extends Schema | Many | undefined = undefined,
  O extends Schema | undefined = undefined,
  const E extends Readonly<Record<string, ErrorDeclaration>> = {},
  const Q extends boolean = false,
>(
  options: MethodOptions<I, O, E> & Keyed<Given<I>> & Succeeding & Queueing<Q> = {},
): Method<'fn', TypesFrom<I, O, E>> & (Q extends true ? Queued : unknown) {
  return define('fn', options) as Method<'fn', TypesFrom<I, O, E>> & (Q extends true ? Queued : unknown)
}

/**
 * Defines a method that returns many values, one after the other, with backpressure. `output`
 * describes one value.
 */
export function stream<
  I extends Schema | Many | undefined = undefined,
  O extends Schema | undefined = undefined,
  const E extends Readonly<Record<string, ErrorDeclaration>> = {},
>(options: MethodOptions<I, O, E> & Keyed<Given<I>> = {}): Method<'stream', TypesFrom<I, O, E>> {
  return define('stream', options)
}

/** Declares an error with a specific status (400 to 499). Without a schema it has no data. */
export function error<S extends Schema | undefined = undefined>(status: number, data?: S): ErrorSpec<Maybe<S, 'out'>> {
  if (!Number.isInteger(status) || status < 400 || status > 499)
    throw invalid(
      `the status of a declared error is ${status}`,
      'Use a status from 400 to 499: other failures are not declared to callers.',
    )
  const checked = data && stripUndeclared(data, `the data of an error with status ${status}`)
  return { status, data: checked as Schema<unknown, Maybe<S, 'out'>> | undefined }
}

/** Options of any method. */
type AnyOptions = MethodOptions<unknown, unknown, Readonly<Record<string, ErrorDeclaration>>> &
  Keyed<never> &
  Succeeding &
  Queueing<boolean>

function define<Kind extends 'fn' | 'stream', T extends MethodTypes>(kind: Kind, options: AnyOptions): Method<Kind, T> {
  const { http, status, key, timeout, docs, grpc, idempotent = false, queue = false } = options
  if (status !== undefined && ![200, 201, 202, 203].includes(status))
    throw invalid(`the status of a method's success is ${status}`, 'Use 200, 201, 202 or 203.')
  if (timeout !== undefined && !(isTimeLimit(timeout) && timeout > 0))
    throw invalid(`the timeout of a method is ${String(timeout)}`, 'Use a number of milliseconds above 0.')
  if (grpc !== undefined && !isRpcName(grpc))
    throw invalid(`a method has the invalid gRPC name ${JSON.stringify(grpc)}`, 'Write a name such as CreateItem.')
  const one = schemaOfMany(options.input)
  if (one !== undefined && (http !== undefined || key !== undefined))
    throw invalid(
      'a method with many inputs has an HTTP mapping or a key',
      'Remove it: there is no one input to take a path or a key from.',
    )
  if (one !== undefined && queue)
    throw invalid('a method with many inputs has `queue`', 'Remove it: an item of a queue has one input.')
  const input = schemaOf(one ?? options.input, 'input')
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
    ...(grpc !== undefined && { grpc }),
    ...(one !== undefined && { takesMany: true }),
    ...(queue && { queued: true }),
  }
}

function schemaOf(value: unknown, where: string): Schema | undefined {
  if (value === undefined || isSchema(value)) return value
  throw invalid(
    `the ${where} of a method is not a Standard Schema`,
    'Use a schema of Zod 4, Valibot or ArkType, or type<T>().',
  )
}

function outputOf(value: unknown): Schema | undefined {
  const schema = schemaOf(value, 'output')
  return schema && stripUndeclared(schema, 'the output of a method')
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
      'Write codes like NOT_FOUND: upper-case letters, digits and underscores.',
    )
  if (isErrorCode(code))
    throw invalid(
      `an error is declared as ${code}, which is a code of Busbar`,
      `Throw new BusbarError('${code}', …) instead, or choose another code.`,
    )
  if (!isSchema(declared)) return [code, declared]
  const status = statusByName.find(([pattern]) => pattern.test(code))?.[1] ?? 400
  return [code, { status, data: stripUndeclared(declared, `the data of ${code}`) }]
}

function invalid(message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint })
}
