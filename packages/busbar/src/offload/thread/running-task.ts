import { BusbarError } from '../../contract/errors.ts'
import { cancelReasons, flag } from '../messages.ts'
import type { Movable } from '../movable.ts'

/** What a task gets besides its input. */
export interface TaskContext {
  /**
   * Aborts when the call's time is up or its caller has gone. Then the task has some time left (`grace`) to end by itself; what it
   * returns still counts. `signal.aborted` is right also in a loop that never lets the event loop turn.
   */
  readonly signal: AbortSignal
  /** Returns `value`, and has these buffers moved with the result instead of copied: afterwards the thread has them no more. */
  transfer<Value>(value: Value, buffers: readonly Movable[]): Value
}

export class RunningTask {
  readonly id: number
  readonly transferred: Movable[] = []
  readonly context: TaskContext
  readonly #flags: Int32Array
  #controller: AbortController | undefined

  constructor(id: number, flags: Int32Array) {
    this.id = id
    this.#flags = flags
    const signal = (): AbortSignal => this.#signal
    this.context = {
      // Most tasks never ask for it, and it costs more than all else here.
      get signal() {
        return signal()
      },
      transfer: (value, buffers) => {
        this.transferred.push(...buffers)
        return value
      },
    }
  }

  /** Aborts the signal if the pool has said so. */
  look(): void {
    if (this.#controller === undefined || Atomics.load(this.#flags, flag.cancelled) !== this.id) return
    this.#controller.abort(reasonOf(this.#flags[flag.reason]!))
  }

  get #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      lookWhenAsked(this.#controller.signal, () => this.look())
      this.look()
    }
    return this.#controller.signal
  }
}

/** A task that computes gets no message: so whoever asks looks into the flags. The listeners run then, too. */
function lookWhenAsked(signal: AbortSignal, look: () => void): void {
  const isAborted = (): boolean => Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal)
  Object.defineProperties(signal, {
    aborted: {
      get: () => {
        if (!isAborted()) look()
        return isAborted()
      },
    },
    throwIfAborted: {
      value: () => {
        look()
        AbortSignal.prototype.throwIfAborted.call(signal)
      },
    },
  })
}

function reasonOf(index: number): BusbarError {
  return cancelReasons[index] === 'timeout'
    ? new BusbarError('DEADLINE_EXCEEDED', { message: 'the time of this task is up' })
    : new BusbarError('CALL_ABORTED', { message: 'nobody waits for this task any more' })
}
