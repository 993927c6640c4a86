import { BusbarError } from '../../../contract/errors.ts'
import { CallQueue, type Ticket } from '../../../shared/calls/call-queue.ts'

export interface QueueOptions {
  /** Milliseconds from now. Undefined: no deadline. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal | undefined
  /** Higher goes first. Default: 0. */
  readonly priority: number | undefined
}

interface WaitingCall {
  /** Takes a slot and returns true if there is one. Throws if there never will be. */
  readonly admit: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** Releases timer and signal. */
  readonly release: () => void
}

/** The calls in one worker that wait for room at a service, each until its deadline. */
export class WaitQueue {
  readonly #service: string
  /** Called with 1 for each call that joins, and -1 for each that leaves. */
  readonly #count: (by: 1 | -1) => void
  /** Unbounded: the owner, which sees all workers, limits how many calls wait. */
  readonly #queue = new CallQueue<WaitingCall>({ limit: Infinity, expired: (call) => this.#expired(call) })

  constructor(service: string, count: (by: 1 | -1) => void) {
    this.#service = service
    this.#count = count
  }

  get length(): number {
    return this.#queue.size
  }

  /**
   * Resolves when {@link serve} has admitted the call. Rejects with DEADLINE_EXCEEDED, the signal's
   * reason, or what `admit` threw.
   */
  wait(admit: () => boolean, { deadline, signal, priority }: QueueOptions): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (error: unknown): void => {
      if (this.#leave(ticket)) reject(error)
    }
    const abort = (): void => fail(signal!.reason)
    const expire = (): void => fail(this.#deadlineExceeded())
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

  /**
   * Admits calls in order until there is no room. Skips calls past their deadline, even if their
   * timer is late.
   */
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

  /** False if it no longer waits. */
  #leave(ticket: Ticket<WaitingCall>): boolean {
    if (!this.#queue.remove(ticket)) return false
    this.#left(ticket.item)
    return true
  }

  #expired(call: WaitingCall): void {
    this.#left(call)
    call.reject(this.#deadlineExceeded())
  }

  #left(call: WaitingCall): void {
    this.#count(-1)
    call.release()
  }

  #deadlineExceeded(): BusbarError {
    const service = this.#service
    const message = `the call's deadline passed before service '${service}' had room for it`
    return new BusbarError('DEADLINE_EXCEEDED', { message, service })
  }
}
