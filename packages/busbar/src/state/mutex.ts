/// <reference lib="esnext.disposable" preserve="true" />
import { BusbarError } from '../contract/errors.ts'
import type { Taking, ThreadLock } from '../shared/state/thread-lock.ts'
import { placeOf } from './place.ts'

export interface WaitOptions {
  /** Milliseconds; without it, for ever. 0 does not wait. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A lock across threads. It is not re-entrant: who holds it and asks again waits for itself. */
export class Mutex {
  readonly name: string
  readonly #lock: ThreadLock

  constructor(name: string) {
    const { membership, at } = placeOf('mutex', name)
    this.name = name
    this.#lock = membership.lockAt(at)
  }

  /** Undefined when somebody else has it. */
  tryLock(): Held | undefined {
    const taking = this.#lock.tryTake()
    return taking === undefined ? undefined : new Held(this.#lock, taking)
  }

  /**
   * Waits without blocking the event loop. Within a thread first come, first served; between threads whoever is running may
   * come first, but nobody waits more than some milliseconds longer for it. Rejects with `DEADLINE_EXCEEDED` or `CALL_ABORTED`.
   */
  async lock(options: WaitOptions = {}): Promise<Held> {
    return new Held(this.#lock, await takeIn(this.#lock, this.#what, options))
  }

  /**
   * Blocks the thread while it waits: for threads that compute, not for those that serve. Throws `DEADLINE_EXCEEDED`, and
   * `SHARED_INVALID` when somebody in this very thread holds the lock, who could not release it any more.
   */
  lockSync({ timeout = Infinity }: Omit<WaitOptions, 'signal'> = {}): Held {
    checkTimeout(timeout)
    const now = this.tryLock()
    if (now !== undefined) return now
    if (this.#lock.isHeldHere) throw heldHere(this.#what)
    const taking = this.#lock.waitSync(timeout)
    if (taking === undefined) throw timedOut(this.#what, timeout)
    return new Held(this.#lock, taking)
  }

  get #what(): string {
    return `shared.mutex(${JSON.stringify(this.name)})`
  }
}

/** To be released, which `using` does at the end of its block. */
export class Held implements Disposable, AsyncDisposable {
  /** The thread that had it before has ended without releasing it: what it guards may be half changed. */
  readonly abandoned: boolean
  #lock: ThreadLock | undefined

  constructor(lock: ThreadLock, taking: Taking) {
    this.#lock = lock
    this.abandoned = taking === 'abandoned'
  }

  /** The second time does nothing. */
  release(): void {
    this.#lock?.release()
    this.#lock = undefined
  }

  [Symbol.dispose](): void {
    this.release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.release()
    return Promise.resolve()
  }
}

/** `what` is named in errors. */
export async function takeIn(lock: ThreadLock, what: string, { timeout, signal }: WaitOptions): Promise<Taking> {
  checkTimeout(timeout)
  if (signal?.aborted === true) throw aborted(what, signal)
  const now = lock.tryTake()
  if (now !== undefined) return now
  if (timeout === undefined && signal === undefined) return await lock.wait().taken
  if (timeout !== undefined && timeout <= 0) throw timedOut(what, timeout)
  return await waitWithin(lock, what, timeout, signal)
}

async function waitWithin(
  lock: ThreadLock,
  what: string,
  timeout: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Taking> {
  const { promise: given, reject } = Promise.withResolvers<never>()
  const waiting = lock.wait()
  const giveUp = (error: BusbarError): void => void (waiting.leave() && reject(error))
  // A timer for longer than this would fire at once.
  const isTimed = timeout !== undefined && timeout <= maxTimer
  const timer = isTimed ? setTimeout(() => giveUp(timedOut(what, timeout)), timeout) : undefined
  const onAbort = (): void => giveUp(aborted(what, signal!))
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([waiting.taken, given])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

const maxTimer = 2 ** 31 - 1

/** Waiting for NaN milliseconds would be waiting for ever. */
function checkTimeout(timeout: number | undefined): void {
  if (timeout === undefined || (typeof timeout === 'number' && !Number.isNaN(timeout))) return
  const message = `a lock was asked for with timeout: ${timeout}`
  throw new BusbarError('SHARED_INVALID', { message, hint: 'timeout is a number of milliseconds' })
}

function timedOut(what: string, timeout: number): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', {
    message: `${what} was not free within ${timeout} ms`,
    hint: 'hold it for less long, or wait longer',
  })
}

function aborted(what: string, signal: AbortSignal): BusbarError {
  return new BusbarError('CALL_ABORTED', {
    message: `nobody waits for ${what} any more`,
    cause: signal.reason,
  })
}

function heldHere(what: string): BusbarError {
  return new BusbarError('SHARED_INVALID', {
    message: `lockSync() of ${what} would wait for ever: this thread holds it, and would be blocked`,
    hint: 'wait with `await lock()`, or release it first',
  })
}
