import { threadsNow } from '../shared/cells.ts'
import type { Slots } from '../shared/slots.ts'
import type { GivenUpCall } from './handle.ts'

/**
 * Milliseconds: a thread that has turned so long after a call was given up has read the cancel. One that has turned before may
 * have found the call alone, and compute it since.
 */
const heardAfter = 250

interface GivenUp extends GivenUpCall {
  /** Of {@link threadsNow}. */
  readonly since: number
}

/** A thread, as it is looked at. */
export interface Watched {
  readonly worker: number
  readonly row: number
  /** Milliseconds since its event loop last turned. */
  age(now: number): number
}

/**
 * Calls that were given up by callers who take no slot in shared memory: those in processes, and connections. They say so here,
 * since a thread that computes hears nothing; and it has written down in its slots what it is busy with.
 */
export class GivenUpCalls {
  /** By the number of the worker that they were made to. */
  readonly #calls = new Map<number, GivenUp[]>()

  /** Only of a worker that is watched: whatever it has heard of is forgotten as it is looked at. */
  add(call: GivenUpCall): void {
    const since = threadsNow()
    const calls = this.#calls.get(call.peer)
    if (calls === undefined) this.#calls.set(call.peer, [{ ...call, since }])
    else calls.push({ ...call, since })
  }

  /** Milliseconds since the first of those was given up that the thread is busy with; 0 without any. */
  overdue(thread: Watched, service: string, slots: Slots, now: number): number {
    const calls = this.#calls.get(thread.worker)
    if (calls === undefined) return 0
    const turned = now - thread.age(now)
    const isInside = (one: GivenUp): boolean => one.service === service && slots.isInside(thread.row, one.call)
    const left = calls.filter((one) => one.service !== service || turned - one.since < heardAfter || isInside(one))
    if (left.length === 0) this.#calls.delete(thread.worker)
    else this.#calls.set(thread.worker, left)
    return Math.max(0, ...left.filter(isInside).map(({ since }) => now - since))
  }

  /** The worker has ended. */
  forget(worker: number): void {
    this.#calls.delete(worker)
  }
}
