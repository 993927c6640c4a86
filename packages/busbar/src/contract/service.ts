import { contractBrand, isMethodName, type Contract } from './contract.ts'
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
  /** A service of a plain class or object, without a contract: `factory` gives the instance that answers a call. */
  from<T extends object>(name: string, factory: Factory<T>): PlainImplementation<T>
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
    from: <T extends object>(name: string, factory: Factory<T>) => (checkServiceName(name), fromFactory(name, factory)),
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
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) return
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
  if (!checksAnything(input))
    throw invalid(
      `${service}.${name} has its input in the path or the query, which are text, and no schema that says what it is`,
      'Give it a schema as input, or no `http`.',
    )
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
