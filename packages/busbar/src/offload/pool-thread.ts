import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads'
import { BusbarError } from '../contract/errors.ts'
import type { OffloadCall } from './call.ts'
import { compactViews } from './compact-views.ts'
import { type CancelReason, cancelReasons, flag, type FromThread, type ThreadInit, type ToThread } from './messages.ts'
import { fromTaskErrorRecord } from './task-error.ts'
import { moduleFile } from '../shared/package-files.ts'

type State =
  | { readonly is: 'booting' }
  | { readonly is: 'idle'; readonly since: number }
  | { readonly is: 'busy'; readonly call: OffloadCall; readonly id: number }
  | { readonly is: 'ended' }

export interface ThreadEvents {
  /** The thread is ready for a task: after its start, or after a task. */
  idle(): void
  /** The thread has ended, with its task. `early`: it ended before it was ever ready. */
  ended(error: BusbarError, early: boolean): void
}

/** One thread of a pool. It keeps the process alive unless it is idle. */
export class PoolThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #flags = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  readonly #events: ThreadEvents
  #state: State = { is: 'booting' }
  #tasks = 0
  #thrown: unknown

  constructor(events: ThreadEvents) {
    this.#events = events
    const { port1, port2 } = new MessageChannel()
    const workerData: ThreadInit = { port: port2, flags: this.#flags }
    this.#worker = new Worker(moduleFile('offload/thread/main'), {
      name: 'busbar offload',
      workerData,
      transferList: [port2],
    })
    this.#worker.on('error', (thrown) => (this.#thrown = thrown)).on('exit', (code) => this.#onExit(code))
    this.#port = port1
    port1
      .on('message', (message: FromThread) => this.#onMessage(message))
      .on('messageerror', (cause) => this.#failed(unreadable(cause)))
  }

  get state(): State['is'] {
    return this.#state.is
  }

  /** Milliseconds of idleness; 0 unless idle. */
  idleFor(now: number): number {
    return this.#state.is === 'idle' ? now - this.#state.since : 0
  }

  run(call: OffloadCall): void {
    const { module, input: given, transfer } = call.parts
    const { trace } = call
    const id = ++this.#tasks
    this.#setState({ is: 'busy', call, id })
    try {
      const input = transfer === undefined ? compactViews(given) : given
      this.#post({ type: 'run', id, module, input, trace }, transfer)
    } catch (cause) {
      this.#failed(unclonable(cause as Error))
    }
  }

  /** Tells the task to stop. */
  cancel(reason: CancelReason): void {
    if (this.#state.is !== 'busy') return
    const { id } = this.#state
    Atomics.store(this.#flags, flag.reason, cancelReasons.indexOf(reason))
    Atomics.store(this.#flags, flag.cancelled, id)
    this.#post({ type: 'cancel', id })
  }

  /** Whether it is still running this call. */
  isRunning(call: OffloadCall): boolean {
    return this.#state.is === 'busy' && this.#state.call === call
  }

  /**
   * Terminates the thread; the caller settles its call. A thread in a system call ends when that
   * returns, which is not awaited.
   */
  end(): Promise<unknown> {
    this.#setState({ is: 'ended' })
    this.#port.close()
    return this.#worker.terminate()
  }

  #onMessage(message: FromThread): void {
    if (message.type === 'ready') return this.#becomeIdle()
    if (this.#state.is !== 'busy' || (message.id !== this.#state.id && message.id !== 0)) return
    if (message.type === 'failed') return this.#failed(fromTaskErrorRecord(message.error))
    const { call } = this.#state
    call.resolve(message.value)
    this.#becomeIdle()
  }

  #failed(error: unknown): void {
    if (this.#state.is !== 'busy') return
    const { call } = this.#state
    if (call.cancelled === 'timeout') {
      const isOwn = !BusbarError.is(error, 'DEADLINE_EXCEEDED')
      call.reject(call.timedOut('stopped when asked to', isOwn ? error : undefined))
    } else call.reject(error)
    this.#becomeIdle()
  }

  #becomeIdle(): void {
    if (this.#state.is === 'ended') return
    this.#setState({ is: 'idle', since: performance.now() })
    this.#events.idle()
  }

  #onExit(code: number): void {
    const before = this.#state
    if (before.is === 'ended') return
    this.#setState({ is: 'ended' })
    this.#port.close()
    const error = died(code, this.#thrown)
    if (before.is === 'busy') before.call.reject(error)
    this.#events.ended(error, before.is === 'booting')
  }

  #setState(state: State): void {
    const keeps = state.is !== 'idle'
    if (keeps !== (this.#state.is !== 'idle'))
      for (const one of [this.#worker, this.#port])
        if (keeps) one.ref()
        else one.unref()
    this.#state = state
  }

  #post(message: ToThread, transfer: OffloadCall['parts']['transfer'] = []): void {
    this.#port.postMessage(message, transfer as readonly Transferable[])
  }
}

function died(code: number, thrown: unknown): BusbarError {
  if (thrown === undefined)
    return new BusbarError('WORKER_DIED', { message: `the thread of a task ended with code ${code}` })
  const reason = thrown instanceof Error ? thrown.message : 'it threw a value that is not an error'
  return new BusbarError('WORKER_DIED', { message: `the thread of a task died: ${reason}`, cause: thrown })
}

function unclonable(cause: Error): BusbarError {
  const message = `the input of a task cannot be cloned: ${cause.message}`
  return new BusbarError('TASK_INVALID', { message, cause, hint: 'Pass data only: no functions, no streams.' })
}

function unreadable(cause: Error): BusbarError {
  return new BusbarError('TASK_INVALID', { message: `the result of a task cannot be read: ${cause.message}`, cause })
}
