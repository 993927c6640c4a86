import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { ErrorRecord } from '../../contract/errors.ts'
import { addressText, type HostAddress, type HostReport } from '../../shared/hosts.ts'
import type { HostConnection } from './host-connection.ts'

/** Milliseconds between two lookups of a name. */
const lookupInterval = 30_000
/** Milliseconds until a name that could not be looked up is tried again. */
const retryInterval = 2_000

export interface RemoteAddressParts {
  readonly address: HostAddress
  /** What this app calls there. */
  readonly services: readonly string[]
  readonly connect: (ip: string) => HostConnection
  readonly log: (level: 'info' | 'warn', line: string) => void
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
    if (this.#connections.size === 0) return [this.#unresolved]
    return this.connections.flatMap(({ fault }) => fault ?? [])
  }

  /** Its hosts. While its name has no record yet, the address itself. */
  get reports(): readonly HostReport[] {
    if (this.#connections.size > 0) return this.connections.map(({ report }) => report)
    const never = { app: undefined, version: undefined, lastReceivedAt: undefined, services: [], withheld: [] }
    const { address, services: calls } = this.#parts
    return [{ ...never, name: addressText(address), state: 'unlinked', why: this.#unresolved, calls }]
  }

  get #unresolved(): string {
    return this.#fault ?? `${addressText(this.#parts.address)} is being looked up`
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
    try {
      this.#use(await (this.#parts.resolve ?? recordsOf)(host))
      this.#setFault(undefined)
    } catch (error) {
      // The previous records stay in use.
      const { code, message } = error as NodeJS.ErrnoException
      this.#setFault(`${host} cannot be looked up: ${code ?? message}`)
    }
    const wait = this.#fault === undefined ? lookupInterval : retryInterval
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#resolve(), wait).unref()
  }

  /** A name that stays unknown is one line of the log. */
  #setFault(fault: string | undefined): void {
    const { address, log } = this.#parts
    if (fault !== undefined && this.#fault === undefined) log('warn', `${fault}; it is tried until it can`)
    if (fault === undefined && this.#fault !== undefined) log('info', `${address.host} can be looked up again`)
    this.#fault = fault
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
