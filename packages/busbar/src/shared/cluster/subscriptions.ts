import { setImmediate as turn } from 'node:timers/promises'
import type { Msg as NatsMessage, NatsConnection } from '@nats-io/transport-node'
import { backoff } from '../time/backoff.ts'
import { RepeatedLines } from '../output/repeated-lines.ts'

export interface SubscribeOptions {
  /** Of the subscribers of one group, one gets each message. */
  readonly queue?: string | undefined
  /** For the log: what does not work without it. */
  readonly without: string
  readonly callback: (message: NatsMessage) => void
}

/** A subscription that stays until it is ended here, also if the server refuses it for a while. */
export interface KeptSubscription {
  unsubscribe(): void
  /** Resolves when what has arrived was read. */
  drain(): Promise<void>
}

export interface SubscriptionsParts {
  readonly connection: NatsConnection
  /** For the log. */
  readonly servers: string
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** `objection`: what the server has said. */
export type MessageRefused = (subject: string, objection: string) => void

/** A server logs each refusal, so what is refused for good is not asked for often. */
const slower = 6
/** Subscriptions that one line of the log names. */
const maxNamed = 8

/**
 * The subscriptions by one connection. A server can refuse them at any time: when its config is
 * reloaded with other permissions, or at its `max_subscriptions`. It says so later, does not always
 * say which one it means, and does not say when it permits one again. The client takes a report of
 * one for another of the same subject, or for none. So those that the server may not have are made
 * again, one at a time, until it does not object.
 */
export class Subscriptions {
  readonly #parts: SubscriptionsParts
  readonly #lines: RepeatedLines
  readonly #all = new Set<Kept>()
  /** The server may not have them. */
  readonly #doubtful = new Set<Kept>()
  /** The server had objected when they were made last. */
  readonly #refused = new Set<Kept>()
  /** The one that is being made again. */
  #asked: Kept | undefined
  /** The server's last objection. */
  #objection = ''
  #failures = 0
  #isReviewing = false
  #messageRefused: MessageRefused = () => {}
  /** It waits for long, so what is new does not wait for the same. */
  #isPatient = false
  #wake: () => void = () => {}

  constructor(parts: SubscriptionsParts) {
    this.#parts = parts
    this.#lines = new RepeatedLines((_, line) => parts.log('warn', line))
    void this.#watch()
  }

  subscribe(subject: string, options: SubscribeOptions): KeptSubscription {
    const kept = new Kept(this.#parts.connection, subject, {
      ...options,
      callback: (message) => this.#receive(message, options),
    })
    this.#all.add(kept)
    return {
      unsubscribe: () => {
        this.#all.delete(kept)
        kept.end()
      },
      drain: async () => {
        this.#all.delete(kept)
        await kept.drain()
      },
    }
  }

  /** Calls `refused` when the server takes no message to a subject of this connection. */
  onMessageRefused(refused: MessageRefused): void {
    this.#messageRefused = refused
  }

  /** What does not work. Undefined: the server refuses nothing. */
  get fault(): string | undefined {
    const refused = this.#still(this.#refused)
    return refused.length === 0 ? undefined : `NATS at ${this.#parts.servers} refuses ${list(refused)}`
  }

  /** Anybody in the cluster may send anything. */
  #receive(message: NatsMessage, { callback }: SubscribeOptions): void {
    try {
      callback(message)
    } catch (error) {
      const { subject } = message
      this.#lines.add('warn', `a message of NATS at ${subject} is not answered: ${(error as Error).message}`, subject)
    }
  }

  /** Never rejects. Ends with the connection. */
  async #watch(): Promise<void> {
    for await (const status of this.#parts.connection.status()) if (status.type === 'error') this.#objects(status.error)
    this.#wake()
    this.#lines.close()
  }

  #objects(error: Error): void {
    const affected = this.#affectedBy(error)
    if (affected.length === 0) {
      const { operation, subject } = objectOf(error)
      if (operation === 'publish' && subject !== undefined) this.#messageRefused(subject, error.message)
      return this.#lines.add('warn', `NATS at ${this.#parts.servers} refuses something: ${error.message}`)
    }
    this.#objection = error.message
    const asked = affected.find((one) => one === this.#asked)
    if (asked !== undefined) {
      asked.isRefused = true
      return
    }
    for (const one of affected) this.#doubtful.add(one)
    if (this.#isPatient) {
      this.#failures = 0
      this.#wake()
    }
    void this.#review()
  }

  #affectedBy(error: Error): readonly Kept[] {
    if (isLimit(error.message))
      // The server has those before the first one that it has refused, but does not name that.
      return this.#asked === undefined ? [...this.#all] : [this.#asked]
    const { operation, subject } = objectOf(error)
    return operation === 'subscription' ? [...this.#all].filter((one) => one.subject === subject) : []
  }

  /** Never rejects. */
  async #review(): Promise<void> {
    if (this.#isReviewing) return
    this.#isReviewing = true
    const { connection } = this.#parts
    while (this.#doubtful.size > 0 && !connection.isClosed()) {
      this.#isPatient = this.#failures > 0
      await this.#pause(slower * backoff(this.#failures++))
      // More is doubtful, and objections may follow.
      if (this.#failures === 0) continue
      const before = this.#still(this.#refused)
      try {
        for (const one of this.#still(this.#doubtful)) await this.#renew(one)
      } catch {
        // The connection is lost.
        break
      }
      this.#report(before)
    }
    this.#isReviewing = false
  }

  async #renew(kept: Kept): Promise<void> {
    const { connection } = this.#parts
    this.#asked = kept
    this.#doubtful.delete(kept)
    kept.isRefused = false
    try {
      kept.renew(connection)
      // The answer to a ping follows the objection, which is read some microtasks later.
      await connection.flush()
      await turn()
    } finally {
      this.#asked = undefined
    }
    if (kept.isRefused) {
      this.#refused.add(kept)
      this.#doubtful.add(kept)
    } else this.#refused.delete(kept)
  }

  /** Those that were not ended meanwhile. */
  #still(some: Set<Kept>): Kept[] {
    for (const one of some) if (!this.#all.has(one)) some.delete(one)
    return [...some]
  }

  #report(before: readonly Kept[]): void {
    const { servers, log } = this.#parts
    const objection = this.#objection
    const now = this.#still(this.#refused)
    const [refused, permitted] = [
      now.filter((one) => !before.includes(one)),
      before.filter((one) => !now.includes(one)),
    ]
    const remedy = isLimit(objection) ? 'raise its max_subscriptions' : 'permit the user of this app to subscribe'
    if (refused.length > 0)
      log('warn', `NATS at ${servers} refuses ${list(refused)}: ${objection}; ${remedy}. They are asked for again`)
    // Those of the client itself, for answers to requests.
    else if (isLimit(objection) && now.length === 0)
      log('warn', `NATS at ${servers} refuses a subscription for answers: ${objection}; ${remedy}`)
    this.#objection = ''
    if (permitted.length > 0) log('info', `NATS at ${servers} no longer refuses ${list(permitted)}`)
  }

  async #pause(duration: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, duration).unref()
    this.#wake = resolve
    if (this.#parts.connection.isClosed()) resolve()
    await promise
    clearTimeout(timer)
  }
}

class Kept {
  readonly subject: string
  readonly without: string
  readonly #options: SubscribeOptions
  #current: ReturnType<NatsConnection['subscribe']>
  isRefused = false

  constructor(connection: NatsConnection, subject: string, options: SubscribeOptions) {
    this.subject = subject
    this.without = options.without
    this.#options = options
    this.#current = this.#subscribe(connection)
  }

  /** The server gets both in one piece: no message is missed, or comes twice. */
  renew(connection: NatsConnection): void {
    this.end()
    this.#current = this.#subscribe(connection)
  }

  end(): void {
    if (!this.#current.isClosed()) this.#current.unsubscribe()
  }

  async drain(): Promise<void> {
    if (!this.#current.isClosed()) await this.#current.drain()
  }

  #subscribe(connection: NatsConnection): ReturnType<NatsConnection['subscribe']> {
    const { queue, callback } = this.#options
    return connection.subscribe(this.subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message) => {
        if (error === null) callback(message)
      },
    })
  }
}

/** What the server objects to. Other errors of the client have neither. */
function objectOf(error: Error & { readonly operation?: string; readonly subject?: string }): typeof error {
  return error
}

function isLimit(objection: string): boolean {
  return /maximum subscriptions/i.test(objection)
}

function list(some: readonly Kept[]): string {
  const named = some.slice(0, maxNamed)
  const groups = [...Map.groupBy(named, ({ without }) => without)].map(
    ([without, kept]) => `${[...new Set(kept.map(({ subject }) => subject))].join(', ')} (${without})`,
  )
  const more = some.length > maxNamed ? `, and ${some.length - maxNamed} more` : ''
  return `subscriptions: ${groups.join(', ')}${more}`
}
