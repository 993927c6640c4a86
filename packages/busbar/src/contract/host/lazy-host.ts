import { client } from '../client/client.ts'
import type { ClientFunction } from '../client/client-types.ts'
import type { Contract } from '../contract.ts'
import type { Log } from '../context.ts'
import { BusbarError } from '../errors.ts'
import type { Implementation } from '../implementation.ts'
import { localTransport } from '../client/local-transport.ts'
import type { CallTransport } from '../client/transport.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from './typed-host.ts'

export interface LazyOptions {
  readonly log: Log
  /** Implementations of services that it calls, in the same process. */
  readonly calls: readonly Implementation[]
}

/** A service that is started by its first request, in whatever server it is mounted. */
export class LazyHost {
  readonly #implementation: Implementation
  readonly #options: LazyOptions
  readonly #callees: CallTransport | undefined
  #starting: Promise<TypedHost> | undefined

  constructor(implementation: Implementation, options: LazyOptions) {
    const { log, calls } = options
    this.#implementation = implementation
    this.#options = options
    if (calls.length > 0) this.#callees = localTransport(calls, client, { log })
  }

  /** Rejects with SERVICE_UNAVAILABLE at every call if the start failed; the log has the cause. */
  async get(): Promise<TypedHost> {
    try {
      return await this.#start()
    } catch (thrown) {
      const { name } = this.#implementation.contract
      this.#options.log.error(`${name} did not start: ${thrown instanceof Error ? thrown.stack : String(thrown)}`)
      throw new BusbarError('SERVICE_UNAVAILABLE', { message: `service '${name}' did not start`, service: name })
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

  /** Cancels calls in flight. */
  async stop(): Promise<void> {
    await (await this.#starting?.catch(() => undefined))?.stop(0)
    await this.#callees?.close()
  }

  /** Calls without a target go to the given implementations. */
  #client(): ClientFunction {
    const callees = this.#callees
    if (callees === undefined) return client
    const clientAmong = (contract: Contract, ...rest: unknown[]): unknown =>
      Reflect.apply(client as never, undefined, rest.length === 0 ? [contract, callees] : [contract, ...rest])
    return clientAmong as ClientFunction
  }
}
