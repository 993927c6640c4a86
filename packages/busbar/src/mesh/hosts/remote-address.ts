import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { ErrorRecord } from '../../contract/errors.ts'
import { addressText, type HostAddress } from '../../shared/hosts.ts'
import type { HostConnection } from './host-connection.ts'

/** Milliseconds between two lookups of a name. */
const lookupInterval = 30_000
/** Milliseconds until a name that could not be looked up is tried again. */
const retryInterval = 2_000

export interface RemoteAddressParts {
  readonly address: HostAddress
  readonly connect: (ip: string) => HostConnection
  /** Default: the system's resolver. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
}

/**
 * An address of the config. A name may have many records, which come and go: each has a connection
 * of its own.
 */
export class RemoteAddress {
  readonly #parts: RemoteAddressParts
  readonly #connections = new Map<string, HostConnection>()
  readonly #tried: Promise<void>
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #fault: string | undefined

  constructor(parts: RemoteAddressParts) {
    this.#parts = parts
    this.#tried = this.#resolve()
  }

  get connections(): readonly HostConnection[] {
    return [...this.#connections.values()]
  }

  /** Why calls go to none of its hosts. */
  get faults(): readonly string[] {
    if (this.#connections.size === 0) return [this.#fault ?? `${addressText(this.#parts.address)} is being looked up`]
    return this.connections.flatMap(({ fault }) => fault ?? [])
  }

  /** Resolves when each of its hosts was dialled once. */
  async tried(): Promise<void> {
    await this.#tried
    await Promise.all(this.connections.map(({ tried }) => tried))
  }

  close(reason: ErrorRecord): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const connection of this.#connections.values()) connection.close(reason)
  }

  async #resolve(): Promise<void> {
    const { host } = this.#parts.address
    if (isIP(host) !== 0) return this.#use([host])
    let wait = lookupInterval
    try {
      this.#use(await (this.#parts.resolve ?? recordsOf)(host))
    } catch (error) {
      // The previous records stay in use.
      this.#fault = `${host} cannot be looked up: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`
      wait = retryInterval
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#resolve(), wait).unref()
  }

  #use(records: readonly string[]): void {
    if (this.#isClosed || records.length === 0) return
    for (const ip of records) if (!this.#connections.has(ip)) this.#connections.set(ip, this.#parts.connect(ip))
    for (const [ip, connection] of this.#connections) {
      if (records.includes(ip)) continue
      this.#connections.delete(ip)
      connection.retire()
    }
  }
}

async function recordsOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
