import { client } from '../client.ts'
import type { Log } from '../context.ts'
import type { Implementation } from '../implementation.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from './host.ts'

/** A service that is started by the first request for it, in whatever server it is mounted. */
export class LazyHost {
  readonly #implementation: Implementation
  readonly #log: Log
  #starting: Promise<TypedHost> | undefined

  constructor(implementation: Implementation, log: Log) {
    this.#implementation = implementation
    this.#log = log
  }

  /** Rejects, each time, with what the start threw. */
  get(): Promise<TypedHost> {
    const { name } = this.#implementation.contract
    const options = { name, log: this.#log, clone: false, maxInFlight: defaultMaxInFlight, client }
    return (this.#starting ??= startHost(this.#implementation, options))
  }

  /** Ends what is in flight. */
  async stop(): Promise<void> {
    await (await this.#starting?.catch(() => undefined))?.stop(0)
  }
}
