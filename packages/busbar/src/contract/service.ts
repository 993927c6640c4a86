import { contractBrand, isMethodName, isServiceName, type Contract } from './contract.ts'
import type { Context } from './context.ts'
import { BusbarError } from './errors.ts'
import { type Subscription, type Subscriptions, toSubscriptions } from './events/subscription.ts'
import type { Topic, Topics } from './events/topic.ts'
import type { Interceptor } from './host/interceptors.ts'
import { implementContract, type Implementation, type ImplementationSource } from './implementation.ts'
import type { Method, Methods } from './method.ts'
import { implementFactory, type Factory, type PlainImplementation } from './plain-service.ts'
import type { ProtoLock } from './protobuf/lock-types.ts'
import { parseFullServiceName } from './protobuf/syntax.ts'
import { hasQuery } from './http/mapping/http-mapping.ts'
import { checksAnything, isSchema, type OutputOf, type Schema } from './schema.ts'

/**
 * A contract and the functions to implement it. `Extra`: the context fields that interceptors have
 * added so far.
 */
export interface Service<
  M extends Methods,
  Extra = object,
  T extends Topics = {},
  S extends Subscriptions = {},
> extends Contract<M, T> {
  readonly topics: T
  /** Adds an interceptor around every call, inside those added before. */
  use<More extends object = object>(interceptor: Interceptor<More>): Service<M, Extra & More, T, S>
  /**
   * The same contract, for an implementation that relies on context fields of the app's
   * interceptors. Affects only types.
   */
  expects<More extends object>(): Service<M, Extra & More, T, S>
  /**
   * The same contract, for an implementation with handlers of events: `{ welcome:
   * orders.topics.placed }` asks for a function `welcome`. It is no part of the contract.
   */
  subscribe<const More extends Subscriptions>(subscriptions: More): Service<M, Extra, T, S & More>
  implement(implementing: ImplementationSource<M, Extra, S>): Implementation<M>
}

export interface ServiceOptions<S extends Schema | undefined = undefined> {
  /** A description for people. */
  readonly docs?: string
  /**
   * Schema of the metadata that callers send, over HTTP the headers with lower-case names. Invalid
   * metadata fails with INPUT_INVALID. The validated result is the context's `metadata`.
   */
  readonly metadata?: S
  /**
   * The full name in gRPC, such as `rpz.ItemService`. Default: `items.ItemsService` for `items`.
   */
  readonly grpc?: string
  /**
   * The content of `proto.lock.json`, for callers over gRPC: the numbers of the fields. Without it,
   * both sides need the same version of the contract.
   */
  readonly protoLock?: ProtoLock
}

/** What a contract declares: methods and topics, by name. */
type Declarations = Readonly<Record<string, Method | Topic>>

type MethodsOf<D extends Declarations> = D extends Methods
  ? D
  : { readonly [Name in keyof D as D[Name] extends Method ? Name : never]: Extract<D[Name], Method> }

type TopicsOf<D extends Declarations> = {
  readonly [Name in keyof D as D[Name] extends Topic ? Name : never]: Extract<D[Name], Topic>
}

interface ServiceFunction {
  /**
   * Defines a contract. `name` is a DNS label: the service's address. Throws CONTRACT_INVALID for
   * an invalid name, method, topic or mapping.
   */
  <const D extends Declarations, S extends Schema | undefined = undefined>(
    name: string,
    declared: D,
    options?: ServiceOptions<S>,
  ): Service<MethodsOf<D>, S extends Schema ? { readonly metadata: OutputOf<S> } : object, TopicsOf<D>>
  /**
   * Defines a service of a plain class or object, without a contract: `factory` gets the call's
   * context and returns the instance that answers. Its parameter may declare what interceptors add:
   * `(context: Context & { user: User }) => …`.
   */
  from<T extends object, C extends Context = Context>(name: string, factory: Factory<T, C>): PlainImplementation<T>
}

export const service: ServiceFunction = Object.assign(
  (
    name: string,
    declared: Declarations,
    { docs, metadata, grpc, protoLock }: ServiceOptions<Schema | undefined> = {},
  ): Service<never, never, never> => {
    checkServiceName(name)
    if (metadata !== undefined && !isSchema(metadata))
      throw invalid(`the metadata of ${name} is not a Standard Schema`, 'Use a schema of Zod 4, Valibot or ArkType.')
    if (grpc !== undefined && parseFullServiceName(grpc) === undefined)
      throw invalid(
        `${name} has the invalid gRPC name ${JSON.stringify(grpc)}`,
        'Write a package and a service, such as rpz.ItemService.',
      )
    const { methods, topics } = split(name, declared)
    for (const [method, spec] of Object.entries(methods)) checkMethod(name, method, spec)
    checkMappings(name, methods)
    const protobuf = { ...(grpc !== undefined && { grpc }), ...(protoLock !== undefined && { protoLock }) }
    return build({ [contractBrand]: true, name, methods, topics, docs, metadata, ...protobuf }, [], []) as never
  },
  {
    from: <T extends object, C extends Context>(name: string, factory: Factory<T, C>) => (
      checkServiceName(name),
      implementFactory(name, factory)
    ),
  },
)

type DeclaredContract<M extends Methods, T extends Topics> = Contract<M, T> & { readonly topics: T }

function build<M extends Methods, Extra, T extends Topics, S extends Subscriptions>(
  contract: DeclaredContract<M, T>,
  interceptors: readonly Interceptor[],
  subscriptions: readonly Subscription[],
): Service<M, Extra, T, S> {
  return {
    ...contract,
    use: (interceptor) => build(contract, [...interceptors, interceptor as unknown as Interceptor], subscriptions),
    expects: () => build(contract, interceptors, subscriptions),
    subscribe: (more) =>
      build(contract, interceptors, toSubscriptions(contract.name, contract.methods, more, subscriptions)),
    implement: (implementing) => implementContract(contract, interceptors, subscriptions, implementing),
  }
}

/** Topics learn where they belong. */
function split(service: string, declared: Declarations): { methods: Methods; topics: Topics } {
  const methods: Record<string, Method> = {}
  const topics: Record<string, Topic> = {}
  for (const [name, one] of Object.entries(declared)) {
    if (one?.kind !== 'topic') methods[name] = one
    else if (isMethodName(name)) topics[name] = { ...one, service, name }
    else throw invalid(`${service} has the invalid topic name ${JSON.stringify(name)}`, 'Begin it with a letter.')
  }
  return { methods, topics }
}

function checkServiceName(name: string): void {
  if (isServiceName(name)) return
  throw invalid(
    `${JSON.stringify(name)} is not a valid service name`,
    'A name is a DNS label: lower-case letters, digits and hyphens.',
  )
}

function checkMethod(service: string, name: string, spec: Method): void {
  if (!isMethodName(name))
    throw invalid(
      `${service} has the invalid method name ${JSON.stringify(name)}`,
      'Method names begin with a letter; then, constructor and the like are reserved.',
    )
  if (spec?.kind !== 'fn' && spec?.kind !== 'stream')
    throw invalid(`${service}.${name} is not a method`, 'Define it by fn() or stream().')
  const { http, input } = spec
  if (http === undefined || (http.parameters.length === 0 && !hasQuery(http)) || input === undefined) return
  const coerced = coercedField(input, hasQuery(http) ? undefined : http.parameters)
  if (coerced !== undefined)
    throw invalid(
      `${service}.${name} has ${coerced} in the path or the query, and a schema that converts every text to true, even 'false'`,
      'Use z.boolean() or v.boolean(), which read true and false. z.stringbool() also accepts yes and no.',
    )
  if (!checksAnything(input))
    throw invalid(
      `${service}.${name} has its input in the path or the query, which are text, but no schema that defines its type`,
      'Add an input schema, or remove `http`.',
    )
}

interface WithFields {
  /** The fields of a Zod or Valibot object. */
  readonly shape?: Readonly<Record<string, unknown>>
  readonly entries?: Readonly<Record<string, unknown>>
}

/**
 * Finds a field that converts text by its truthiness, as `z.coerce.boolean()` does. `names`: the
 * fields to check; undefined for all.
 */
function coercedField(input: Schema, names: readonly string[] | undefined): string | undefined {
  const { shape, entries } = input as WithFields
  const fields = Object.entries(shape ?? entries ?? {})
  const coerces = (schema: unknown): boolean => isSchema(schema) && becomes(schema, 'false', true)
  return fields.find(([name, schema]) => (names?.includes(name) ?? true) && coerces(schema))?.[0]
}

function becomes(schema: Schema, given: unknown, expected: unknown): boolean {
  try {
    const result = schema['~standard'].validate(given)
    if (result instanceof Promise) void result.catch(() => {})
    return !(result instanceof Promise) && result.issues === undefined && result.value === expected
  } catch {
    return false
  }
}

function checkMappings(service: string, methods: Methods): void {
  const taken = new Map<string, string>()
  for (const [name, { http }] of Object.entries(methods)) {
    if (http === undefined) continue
    const shape = `${http.verb} ${http.path.replace(/\{\w+\}/g, '{}')}`
    const other = taken.get(shape)
    if (other !== undefined)
      throw invalid(
        `${service}.${other} and ${service}.${name} have the same HTTP mapping`,
        'Change the path of one of them.',
      )
    taken.set(shape, name)
  }
}

function invalid(message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint })
}
