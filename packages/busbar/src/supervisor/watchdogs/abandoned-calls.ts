import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { ConcurrencySlots } from '../../shared/calls/concurrency-slots.ts'
import type { FromWorker } from '../../shared/control-messages.ts'

/**
 * Milliseconds. A thread with a heartbeat this long after a call was abandoned has read the cancel.
 * With an earlier heartbeat it may have begun to compute the call since.
 */
const cancelReadAfter = 250

/** A call that its caller abandoned and that `peer` may still be computing. */
export type AbandonedCall = Extract<FromWorker, { type: 'callAbandoned' }>

interface TimedCall extends AbandonedCall {
  /** Of {@link threadsNow}. */
  readonly since: number
}

/** A thread that may be computing abandoned calls. */
export interface WatchedThread {
  readonly worker: number
  readonly row: number
  /** Milliseconds since its last heartbeat. */
  age(now: number): number
}

/**
 * Calls that were abandoned by callers outside of shared memory: processes and connections. Other
 * callers mark the slot that they hold. A thread that computes reads no message, but before each
 * call it writes to shared memory which one it is.
 */
export class AbandonedCalls {
  /** By the worker that was called. */
  readonly #calls = new Map<number, TimedCall[]>()

  /** Only for workers that are watched: a look at a worker removes the calls that it knows of. */
  add(call: AbandonedCall): void {
    const since = threadsNow()
    const calls = this.#calls.get(call.peer)
    if (calls === undefined) this.#calls.set(call.peer, [{ ...call, since }])
    else calls.push({ ...call, since })
  }

  /** Milliseconds since the thread's oldest running call was abandoned; 0 if none was. */
  overdue(thread: WatchedThread, service: string, slots: ConcurrencySlots, now: number): number {
    const calls = this.#calls.get(thread.worker)
    if (calls === undefined) return 0
    const heartbeat = now - thread.age(now)
    const isRunning = (one: TimedCall): boolean => one.service === service && slots.isInside(thread.row, one.call)
    const left = calls.filter(
      (one) => one.service !== service || heartbeat - one.since < cancelReadAfter || isRunning(one),
    )
    if (left.length === 0) this.#calls.delete(thread.worker)
    else this.#calls.set(thread.worker, left)
    return Math.max(0, ...left.filter(isRunning).map(({ since }) => now - since))
  }

  /** The worker has ended. */
  forget(worker: number): void {
    this.#calls.delete(worker)
  }
}
