import { BusbarError } from '../../contract/errors.ts'
import { cancelReasons, flag } from '../messages.ts'
import type { TransferableObject } from '../transferable.ts'

/** What a task gets besides its input. */
export interface TaskContext {
  /**
   * Aborts when the call times out or its caller cancels. The task then has some time (`grace`) to
   * stop; a result that it returns within it still counts. `signal.aborted` is up to date even in a
   * loop that never yields to the event loop.
   */
  readonly signal: AbortSignal
  /**
   * Returns `value`, and transfers these buffers with the result instead of copying them; the
   * thread loses access to them.
   */
  transfer<Value>(value: Value, buffers: readonly TransferableObject[]): Value
}

export class RunningTask {
  readonly id: number
  readonly transferred: TransferableObject[] = []
  readonly context: TaskContext
  readonly #flags: Int32Array
  #controller: AbortController | undefined

  constructor(id: number, flags: Int32Array) {
    this.id = id
    this.#flags = flags
    const signal = (): AbortSignal => this.#signal
    this.context = {
      // Created on demand: most tasks never use it, and it costs more than everything else here.
      get signal() {
        return signal()
      },
      transfer: (value, buffers) => {
        this.transferred.push(...buffers)
        return value
      },
    }
  }

  /** Aborts the signal if the pool has cancelled the task. */
  checkFlags(): void {
    if (this.#controller === undefined || Atomics.load(this.#flags, flag.cancelled) !== this.id) return
    this.#controller.abort(reasonOf(this.#flags[flag.reason]!))
  }

  get #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      checkOnRead(this.#controller.signal, () => this.checkFlags())
      this.checkFlags()
    }
    return this.#controller.signal
  }
}

/**
 * A busy task gets no messages, so reading the signal checks the flags. Its abort listeners run
 * then, too.
 */
function checkOnRead(signal: AbortSignal, check: () => void): void {
  const isAborted = (): boolean => Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal)
  Object.defineProperties(signal, {
    aborted: {
      get: () => {
        if (!isAborted()) check()
        return isAborted()
      },
    },
    throwIfAborted: {
      value: () => {
        check()
        AbortSignal.prototype.throwIfAborted.call(signal)
      },
    },
  })
}

function reasonOf(index: number): BusbarError {
  return cancelReasons[index] === 'timeout'
    ? new BusbarError('DEADLINE_EXCEEDED', { message: 'this task has timed out' })
    : new BusbarError('CALL_ABORTED', { message: 'the caller cancelled this task' })
}
