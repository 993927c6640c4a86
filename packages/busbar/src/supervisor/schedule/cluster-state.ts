import type { NatsConnection } from '../../shared/cluster/connection.ts'
import { apiCode, isApiError, type KV, loadJetStream } from '../../shared/cluster/jetstream.ts'
import type { ClusterConfig } from '../../shared/hosts.ts'
import type { ScheduleState } from './schedule-state.ts'

export interface ClusterStateParts {
  readonly config: ClusterConfig
  /** The name of the app: its hosts share one schedule. */
  readonly app: string
  /** The id of this host. */
  readonly host: string
  /** Undefined while there is no server. */
  readonly connection: () => NatsConnection | undefined
  readonly log: (level: 'info' | 'warn', line: string) => void
  /** This host runs the schedule from now on, by times that it has read. */
  readonly taken: () => void
  /** Milliseconds. Default: 10,000. */
  readonly leaseTime?: number | undefined
}

/**
 * Milliseconds after which another host takes over from one that says nothing. Each host measures
 * them by its own steady clock, so clocks that are apart make no difference.
 */
const defaultLeaseTime = 10_000
/** Signs of life of the runner, and looks at it, within that time. */
const beats = 4

/** What the key of an app holds. */
interface Lease {
  /** '' if it was released. */
  readonly host: string
  /** By entry: up to then, its times were dealt with. */
  readonly times: Readonly<Record<string, number>>
}

/**
 * One runner per cluster, by one key of NATS's key-value store, which holds the runner and the
 * times that were dealt with. Each write names the revision that it replaces. So a host that was
 * cut off cannot write any more once another one has taken over; and since a run begins only when
 * its time was written, no time runs twice.
 */
export class ClusterState implements ScheduleState {
  readonly #parts: ClusterStateParts
  readonly #key: string
  readonly #leaseTime: number
  #entries: readonly string[] = []
  #times: Record<string, number> = {}
  /** Of the last write or read of this host. 0: there is no key. Undefined: it must read. */
  #revision: number | undefined
  /** The runner as it was seen, and since when it is unchanged. */
  #seen: { readonly revision: number; readonly since: number } | undefined
  #validUntil = -Infinity
  #wasRunner: boolean | undefined
  #store: { readonly connection: NatsConnection; readonly kv: Promise<KV> } | undefined
  #timer: NodeJS.Timeout | undefined
  #fault: string | undefined
  /** Operations take turns. */
  #last: Promise<unknown> = Promise.resolve()
  #writing: Promise<boolean> | undefined

  constructor(parts: ClusterStateParts) {
    this.#parts = parts
    this.#leaseTime = parts.leaseTime ?? defaultLeaseTime
    // A key has fewer characters than the name of a package.
    this.#key = Buffer.from(parts.app).toString('base64url')
  }

  open(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => void this.#inTurn(() => this.#look()), this.#leaseTime / beats).unref()
    void this.#inTurn(() => this.#look())
  }

  get isRunner(): boolean {
    return performance.now() < this.#validUntil
  }

  handled(entry: string): number | undefined {
    return this.#times[entry]
  }

  handle(entry: string, time: number): void {
    this.#times[entry] = time
    if (this.isRunner) void this.commit()
  }

  /** All calls of one turn share a write. */
  commit(): Promise<boolean> {
    this.#writing ??= this.#inTurn(async () => {
      this.#writing = undefined
      if (!this.isRunner || this.#revision === undefined) return false
      await this.#write(this.#parts.host)
      return true
    }).then((written) => written === true)
    return this.#writing
  }

  keep(entries: readonly string[]): void {
    this.#entries = entries
    this.#times = this.#kept(this.#times)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#inTurn(async () => {
      if (this.isRunner && this.#revision !== undefined) await this.#write('')
    })
    this.#validUntil = -Infinity
  }

  /** Renews the lease, takes it over, or looks whether its holder is alive. */
  async #look(): Promise<void> {
    if (this.isRunner && this.#revision !== undefined) return await this.#write(this.#parts.host)
    const kv = await this.#open()
    if (kv === undefined) return this.#report(this.isRunner)
    const entry = await kv.get(this.#key)
    const lease = entry === null ? undefined : readLease(entry.string())
    const revision = entry?.revision ?? 0
    if (this.#seen?.revision !== revision) this.#seen = { revision, since: performance.now() }
    // A write whose answer was lost may have been carried out: then the lease is this host's.
    const isFree = lease === undefined || lease.host === '' || lease.host === this.#parts.host
    if (!isFree && performance.now() - this.#seen.since < this.#leaseTime) return this.#report(false)
    this.#revision = revision
    this.#times = this.#kept(lease?.times ?? {})
    await this.#write(this.#parts.host)
    this.#parts.taken()
  }

  #kept(times: Readonly<Record<string, number>>): Record<string, number> {
    return Object.fromEntries(Object.entries(times).filter(([entry]) => this.#entries.includes(entry)))
  }

  async #write(host: string): Promise<void> {
    const kv = await this.#open()
    if (kv === undefined || this.#revision === undefined) throw new Error('there is no connection to NATS')
    const began = performance.now()
    const value = JSON.stringify({ host, times: this.#times } satisfies Lease)
    const replaced = this.#revision
    // Until the answer, nobody knows which revision there is.
    this.#revision = undefined
    try {
      const written = replaced === 0 ? kv.create(this.#key, value) : kv.update(this.#key, value, replaced)
      this.#revision = await written
    } catch (error) {
      if (isApiError(error, apiCode.wrongLastSequence)) this.#validUntil = -Infinity
      this.#report(this.isRunner)
      throw error
    }
    if (host !== '') {
      this.#validUntil = began + this.#leaseTime
      this.#report(true)
    }
  }

  /** The store by the current connection. */
  async #open(): Promise<KV | undefined> {
    const connection = this.#parts.connection()
    if (connection === undefined) return undefined
    if (this.#store?.connection !== connection) {
      const { config } = this.#parts
      const { kv } = loadJetStream(config)
      const created = new kv.Kvm(connection).create(`busbar_${config.name}_schedule`, { replicas: config.replicas })
      created.catch(() => (this.#store = undefined))
      this.#store = { connection, kv: created }
    }
    return await this.#store.kv
  }

  /** Never rejects: what fails is reported, and tried at the next beat. */
  #inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    const done = this.#last.then(work).then(
      (result) => {
        this.#fault = undefined
        return result
      },
      (error: unknown) => {
        this.#complain(error)
        return undefined
      },
    )
    this.#last = done
    return done
  }

  #complain(error: unknown): void {
    const { message } = error as Error
    const isKnown = isApiError(error, apiCode.wrongLastSequence) || this.#parts.connection() === undefined
    if (isKnown || message === this.#fault) return
    this.#fault = message
    const what = 'without it no host knows whether it runs the schedule, so none does'
    this.#parts.log('warn', `the key-value store of the cluster cannot be used: ${message}; ${what}`)
  }

  #report(isRunner: boolean): void {
    if (isRunner === this.#wasRunner) return
    this.#wasRunner = isRunner
    this.#parts.log(
      'info',
      isRunner ? 'this host runs the schedule' : 'this host does not run the schedule: another one may',
    )
  }
}

function readLease(text: string): Lease | undefined {
  try {
    const { host, times } = JSON.parse(text) as Partial<Lease>
    return typeof host === 'string' && typeof times === 'object' && times !== null ? { host, times } : undefined
  } catch {
    return undefined
  }
}
