import { prepareSegment } from '../shared/state/segment.ts'
import { Atomic } from './atomic.ts'
import { Counter } from './counter.ts'
import { Mutex, type WaitOptions } from './mutex.ts'
import { Once } from './once.ts'

/**
 * State that all threads of a process share by name, without messages: the same name is the same counter, cell or lock
 * in every thread. Each kind has names of its own, of 1 to 100 bytes; they last as long as the process.
 *
 * Services that run as processes or on other hosts have no memory in common: there every function fails with
 * `SHARED_UNAVAILABLE`, whose hint names the placement that helps. `SHARED_FULL` says that there is no room for another name.
 */
export const shared = {
  /** Counts what happened, at the speed of a plain variable. It never goes down. */
  counter: (name: string): Counter => known(counters, name, () => new Counter(name)),

  /** One number of 32 bits that all threads change. */
  atomic: (name: string): Atomic => known(atomics, name, () => new Atomic(name)),

  /** Held by one at a time, in whichever thread. */
  mutex: (name: string): Mutex => known(mutexes, name, () => new Mutex(name)),

  /**
   * Runs `init` in exactly one thread and gives everyone a structured clone of its value, one for each thread. Where it fails,
   * its caller gets the error and the next one who asks, or waits, runs its own `init`. So it is where the thread that runs it dies.
   * Rejects with `DEADLINE_EXCEEDED` or `CALL_ABORTED` as the options say, with `SHARED_INVALID` for what cannot be cloned.
   */
  once: <Value>(name: string, init: () => Value | Promise<Value>, options: WaitOptions = {}): Promise<Value> =>
    known(onces, name, () => new Once(name)).get(init, options),
}

// So that threads that are started from now on have it.
prepareSegment()

const counters = new Map<string, Counter>()
const atomics = new Map<string, Atomic>()
const mutexes = new Map<string, Mutex>()
const onces = new Map<string, Once>()

function known<Kept>(all: Map<string, Kept>, name: string, make: () => Kept): Kept {
  const found = all.get(name)
  if (found !== undefined) return found
  const made = make()
  all.set(name, made)
  return made
}
