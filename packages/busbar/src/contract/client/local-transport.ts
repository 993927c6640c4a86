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
import type { Enqueued, NewItem } from '../queues/enqueue.ts'
import { decodeJson } from '../value/decode.ts'
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
    enqueue: async (item) => {
      const service = services.get(item.service)
      if (service === undefined) throw serviceUnknown(item.service, [...services.keys()])
      return await service.enqueue(item)
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
  #items = 0
  /** Items that have not begun. */
  readonly #delayed = new Set<ReturnType<typeof setTimeout>>()
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

  /** Runs it once, in a later turn: nothing is kept, and nothing is repeated. */
  async enqueue({ method, input, metadata, ...item }: Omit<NewItem, 'spec'>): Promise<Enqueued> {
    const host = await this.#start()
    const hosted = host.method(method)
    const id = item.id ?? `${++this.#items}`
    const delivery = { id, attempt: 1, enqueuedAt: Date.now() }
    const value = input === undefined ? undefined : decodeJson(input)
    const timer = setTimeout(() => {
      this.#delayed.delete(timer)
      const { log = console } = this.#options
      hosted.call(value, { metadata, delivery }, this.#checked).catch((error: unknown) => {
        log.error(`${host.name}.${method} has failed for the item ${id}: ${String(error)}`)
      })
    }, item.delay)
    this.#delayed.add(timer)
    return { id, duplicate: false }
  }

  async close(): Promise<void> {
    for (const timer of this.#delayed) clearTimeout(timer)
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
