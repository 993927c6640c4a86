import type { CallOptions } from './calls.ts'
import type { ClientFunction } from './client.ts'
import type { Contract } from './contract.ts'
import type { Log } from './context.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from './host/host.ts'
import { serviceUnknown } from './host/unknown.ts'
import { deferredStream } from './host/deferred-stream.ts'
import type { HostedMethod } from './host/hosted-method.ts'
import type { Implementation } from './implementation.ts'
import type { Method } from './method.ts'
import type { BoundMethod, Transport } from './transport.ts'

export interface LocalOptions {
  /** Copies arguments and results, as a network would. Default: unless `NODE_ENV` is `production`. */
  readonly clone?: boolean
  /** `edge`: schemas are only asked at the edge, and not for calls in one thread. Default: `always`. */
  readonly validate?: 'always' | 'edge'
  /** Default: the console. */
  readonly log?: Log
}

/** Calls implementations in this very thread. They are started by the first call, and stopped with the client. */
export function localTransport(
  implementations: readonly Implementation[],
  client: ClientFunction,
  options: LocalOptions,
): Transport {
  const services = new Map(implementations.map((one) => [one.contract.name, new Local(one, options, within)]))
  const transport: Transport = {
    bind(contract, name, method) {
      const service = services.get(contract.name)
      if (service === undefined) throw serviceUnknown(contract.name, [...services.keys()])
      return service.bind(contract, name, method)
    },
    async close() {
      for (const service of services.values()) await service.close()
    },
  }
  // What these services call is among them, unless they say where it is.
  function within(contract: Contract, ...rest: unknown[]): unknown {
    return Reflect.apply(client as never, undefined, rest.length === 0 ? [contract, transport] : [contract, ...rest])
  }
  return transport
}

class Local {
  readonly #implementation: Implementation
  readonly #options: LocalOptions
  readonly #client: unknown
  readonly #checked: boolean
  #host: TypedHost | undefined
  #starting: Promise<TypedHost> | undefined

  constructor(implementation: Implementation, options: LocalOptions, client: unknown) {
    this.#implementation = implementation
    this.#options = options
    this.#client = client
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
      client: this.#client as ClientFunction,
    }))
  }
}

const none: CallOptions = Object.freeze({})

function isDevelopment(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.['NODE_ENV'] !== 'production'
}
