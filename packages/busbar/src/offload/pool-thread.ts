import { extname } from 'node:path'
import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads'
import { BusbarError } from '../contract/errors.ts'
import type { OffloadCall } from './call.ts'
import { exact } from './exact.ts'
import { type CancelReason, cancelReasons, flag, type FromThread, type ThreadInit, type ToThread } from './messages.ts'
import { fromTaskErrorRecord } from './task-error.ts'

/** The module has the extension of this one: `.ts` from the sources, `.js` from what was built. */
const threadMain = new URL(`./thread/main${extname(import.meta.url)}`, import.meta.url)

type State =
  | { readonly is: 'booting' }
  | { readonly is: 'idle'; readonly since: number }
  | { readonly is: 'busy'; readonly call: OffloadCall; readonly id: number }
  | { readonly is: 'ended' }

export interface ThreadEvents {
  /** It can have a task: the first time, or since one has ended. */
  idle(): void
  /** It is gone, and with it the task that it had. `early`: it never had come so far as to have one. */
  ended(error: BusbarError, early: boolean): void
}

/** One thread. It keeps the process alive unless it is idle. */
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
    this.#worker = new Worker(threadMain, { name: 'busbar offload', workerData, transferList: [port2] })
    this.#worker.on('error', (thrown) => (this.#thrown = thrown)).on('exit', (code) => this.#ended(code))
    this.#port = port1
    port1
      .on('message', (message: FromThread) => this.#heard(message))
      .on('messageerror', (cause) => this.#failed(unreadable(cause)))
  }

  get state(): State['is'] {
    return this.#state.is
  }

  /** Milliseconds; 0 unless it is idle. */
  idleFor(now: number): number {
    return this.#state.is === 'idle' ? now - this.#state.since : 0
  }

  run(call: OffloadCall): void {
    const { module, input, transfer } = call.parts
    const id = ++this.#tasks
    this.#become({ is: 'busy', call, id })
    try {
      this.#say({ type: 'run', id, module, input: transfer === undefined ? exact(input) : input }, transfer)
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
    this.#say({ type: 'cancel', id })
  }

  /** Whether it still does this call. */
  isAt(call: OffloadCall): boolean {
    return this.#state.is === 'busy' && this.#state.call === call
  }

  /**
   * Ends the thread, whatever it does; its call is the caller's to settle. One that hangs in a system call ends when
   * that returns, which nobody waits for.
   */
  end(): Promise<unknown> {
    this.#become({ is: 'ended' })
    this.#port.close()
    return this.#worker.terminate()
  }

  #heard(message: FromThread): void {
    if (message.type === 'ready') return this.#rest()
    if (this.#state.is !== 'busy' || (message.id !== this.#state.id && message.id !== 0)) return
    if (message.type === 'failed') return this.#failed(fromTaskErrorRecord(message.error))
    const { call } = this.#state
    call.resolve(message.value)
    this.#rest()
  }

  #failed(error: unknown): void {
    if (this.#state.is !== 'busy') return
    const { call } = this.#state
    if (call.cancelled === 'timeout') {
      const isOwn = !BusbarError.is(error, 'DEADLINE_EXCEEDED')
      call.reject(call.timedOut('stopped when it was told to', isOwn ? error : undefined))
    } else call.reject(error)
    this.#rest()
  }

  #rest(): void {
    if (this.#state.is === 'ended') return
    this.#become({ is: 'idle', since: performance.now() })
    this.#events.idle()
  }

  #ended(code: number): void {
    const before = this.#state
    if (before.is === 'ended') return
    this.#become({ is: 'ended' })
    this.#port.close()
    const error = died(code, this.#thrown)
    if (before.is === 'busy') before.call.reject(error)
    this.#events.ended(error, before.is === 'booting')
  }

  #become(state: State): void {
    const keeps = state.is !== 'idle'
    if (keeps !== (this.#state.is !== 'idle'))
      for (const one of [this.#worker, this.#port])
        if (keeps) one.ref()
        else one.unref()
    this.#state = state
  }

  #say(message: ToThread, transfer: OffloadCall['parts']['transfer'] = []): void {
    this.#port.postMessage(message, transfer as readonly Transferable[])
  }
}

function died(code: number, thrown: unknown): BusbarError {
  if (thrown === undefined)
    return new BusbarError('WORKER_DIED', { message: `the thread of a task ended with code ${code}` })
  const reason = thrown instanceof Error ? thrown.message : 'it threw something else than an error'
  return new BusbarError('WORKER_DIED', { message: `the thread of a task died: ${reason}`, cause: thrown })
}

function unclonable(cause: Error): BusbarError {
  const message = `the input of a task cannot be cloned: ${cause.message}`
  return new BusbarError('TASK_INVALID', { message, cause, hint: 'give it data: no functions, no streams' })
}

function unreadable(cause: Error): BusbarError {
  return new BusbarError('TASK_INVALID', { message: `the result of a task cannot be read: ${cause.message}`, cause })
}
