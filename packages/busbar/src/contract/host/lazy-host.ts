import { client, type ClientFunction } from '../client.ts'
import type { Contract } from '../contract.ts'
import type { Log } from '../context.ts'
import type { Implementation } from '../implementation.ts'
import { localTransport } from '../local.ts'
import type { Transport } from '../transport.ts'
import { defaultMaxInFlight, startHost, type HostOptions, type TypedHost } from './host.ts'

export interface LazyOptions {
  readonly log: Log
  /** Services that it calls, in this very process. */
  readonly calls: readonly Implementation[]
  readonly exactness?: HostOptions['exactness']
}

/** A service that is started by the first request for it, in whatever server it is mounted. */
export class LazyHost {
  readonly #implementation: Implementation
  readonly #options: LazyOptions
  readonly #callees: Transport | undefined
  #starting: Promise<TypedHost> | undefined

  constructor(implementation: Implementation, options: LazyOptions) {
    const { log, calls } = options
    this.#implementation = implementation
    this.#options = options
    if (calls.length > 0) this.#callees = localTransport(calls, client, { log })
  }

  /** Rejects, each time, with what the start threw. */
  get(): Promise<TypedHost> {
    const { name } = this.#implementation.contract
    const { log, exactness } = this.#options
    return (this.#starting ??= startHost(this.#implementation, {
      name,
      log,
      clone: false,
      maxInFlight: defaultMaxInFlight,
      client: this.#client(),
      ...(exactness && { exactness }),
    }))
  }

  /** Ends what is in flight. */
  async stop(): Promise<void> {
    await (await this.#starting?.catch(() => undefined))?.stop(0)
    await this.#callees?.close()
  }

  /** What it calls is there, unless it says where else. */
  #client(): ClientFunction {
    const callees = this.#callees
    if (callees === undefined) return client
    const within = (contract: Contract, ...rest: unknown[]): unknown =>
      Reflect.apply(client as never, undefined, rest.length === 0 ? [contract, callees] : [contract, ...rest])
    return within as ClientFunction
  }
}
