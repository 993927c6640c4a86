import { BusbarError } from '../../contract/errors.ts'
import { CallQueue, type Ticket } from '../../shared/call-queue.ts'

/** For how long a call waits, and before whom. */
export interface Patience {
  /** In milliseconds from now; undefined for as long as it takes. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal | undefined
  /** The higher, the sooner; 0 without it. */
  readonly priority: number | undefined
}

/** A call that waits for room. */
interface Waiting {
  /** True when it got it. Throws where there will be none. */
  readonly admit: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** Lets go of timer and signal. */
  readonly release: () => void
}

/** Calls that wait for their turn in one worker, each for no longer than its caller does. */
export class Turns {
  readonly #service: string
  /** Told of each that joins and each that leaves, however it does. */
  readonly #count: (by: 1 | -1) => void
  /** How many may wait is for whoever sees all workers to say. */
  readonly #queue = new CallQueue<Waiting>({ limit: Infinity, expired: (one) => this.#expired(one) })

  constructor(service: string, count: (by: 1 | -1) => void) {
    this.#service = service
    this.#count = count
  }

  get length(): number {
    return this.#queue.size
  }

  /** Resolves when {@link serve} could `admit` it. Rejects with DEADLINE_EXCEEDED, with the signal's reason, or with what `admit` threw. */
  wait(admit: () => boolean, { deadline, signal, priority }: Patience): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (error: unknown): void => {
      if (this.#leave(ticket)) reject(error)
    }
    const abort = (): void => fail(signal!.reason)
    const expire = (): void => fail(this.#tooLate())
    const timer = deadline === undefined ? undefined : setTimeout(expire, deadline)
    const release = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const end = deadline === undefined ? undefined : performance.now() + deadline
    const ticket = this.#queue.push({ admit, resolve, reject, release }, { priority, deadline: end })!
    signal?.addEventListener('abort', abort)
    this.#count(1)
    return promise
  }

  /** Admits in order until there is no room for one; whose time is up is not asked, also when its timer is late. */
  serve(): void {
    for (let ticket = this.#queue.peek(); ticket !== undefined; ticket = this.#queue.peek()) {
      try {
        if (!ticket.item.admit()) return
        if (this.#leave(ticket)) ticket.item.resolve()
      } catch (error) {
        if (this.#leave(ticket)) ticket.item.reject(error)
      }
    }
  }

  /** False when it waits no more. */
  #leave(ticket: Ticket<Waiting>): boolean {
    if (!this.#queue.remove(ticket)) return false
    this.#left(ticket.item)
    return true
  }

  #expired(one: Waiting): void {
    this.#left(one)
    one.reject(this.#tooLate())
  }

  #left(one: Waiting): void {
    this.#count(-1)
    one.release()
  }

  #tooLate(): BusbarError {
    const service = this.#service
    const message = `the call's time was over before service ${service} had room for it`
    return new BusbarError('DEADLINE_EXCEEDED', { message, service })
  }
}
