import { BusbarError } from '../contract/errors.ts'
import { CallQueue } from '../shared/calls/call-queue.ts'
import { joinShared } from '../shared/state/membership.ts'
import type { OffloadCall } from './call.ts'
import type { CancelReason } from './messages.ts'
import { PoolThread } from './pool-thread.ts'

export interface PoolParts {
  readonly size: number
  /** Maximum number of queued calls. */
  readonly queue: number
  /** Milliseconds between telling a task to stop and terminating its thread. */
  readonly grace: number
  /** Milliseconds that a thread may be idle. */
  readonly idle: number
  readonly limit: ThreadLimit
}

/**
 * A pool of threads with a queue of calls. A thread runs one task at a time. The most recently idle
 * thread gets the next task, so that surplus threads stay idle and end. A task that does not stop
 * costs its thread: a replacement starts as soon as the task is asked to stop, so that it is ready
 * when the thread is terminated. If the task does stop, the pool has one thread more, which stays
 * within the limit of busy threads and ends when idle.
 */
export class Pool {
  readonly #parts: PoolParts
  readonly #queue: CallQueue<OffloadCall>
  readonly #threads = new Set<PoolThread>()
  /** The threads without those whose tasks were asked to stop, which have replacements. */
  readonly #usable = new Set<PoolThread>()
  /** The most recently idle thread is last. */
  readonly #idle: PoolThread[] = []
  #sweepTimer: NodeJS.Timeout | undefined
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

  /** Assigns queued calls to idle threads, and starts more threads if needed. */
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

  /** Starts threads for `calls` calls, up to the limit. */
  #grow(calls: number): void {
    const booting = [...this.#threads].filter((thread) => thread.state === 'booting').length
    for (let missing = calls - booting - this.#idle.length; missing > 0; missing--) {
      const { size, limit } = this.#parts
      // One thread is never refused: without any, the calls would wait for ever.
      if (this.#usable.size >= size || (this.#usable.size > 0 && !limit.mayGrow())) return
      this.#start()
    }
  }

  #start(): void {
    const thread = new PoolThread({
      idle: () => this.#onIdle(thread),
      ended: (error, early) => {
        this.#forget(thread)
        // Each failed start rejects a call, so a thread that cannot start causes no endless loop.
        if (early) this.#queue.shift()?.reject(error)
        this.#serve()
      },
    })
    this.#threads.add(thread)
    this.#addUsable(thread)
  }

  #onIdle(thread: PoolThread): void {
    this.#addUsable(thread)
    this.#idle.push(thread)
    this.#serve()
    this.#awaitSurplus()
  }

  /**
   * Tells the task to stop. A caller that cancelled is answered at once, others when the task has
   * stopped.
   */
  #cancel(call: OffloadCall, reason: CancelReason): void {
    const thread = [...this.#threads].find((one) => one.isRunning(call))
    if (reason === 'aborted') call.reject(call.aborted())
    if (thread === undefined) return call.reject(call.timedOut('never started'))
    thread.cancel(reason)
    this.#removeUsable(thread)
    this.#grow(1)
    // While the task runs, its thread keeps the process alive.
    setTimeout(() => this.#endIfStillRunning(call, thread), this.#parts.grace).unref()
  }

  #endIfStillRunning(call: OffloadCall, thread: PoolThread): void {
    if (!thread.isRunning(call)) return
    this.#end(thread)
    call.reject(call.timedOut(`ran for another ${this.#parts.grace} ms after it was asked to stop, and was terminated`))
    this.#serve()
  }

  /** Ends threads that have been idle for too long, except the one that gets the next task. */
  #endSurplus(): void {
    const now = performance.now()
    for (const thread of this.#idle.slice(0, -1)) if (thread.idleFor(now) >= this.#parts.idle) this.#end(thread)
    this.#sweepTimer = undefined
    this.#awaitSurplus()
  }

  /** The thread that has been idle for longest is the next one to end. */
  #awaitSurplus(): void {
    const [longest, ...others] = this.#idle
    if (longest === undefined || others.length === 0) return
    // A timer may be a fraction of a millisecond early.
    const left = Math.max(1, Math.ceil(this.#parts.idle - longest.idleFor(performance.now())))
    this.#sweepTimer ??= setTimeout(() => this.#endSurplus(), left).unref()
  }

  #endIdle(): void {
    clearTimeout(this.#sweepTimer)
    for (let thread = this.#idle.at(-1); thread !== undefined; thread = this.#idle.at(-1)) this.#end(thread)
    if (this.#threads.size === 0) this.#closed?.resolve()
  }

  #end(thread: PoolThread): void {
    this.#forget(thread)
    void thread.end()
  }

  #forget(thread: PoolThread): void {
    this.#removeUsable(thread)
    this.#threads.delete(thread)
    const at = this.#idle.indexOf(thread)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  #addUsable(thread: PoolThread): void {
    if (this.#usable.has(thread)) return
    this.#usable.add(thread)
    this.#parts.limit.started()
  }

  #removeUsable(thread: PoolThread): void {
    if (this.#usable.delete(thread)) this.#parts.limit.ended()
  }

  #full(): BusbarError {
    const { size } = this.#parts
    return new BusbarError('RESOURCE_EXHAUSTED', {
      message: `the queue is full: ${this.#queue.size} tasks wait for ${size} ${size === 1 ? 'thread' : 'threads'}`,
      hint: 'Retry later, or give the pool more threads.',
    })
  }
}

function closed(): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: 'the pool was closed' })
}

/** Decides whether a pool with threads may start another one. */
export interface ThreadLimit {
  mayGrow(): boolean
  started(): void
  ended(): void
}

export const noThreadLimit: ThreadLimit = { mayGrow: () => true, started: () => {}, ended: () => {} }

/**
 * A limit that all pools of the process share. Every thread that calls `offload` has its own pool:
 * sharing one would cost a second hop and couple the threads' stalls. Shared memory counts the
 * threads of all pools, one cell per thread: at most `size` in total, but at least one per pool.
 * Without shared memory each pool only limits itself.
 */
export function sharedThreadLimit(size: number): ThreadLimit {
  const joined = joinShared()
  if (joined.state !== 'joined') return noThreadLimit
  const { threads, me } = joined.membership
  return {
    mayGrow: () => threads.pooled < size,
    started: () => threads.addPooled(me, 1),
    ended: () => threads.addPooled(me, -1),
  }
}
