import { client, type ClientFunction } from '../client.ts'
import type { Contract } from '../contract.ts'
import type { Log } from '../context.ts'
import { BusbarError } from '../errors.ts'
import type { Implementation } from '../implementation.ts'
import { localTransport } from '../local.ts'
import type { Transport } from '../transport.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from './host.ts'

export interface LazyOptions {
  readonly log: Log
  /** Services that it calls, in this very process. */
  readonly calls: readonly Implementation[]
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

  /** Rejects, each time, with SERVICE_UNAVAILABLE: what the start threw is for the log. */
  async get(): Promise<TypedHost> {
    try {
      return await this.#start()
    } catch (thrown) {
      const { name } = this.#implementation.contract
      this.#options.log.error(`${name} did not start: ${thrown instanceof Error ? thrown.stack : String(thrown)}`)
      throw new BusbarError('SERVICE_UNAVAILABLE', { message: `service ${name} did not start`, service: name })
    }
  }

  #start(): Promise<TypedHost> {
    const { name } = this.#implementation.contract
    const { log } = this.#options
    return (this.#starting ??= startHost(this.#implementation, {
      name,
      log,
      clone: false,
      maxInFlight: defaultMaxInFlight,
      client: this.#client(),
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
