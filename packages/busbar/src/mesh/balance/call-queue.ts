import { BusbarError } from '../../contract/errors.ts'

/** A call that waits for room. */
interface Waiting {
  /** True when it got it. Throws where there will be none. */
  readonly admit: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  readonly release: () => void
}

/** Calls that wait for their turn, first come first served, each for no longer than its caller does. */
export class CallQueue {
  readonly #service: string
  /** Told of each that joins and each that leaves, however it does. */
  readonly #count: (by: 1 | -1) => void
  readonly #waiting = new Set<Waiting>()

  constructor(service: string, count: (by: 1 | -1) => void) {
    this.#service = service
    this.#count = count
  }

  get length(): number {
    return this.#waiting.size
  }

  /**
   * Resolves when {@link serve} could `admit` it. `deadline`: milliseconds from now; rejects with DEADLINE_EXCEEDED, with the
   * signal's reason, or with what `admit` threw.
   */
  wait(admit: () => boolean, deadline: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = (): void => this.#leave(one, () => reject(signal!.reason as Error))
    const expire = (): void => this.#leave(one, () => reject(tooLate(this.#service)))
    const timer = deadline === undefined ? undefined : setTimeout(expire, deadline)
    const release = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const one: Waiting = { admit, resolve, reject, release }
    signal?.addEventListener('abort', abort)
    this.#waiting.add(one)
    this.#count(1)
    return promise
  }

  /** Admits in order until there is no room for one. */
  serve(): void {
    for (const one of this.#waiting) {
      try {
        if (!one.admit()) return
        this.#leave(one, one.resolve)
      } catch (error) {
        this.#leave(one, () => one.reject(error))
      }
    }
  }

  #leave(one: Waiting, settle: () => void): void {
    if (!this.#waiting.delete(one)) return
    this.#count(-1)
    one.release()
    settle()
  }
}

function tooLate(service: string): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', {
    message: `the call's time was over before service ${service} had room for it`,
    service,
  })
}
