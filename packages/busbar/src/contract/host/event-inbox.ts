import type { Subscription } from '../events/subscription.ts'
import type { EventOrigin } from '../events/topic.ts'
import { BusbarError } from '../errors.ts'
import type { Method } from '../method.ts'
import type { Run } from './interceptors.ts'
import { HostedMethod } from './hosted-method.ts'
import type { HostingService } from './hosting-service.ts'

/** Counts the events of one instance. */
export interface EventCounter {
  countEvent(failed: boolean): void
  countEventDropped(): void
  /** Events that were accepted and wait for their handler. */
  addEventsWaiting(by: number): void
}

/** Set for a service with `concurrency`: a handler of an event takes a slot, as a call does. */
export interface EventAdmission {
  readonly concurrency: number
  /** Resolves when a slot is free, to the function that frees it again. Never rejects. */
  enter(): Promise<() => void>
}

export interface EventInboxParts {
  readonly subscriptions: readonly Subscription[]
  /** The function of a handler. */
  readonly bind: (handler: string) => Run
  readonly host: Pick<HostingService, 'service' | 'options' | 'cancellable'>
  readonly count: EventCounter | undefined
  readonly admission: EventAdmission | undefined
}

/**
 * The events that an instance has accepted: a bounded queue for each topic. What is accepted is
 * handled, unless the instance dies or its stop takes too long.
 */
export class EventInbox {
  /** What the instance subscribes to. */
  readonly topics: readonly string[]
  readonly #queues: ReadonlyMap<string, EventQueue>
  #isOpen = true

  constructor(parts: EventInboxParts) {
    this.#queues = new Map(parts.subscriptions.map((one) => [one.topic, new EventQueue(one, parts)]))
    this.topics = [...this.#queues.keys()]
  }

  /**
   * False if it is full, stops, or has no such subscription. The inbox owns the value from now on.
   */
  accept(topic: string, value: unknown, origin: EventOrigin): boolean {
    return this.#isOpen && this.#queues.get(topic)?.accept(value, origin) === true
  }

  /** An event would wait. */
  isBusy(topic: string): boolean {
    return this.#queues.get(topic)?.isBusy === true
  }

  /** Accepts no more. Resolves when all accepted events are handled. */
  async drain(): Promise<void> {
    this.#isOpen = false
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()))
  }

  /** Forgets the events that wait, and returns how many. */
  discard(): number {
    let count = 0
    for (const queue of this.#queues.values()) count += queue.discard()
    return count
  }
}

interface Waiting {
  readonly value: unknown
  readonly origin: EventOrigin
}

class EventQueue {
  readonly #subscription: Subscription
  readonly #parts: EventInboxParts
  readonly #method: HostedMethod
  readonly #waiting: Waiting[] = []
  readonly #concurrency: number
  #running = 0
  #isScheduled = false
  #idle: (() => void)[] = []

  constructor(subscription: Subscription, parts: EventInboxParts) {
    const { handler, value, concurrency } = subscription
    this.#concurrency = Math.min(concurrency, parts.admission?.concurrency ?? Infinity)
    this.#subscription = subscription
    this.#parts = parts
    this.#method = new HostedMethod(handler, handlerOf(value), parts.bind(handler), hostingOf(parts.host))
  }

  get isBusy(): boolean {
    return this.#running >= this.#concurrency || this.#waiting.length > 0
  }

  accept(value: unknown, origin: EventOrigin): boolean {
    if (this.#waiting.length >= this.#subscription.queue) return false
    this.#waiting.push({ value, origin })
    this.#parts.count?.addEventsWaiting(1)
    this.#schedule()
    return true
  }

  idle(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#idle.push(resolve))
  }

  discard(): number {
    const { length } = this.#waiting
    for (let left = length; left > 0; left--) this.#parts.count?.countEventDropped()
    this.#waiting.length = 0
    this.#parts.count?.addEventsWaiting(-length)
    this.#ended()
    return length
  }

  /**
   * In a later turn, so that a publisher in this thread continues first and other work gets time.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= this.#concurrency) return
    this.#isScheduled = true
    nextTurn(() => {
      this.#isScheduled = false
      while (this.#waiting.length > 0 && this.#running < this.#concurrency) {
        this.#running++
        void this.#handleNext()
      }
    })
  }

  async #handleNext(): Promise<void> {
    const leave = await this.#parts.admission?.enter()
    const next = this.#waiting.shift()
    if (next !== undefined) {
      this.#parts.count?.addEventsWaiting(-1)
      const failed = await this.#fails(next)
      this.#parts.count?.countEvent(failed)
    }
    leave?.()
    this.#running--
    this.#ended()
    if (this.#waiting.length > 0) this.#schedule()
  }

  async #fails({ value, origin }: Waiting): Promise<boolean> {
    try {
      await this.#method.call(value, { ...origin, mayAbort: true }, true)
      return false
    } catch (thrown) {
      const { code, message } = BusbarError.from(thrown)
      const { topic } = this.#subscription
      const { service, options } = this.#parts.host
      // The method has logged other errors, with their stacks.
      if (code !== 'INTERNAL') options.log.error(`${service} has not handled an event ${topic}: ${code}: ${message}`)
      return true
    }
  }

  #ended(): void {
    if (this.#running > 0 || this.#waiting.length > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** Without interceptors: an event has no caller to authenticate, and no answer. */
function hostingOf(host: EventInboxParts['host']): HostingService {
  const { service, options, cancellable } = host
  const countStart = (): undefined => undefined
  return { service, options, cancellable, interceptors: [], refusal: countStart, countStart, countEnd: () => {} }
}

function handlerOf(value: Method['input']): Method {
  const none = { key: undefined, http: undefined, status: undefined, timeout: undefined, docs: undefined }
  return { kind: 'fn', input: value, output: undefined, errors: {}, idempotent: false, ...none }
}

/** Browsers have no `setImmediate`. */
const { setImmediate: nextTurn = setTimeout } = globalThis as unknown as {
  setImmediate?: (callback: () => void) => unknown
}
