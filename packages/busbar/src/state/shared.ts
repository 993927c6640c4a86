import { prepareSegment } from '../shared/state/segment.ts'
import { Atomic } from './atomic.ts'
import { Counter } from './counter.ts'
import { Mutex, type WaitOptions } from './mutex.ts'
import { Once } from './once.ts'

/**
 * State that all threads of a process share by name, without messages: the same name is the same
 * counter, cell or lock in every thread. Each kind has its own names, of 1 to 100 bytes; they last
 * as long as the process.
 *
 * Services that run as processes or on other hosts share no memory. There every function fails with
 * `SHARED_UNAVAILABLE`, whose hint names a placement that works. `SHARED_FULL` means that there is
 * no space for another name.
 */
export const shared = {
  /** A counter at the speed of a plain variable. It never decreases. */
  counter: (name: string): Counter => known(counters, name, () => new Counter(name)),

  /** A 32-bit integer that all threads change. */
  atomic: (name: string): Atomic => known(atomics, name, () => new Atomic(name)),

  /** A lock that one holder in one thread has at a time. */
  mutex: (name: string): Mutex => known(mutexes, name, () => new Mutex(name)),

  /**
   * Runs `init` in exactly one thread and gives every thread a structured clone of its result. If
   * `init` fails, its caller gets the error and the next caller, or the next waiting one, runs its
   * own `init`; the same happens if the thread that runs it ends. Rejects with `DEADLINE_EXCEEDED`
   * or `CALL_ABORTED` as the options say, or with `SHARED_INVALID` if the value cannot be cloned.
   */
  once: <Value>(name: string, init: () => Value | Promise<Value>, options: WaitOptions = {}): Promise<Value> =>
    known(onces, name, () => new Once(name)).get(init, options),
}

// Threads that are started from now on inherit the shared memory.
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
