import { BusbarError } from '../contract/errors.ts'
import { CallQueue } from '../shared/call-queue.ts'
import type { Bound } from './bound.ts'
import type { OffloadCall } from './call.ts'
import type { CancelReason } from './messages.ts'
import { PoolThread } from './pool-thread.ts'

export interface PoolParts {
  readonly size: number
  /** How many calls may wait. */
  readonly queue: number
  /** Milliseconds between telling a task to stop and ending its thread. */
  readonly grace: number
  /** Milliseconds that a thread may have nothing to do. */
  readonly idle: number
  readonly bound: Bound
}

/**
 * Threads, and the calls that wait for one. A thread does one task at a time; the one that came to rest last gets the next,
 * so that those that are not needed grow idle. A task that does not stop costs its thread, whose successor is
 * started when the task is told to stop: then it is there when the thread is gone. If the task does stop, there is one
 * thread more, which is never busy while all others are, and grows idle.
 */
export class Pool {
  readonly #parts: PoolParts
  readonly #queue: CallQueue<OffloadCall>
  readonly #threads = new Set<PoolThread>()
  /** The threads but those whose tasks were told to stop: they have successors. */
  readonly #sound = new Set<PoolThread>()
  /** The one that came to rest last is the last. */
  readonly #idle: PoolThread[] = []
  #sweep: NodeJS.Timeout | undefined
  #closed: PromiseWithResolvers<void> | undefined

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.#queue = new CallQueue<OffloadCall>({ limit: parts.queue, expired: (call) => call.expire() })
  }

  async run(call: OffloadCall): Promise<unknown> {
    if (this.#closed !== undefined) throw closed()
    if (call.parts.signal?.aborted === true) throw call.aborted()
    const ticket = this.#queue.push(call, { priority: call.parts.priority, deadline: call.deadline })
    if (ticket === undefined) throw this.#full()
    call.begin((reason) => {
      this.#queue.remove(ticket)
      this.#cancel(call, reason)
    })
    this.#serve()
    return await call.result
  }

  async close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = Promise.withResolvers<void>()
      for (let call = this.#queue.shift(); call !== undefined; call = this.#queue.shift()) call.reject(closed())
      this.#serve()
    }
    await this.#closed.promise
  }

  /** Gives waiting calls to idle threads, and starts threads where there are none. */
  #serve(): void {
    while (this.#idle.length > 0 && this.#busy < this.#parts.size) {
      const call = this.#queue.shift()
      if (call === undefined) break
      this.#idle.pop()!.run(call)
    }
    if (this.#closed === undefined) this.#grow(this.#queue.size)
    else this.#endIdle()
  }

  get #busy(): number {
    return [...this.#threads].filter((thread) => thread.state === 'busy').length
  }

  /** So that there are threads for so many calls, as far as there may be. */
  #grow(calls: number): void {
    const booting = [...this.#threads].filter((thread) => thread.state === 'booting').length
    for (let missing = calls - booting - this.#idle.length; missing > 0; missing--) {
      if (this.#sound.size >= this.#parts.size || !this.#parts.bound.mayGrow()) return
      this.#start()
    }
  }

  #start(): void {
    const thread = new PoolThread({
      idle: () => this.#rested(thread),
      ended: (error, early) => {
        this.#forget(thread)
        // A thread that cannot start is no endless loop: each costs a call.
        if (early) this.#queue.shift()?.reject(error)
        this.#serve()
      },
    })
    this.#threads.add(thread)
    this.#trust(thread)
  }

  #rested(thread: PoolThread): void {
    this.#trust(thread)
    this.#idle.push(thread)
    this.#serve()
    this.#sweep ??= setTimeout(() => this.#endOld(), this.#parts.idle).unref()
  }

  /** Tells the task to stop; a caller who gave up hears of it at once, others when it has stopped. */
  #cancel(call: OffloadCall, reason: CancelReason): void {
    const thread = [...this.#threads].find((one) => one.isAt(call))
    if (reason === 'aborted') call.reject(call.aborted())
    if (thread === undefined) return call.reject(call.timedOut('never began'))
    thread.cancel(reason)
    this.#distrust(thread)
    this.#grow(1)
    // While the task goes on, its thread keeps the process alive.
    setTimeout(() => this.#endIfStillAt(call, thread), this.#parts.grace).unref()
  }

  #endIfStillAt(call: OffloadCall, thread: PoolThread): void {
    if (!thread.isAt(call)) return
    this.#end(thread)
    call.reject(call.timedOut(`went on for ${this.#parts.grace} ms after it was told to stop, and was ended`))
    this.#serve()
  }

  /** Those that have had nothing to do for long, but for the one that gets the next task. */
  #endOld(): void {
    const now = performance.now()
    for (const thread of this.#idle.slice(0, -1)) if (thread.idleFor(now) >= this.#parts.idle) this.#end(thread)
    this.#sweep = this.#idle.length > 1 ? setTimeout(() => this.#endOld(), this.#parts.idle).unref() : undefined
  }

  #endIdle(): void {
    clearTimeout(this.#sweep)
    for (let thread = this.#idle.at(-1); thread !== undefined; thread = this.#idle.at(-1)) this.#end(thread)
    if (this.#threads.size === 0) this.#closed?.resolve()
  }

  #end(thread: PoolThread): void {
    this.#forget(thread)
    void thread.end()
  }

  #forget(thread: PoolThread): void {
    this.#distrust(thread)
    this.#threads.delete(thread)
    const at = this.#idle.indexOf(thread)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #trust(thread: PoolThread): void {
    if (this.#sound.has(thread)) return
    this.#sound.add(thread)
    this.#parts.bound.started()
  }

  #distrust(thread: PoolThread): void {
    if (this.#sound.delete(thread)) this.#parts.bound.ended()
  }

  #full(): BusbarError {
    const { size } = this.#parts
    return new BusbarError('RESOURCE_EXHAUSTED', {
      message: `${this.#queue.size} tasks wait for ${size} ${size === 1 ? 'thread' : 'threads'} already`,
      hint: 'ask again later, or give the pool more threads',
    })
  }
}

function closed(): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: 'the pool was closed' })
}
