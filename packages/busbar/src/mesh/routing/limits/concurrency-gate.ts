import { setImmediate as nextTurn } from 'node:timers/promises'
import { BusbarError } from '../../../contract/errors.ts'
import type { CallId } from '../../../shared/calls/call-id.ts'
import type { InstanceCells } from '../../../shared/metrics/instance-cells.ts'
import { WaitQueue } from './wait-queue.ts'

export interface ConcurrencyGateOptions {
  readonly service: string
  /** How many calls may run at a time. */
  readonly concurrency: number
  /** How many calls may wait. */
  readonly queue: number
  /** Records how many calls wait and were refused. */
  readonly cells: InstanceCells
  /** Frees the slots of abandoned calls. Called each time a call leaves. */
  readonly freeAbandoned?: () => void
  /** Records the running calls for the watchdog, which reads them while this thread is blocked. */
  readonly board?: RunningCallsBoard
}

export interface RunningCallsBoard {
  /** `at`: the earliest deadline of the running calls. */
  setDeadline(at: number | undefined): void
  /** `slot`: 0 up to the concurrency limit. Undefined: no call runs there. */
  setRunning(slot: number, call: CallId | undefined): void
}

/** A call that has started and not finished. */
export interface RunningCall {
  readonly call: CallId
  /** In the time of `threadsNow()`. */
  readonly deadline: number | undefined
}

/**
 * The gate before an instance with a concurrency limit, in the instance's worker. Most callers have
 * taken a slot before they call ({@link LimitedService}) and pass at once. A caller in a process
 * shares no memory with the others, and waits here.
 */
export class ConcurrencyGate {
  readonly #options: ConcurrencyGateOptions
  readonly #queue: WaitQueue
  #inside = 0
  /** By slot. */
  readonly #running: (RunningCall | undefined)[]

  constructor(options: ConcurrencyGateOptions) {
    this.#options = options
    this.#running = Array.from({ length: options.concurrency })
    this.#queue = new WaitQueue(options.service, (by) => options.cells.addWaiting(by))
  }

  /**
   * Resolves when the call may start. Rejects with RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or the
   * signal's reason. `deadline`: milliseconds from now.
   */
  async enter(deadline: number | undefined, signal: AbortSignal): Promise<void> {
    if (this.#queue.length > 0 || !this.#admit()) await this.#wait(deadline, signal)
    // After this thread was blocked, read what has arrived meanwhile: it may cancel this call.
    await nextTurn()
    if (!signal.aborted) return
    this.leave()
    throw signal.reason
  }

  leave(): void {
    this.#inside--
    this.#options.freeAbandoned?.()
    this.#queue.serve()
  }

  /** Call it just before an admitted call starts. */
  started(call: RunningCall): void {
    this.#replace(undefined, call)
  }

  finished(call: RunningCall): void {
    this.#replace(call, undefined)
  }

  #wait(deadline: number | undefined, signal: AbortSignal): Promise<void> {
    const { service, queue, cells } = this.#options
    if (this.#queue.length < queue)
      return this.#queue.wait(() => this.#admit(), { deadline, signal, priority: undefined })
    cells.countShed()
    throw queueFull(service, this.#queue.length)
  }

  #replace(before: RunningCall | undefined, after: RunningCall | undefined): void {
    const slot = this.#running.indexOf(before)
    const { board } = this.#options
    if (slot < 0 || board === undefined) return
    this.#running[slot] = after
    board.setRunning(slot, after?.call)
    if ((before ?? after)?.deadline !== undefined) board.setDeadline(this.#firstDeadline())
  }

  #firstDeadline(): number | undefined {
    const deadlines = this.#running.flatMap((call) => call?.deadline ?? [])
    return deadlines.length === 0 ? undefined : Math.min(...deadlines)
  }

  #admit(): boolean {
    if (this.#inside >= this.#options.concurrency) return false
    this.#inside++
    return true
  }
}

export function queueFull(service: string, waiting: number): BusbarError {
  return new BusbarError('RESOURCE_EXHAUSTED', {
    message: `service '${service}' is at its concurrency limit, and its queue is full (${waiting} waiting)`,
    service,
    data: { retryAfter: 1 },
  })
}
