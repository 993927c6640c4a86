import type { CallOptions } from '../call/call-types.ts'
import type { ClientFunction, LocalOptions } from './client-types.ts'
import type { Contract } from '../contract.ts'
import { publisherBy, type PublisherFunction } from '../events/publisher.ts'
import { type Delivery, keyOf, type Topic } from '../events/topic.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from '../host/typed-host.ts'
import { serviceUnknown } from '../host/unknown-names.ts'
import { deferredStream } from './deferred-stream.ts'
import type { HostedMethod } from '../host/hosted-method.ts'
import type { Implementation } from '../implementation.ts'
import type { Method } from '../method.ts'
import { cloneValue } from '../value/clone.ts'
import type { BoundMethod, CallTransport } from './transport.ts'

/**
 * Calls implementations in the same thread. They start at the first call and stop with the client.
 */
export function localTransport(
  implementations: readonly Implementation[],
  client: ClientFunction,
  options: LocalOptions,
): CallTransport {
  const among = { client: clientAmong as ClientFunction, publisher: publisherAmong }
  const services = new Map(implementations.map((one) => [one.contract.name, new Local(one, options, among)]))
  const transport: CallTransport = {
    bind(contract, name, method) {
      const service = services.get(contract.name)
      if (service === undefined) throw serviceUnknown(contract.name, [...services.keys()])
      return service.bind(contract, name, method)
    },
    async close() {
      for (const service of services.values()) await service.close()
    },
  }
  // Calls of these services without a target stay among them.
  function clientAmong(contract: Contract, ...rest: unknown[]): unknown {
    return Reflect.apply(client as never, undefined, rest.length === 0 ? [contract, transport] : [contract, ...rest])
  }
  // Their events too.
  function publisherAmong(...[contract]: Parameters<PublisherFunction>): never {
    return publisherBy(contract, async (topic, _reach, value): Promise<Delivery> => {
      const copy = cloneValue(value)
      const outcomes = await Promise.all([...services.values()].map((one) => one.accept(topic, copy)))
      const accepted = outcomes.filter((outcome) => outcome === true).length
      return { accepted, dropped: outcomes.filter((outcome) => outcome === false).length }
    }) as never
  }
  return transport
}

interface Among {
  readonly client: ClientFunction
  readonly publisher: PublisherFunction
}

class Local {
  readonly #implementation: Implementation
  readonly #options: LocalOptions
  readonly #among: Among
  readonly #checked: boolean
  #host: TypedHost | undefined
  #starting: Promise<TypedHost> | undefined

  constructor(implementation: Implementation, options: LocalOptions, among: Among) {
    this.#implementation = implementation
    this.#options = options
    this.#among = among
    this.#checked = options.validate !== 'edge'
  }

  bind(_contract: Contract, name: string, method: Method | undefined): BoundMethod {
    const checked = this.#checked
    let hosted: HostedMethod | undefined
    const call: BoundMethod = (input, options) => {
      if (hosted !== undefined) return hosted.call(input, options ?? none, checked)
      return this.#start().then((host) => (hosted = host.method(name)).call(input, options ?? none, checked))
    }
    if (method?.kind !== 'stream') return call
    return (input, options) => deferredStream(async () => this.#open(await this.#start(), name, input, options))
  }

  /** Undefined if it does not subscribe to the topic. */
  async accept(topic: Topic, value: unknown): Promise<boolean | undefined> {
    const key = keyOf(topic)
    if (this.#implementation.subscriptions?.some((one) => one.topic === key) !== true) return undefined
    const { events } = await this.#start()
    return events?.accept(key, cloneValue(value), { caller: topic.service, hops: 1, trace: undefined }) === true
  }

  async close(): Promise<void> {
    const host = await this.#starting?.catch(() => undefined)
    await host?.stop(0)
  }

  #open(host: TypedHost, name: string, input: unknown, options: CallOptions | undefined): AsyncIterator<unknown> {
    const hosted = host.method(name)
    return hosted.stream(input, hosted.open(options ?? none), this.#checked)
  }

  #start(): Promise<TypedHost> {
    if (this.#host !== undefined) return Promise.resolve(this.#host)
    const { clone = isDevelopment(), log = console } = this.#options
    return (this.#starting ??= startHost(this.#implementation, {
      name: this.#implementation.contract.name,
      log,
      clone,
      maxInFlight: defaultMaxInFlight,
      ...this.#among,
    }))
  }
}

const none: CallOptions = Object.freeze({})

function isDevelopment(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.['NODE_ENV'] !== 'production'
}
