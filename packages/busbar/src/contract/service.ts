import { contractBrand, isMethodName, isServiceName, type Contract } from './contract.ts'
import type { Context } from './context.ts'
import { BusbarError } from './errors.ts'
import type { Interceptor } from './host/interceptors.ts'
import { implementContract, type Implementation, type Implementing } from './implementation.ts'
import type { Method, Methods } from './method.ts'
import { fromFactory, type Factory, type PlainImplementation } from './plain.ts'
import { hasQuery } from './http/mapping.ts'
import { checksAnything, isSchema, type OutputOf, type Schema } from './schema.ts'

/** A contract, and how it is implemented. `Extra`: what the interceptors so far put into every context. */
export interface Service<M extends Methods, Extra = object> extends Contract<M> {
  /** Puts an interceptor around every call, inside of those before it. */
  use<More extends object = object>(interceptor: Interceptor<More>): Service<M, Extra & More>
  /** The same contract, for implementations that rely on what the app's interceptors put into every context. */
  expects<More extends object>(): Service<M, Extra & More>
  implement(implementing: Implementing<M, Extra>): Implementation<M>
}

export interface ServiceOptions<S extends Schema | undefined = undefined> {
  /** For people. */
  readonly docs?: string
  /**
   * Of what callers say beside their inputs, over HTTP their headers, by names in lower case. What it does not take is
   * refused with INPUT_INVALID; what it makes of it is the context's `metadata`.
   */
  readonly metadata?: S
}

interface ServiceFunction {
  /**
   * A contract. `name` is a DNS label: services are called by it. Throws CONTRACT_INVALID for what cannot be a name, a
   * method or a mapping.
   */
  <const M extends Methods, S extends Schema | undefined = undefined>(
    name: string,
    methods: M,
    options?: ServiceOptions<S>,
  ): Service<M, S extends Schema ? { readonly metadata: OutputOf<S> } : object>
  /**
   * A service of a plain class or object, without a contract: `factory` is given a call's context and gives the instance that
   * answers it. It may name what interceptors put there: `(context: Context & { user: User }) => …`.
   */
  from<T extends object, C extends Context = Context>(name: string, factory: Factory<T, C>): PlainImplementation<T>
}

export const service: ServiceFunction = Object.assign(
  <const M extends Methods>(
    name: string,
    methods: M,
    { docs, metadata }: ServiceOptions<Schema | undefined> = {},
  ): Service<M, never> => {
    checkServiceName(name)
    if (metadata !== undefined && !isSchema(metadata))
      throw invalid(`the metadata of ${name} is no Standard Schema`, 'Zod 4, Valibot and ArkType have such schemas.')
    for (const [method, spec] of Object.entries(methods)) checkMethod(name, method, spec)
    checkMappings(name, methods)
    return build({ [contractBrand]: true, name, methods, docs, metadata }, [])
  },
  {
    from: <T extends object, C extends Context>(name: string, factory: Factory<T, C>) => (
      checkServiceName(name),
      fromFactory(name, factory)
    ),
  },
)

function build<M extends Methods, Extra>(
  contract: Contract<M>,
  interceptors: readonly Interceptor[],
): Service<M, Extra> {
  return {
    ...contract,
    use: (interceptor) => build(contract, [...interceptors, interceptor as unknown as Interceptor]),
    expects: () => build(contract, interceptors),
    implement: (implementing) => implementContract(contract, interceptors, implementing),
  }
}

function checkServiceName(name: string): void {
  if (isServiceName(name)) return
  throw invalid(
    `${JSON.stringify(name)} is no name of a service`,
    'A name is a DNS label: small letters, digits and hyphens.',
  )
}

function checkMethod(service: string, name: string, spec: Method): void {
  if (!isMethodName(name))
    throw invalid(
      `${service} has a method ${JSON.stringify(name)}`,
      'Methods begin with a letter and are not called then, constructor or the like.',
    )
  if (spec?.kind !== 'fn' && spec?.kind !== 'stream')
    throw invalid(`${service}.${name} is no method`, 'Make it by fn() or stream().')
  const { http, input } = spec
  if (http === undefined || (http.parameters.length === 0 && !hasQuery(http)) || input === undefined) return
  const coerced = coercedField(input, hasQuery(http) ? undefined : http.parameters)
  if (coerced !== undefined)
    throw invalid(
      `${service}.${name} has ${coerced} in the path or the query, and a schema that makes true of every text, of 'false' too`,
      'Use z.boolean() or v.boolean(): true and false are read as such. z.stringbool() also takes yes and no.',
    )
  if (!checksAnything(input))
    throw invalid(
      `${service}.${name} has its input in the path or the query, which are text, and no schema that says what it is`,
      'Give it a schema as input, or no `http`.',
    )
}

interface WithFields {
  /** Zod, and Valibot. */
  readonly shape?: Readonly<Record<string, unknown>>
  readonly entries?: Readonly<Record<string, unknown>>
}

/** A field that takes a text for its truth, as `z.coerce.boolean()` does. `names`: those to look at; undefined for all. */
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
        'Give one of them another path.',
      )
    taken.set(shape, name)
  }
}

function invalid(message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint })
}
