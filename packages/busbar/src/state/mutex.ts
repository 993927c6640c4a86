/// <reference lib="esnext.disposable" preserve="true" />
import { BusbarError } from '../contract/errors.ts'
import { isAbortSignal } from '../shared/abort-signal.ts'
import type { LockResult, ThreadLock } from '../shared/state/thread-lock.ts'
import { Wait } from '../shared/time/wait.ts'
import { allocate } from './allocate.ts'

export interface WaitOptions {
  /** Milliseconds; 0 does not wait. Default: no limit. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A lock across threads. It is not re-entrant: a holder that locks again waits for itself. */
export class Mutex {
  readonly name: string
  readonly #lock: ThreadLock

  constructor(name: string) {
    const { membership, at } = allocate('mutex', name)
    this.name = name
    this.#lock = membership.lockAt(at)
  }

  /** Undefined if the lock is taken. */
  tryLock(): Held | undefined {
    const taking = this.#lock.tryAcquire()
    return taking === undefined ? undefined : new Held(this.#lock, taking)
  }

  /**
   * Waits without blocking the event loop. First come, first served within a thread. Between
   * threads a running one may go first, but a waiting one is overtaken for at most a few
   * milliseconds. Rejects with `DEADLINE_EXCEEDED` or `CALL_ABORTED`.
   */
  async lock(options: WaitOptions = {}): Promise<Held> {
    return new Held(this.#lock, await acquire(this.#lock, this.#what, options))
  }

  /**
   * Blocks the thread while it waits: for threads that compute, not for those that serve requests.
   * Throws `DEADLINE_EXCEEDED`, or `SHARED_INVALID` if the same thread holds the lock, since it
   * could never release it.
   */
  lockSync({ timeout = Infinity }: Omit<WaitOptions, 'signal'> = {}): Held {
    checkTimeout(timeout)
    const now = this.tryLock()
    if (now !== undefined) return now
    if (this.#lock.isHeldHere) throw heldByThisThread(this.#what)
    const taking = this.#lock.waitSync(timeout)
    if (taking === undefined) throw timedOut(this.#what, timeout)
    return new Held(this.#lock, taking)
  }

  get #what(): string {
    return `shared.mutex(${JSON.stringify(this.name)})`
  }
}

/** A held lock. Release it, or declare it with `using`, which does so at the end of the block. */
export class Held implements Disposable, AsyncDisposable {
  /**
   * True if the previous holder's thread ended without releasing the lock: the guarded data may be
   * inconsistent.
   */
  readonly abandoned: boolean
  #lock: ThreadLock | undefined

  constructor(lock: ThreadLock, taking: LockResult) {
    this.#lock = lock
    this.abandoned = taking === 'abandoned'
  }

  /** A second call does nothing. */
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

/** `what` names the lock in errors. */
export async function acquire(lock: ThreadLock, what: string, { timeout, signal }: WaitOptions): Promise<LockResult> {
  checkTimeout(timeout)
  checkSignal(signal)
  if (signal?.aborted === true) throw aborted(what, signal)
  const now = lock.tryAcquire()
  if (now !== undefined) return now
  if (timeout !== undefined && timeout <= 0) throw timedOut(what, timeout)
  using _wait = new Wait()
  if (timeout === undefined && signal === undefined) return await lock.wait().taken
  return await waitWithin(lock, what, timeout, signal)
}

async function waitWithin(
  lock: ThreadLock,
  what: string,
  timeout: number | undefined,
  signal: AbortSignal | undefined,
): Promise<LockResult> {
  const { promise: given, reject } = Promise.withResolvers<never>()
  const waiting = lock.wait()
  const giveUp = (error: BusbarError): void => void (waiting.cancel() && reject(error))
  // A longer timer would fire at once.
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

/** NaN milliseconds would mean waiting for ever. */
function checkTimeout(timeout: number | undefined): void {
  if (timeout === undefined || (typeof timeout === 'number' && !Number.isNaN(timeout))) return
  const message = `a lock was requested with the invalid timeout ${timeout}`
  throw new BusbarError('SHARED_INVALID', { message, hint: 'Give timeout as a number of milliseconds.' })
}

function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || isAbortSignal(signal)) return
  const message = 'a lock was requested with an invalid signal'
  throw new BusbarError('SHARED_INVALID', { message, hint: 'Give signal as an AbortSignal.' })
}

function timedOut(what: string, timeout: number): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', {
    message: `${what} could not be acquired within ${timeout} ms`,
    hint: 'Hold the lock for a shorter time, or increase the timeout.',
  })
}

function aborted(what: string, signal: AbortSignal): BusbarError {
  return new BusbarError('CALL_ABORTED', {
    message: `waiting for ${what} was cancelled`,
    cause: signal.reason,
  })
}

function heldByThisThread(what: string): BusbarError {
  return new BusbarError('SHARED_INVALID', {
    message: `lockSync() of ${what} would block for ever: this thread itself holds the lock`,
    hint: 'Use `await lock()`, or release the lock first.',
  })
}
