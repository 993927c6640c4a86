import { setImmediate as turn } from 'node:timers/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { CallId } from '../../shared/control.ts'
import type { InstanceCells } from '../../shared/instances.ts'
import { Turns } from './turns.ts'

export interface GateParts {
  readonly service: string
  /** Calls that may be inside at a time. */
  readonly concurrency: number
  /** Calls that may wait. */
  readonly queue: number
  /** Where it is written down how many wait and were refused. */
  readonly cells: InstanceCells
  /** Frees the slots of calls that were given up, each time one has left. */
  readonly freeGivenUp?: () => void
  /** Where it is written down, for whoever watches this thread while it computes, what is inside. */
  readonly board?: Board
}

export interface Board {
  /** When the first of the calls inside is to be over. */
  setDue(at: number | undefined): void
  /** Which call is in one of as many places as there is concurrency; undefined: none. */
  setInside(place: number, call: CallId | undefined): void
}

/** A call inside, as long as it may compute. */
export interface Begun {
  readonly call: CallId
  /** When it is over, whatever becomes of it, as a moment of `threadsNow()`. */
  readonly deadline: number | undefined
}

/**
 * Stands before an instance of a limited service, in its own worker. Most callers have taken a slot before they called
 * ({@link LimitedService}), and find it open; a process shares no memory with the others, and waits here.
 */
export class Gate {
  readonly #parts: GateParts
  readonly #queue: Turns
  #inside = 0
  /** In their places. */
  readonly #begun: (Begun | undefined)[]

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#begun = Array.from({ length: parts.concurrency })
    this.#queue = new Turns(parts.service, (by) => parts.cells.addWaiting(by))
  }

  /**
   * Resolves when the call may begin. Rejects with RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or the signal's reason. `deadline`: in
   * milliseconds from now.
   */
  async enter(deadline: number | undefined, signal: AbortSignal): Promise<void> {
    if (this.#queue.length > 0 || !this.#admit()) await this.#wait(deadline, signal)
    // Where this thread has computed, what has come meanwhile is read first: the call's own cancel may be among it.
    await turn()
    if (!signal.aborted) return
    this.leave()
    throw signal.reason
  }

  leave(): void {
    this.#inside--
    this.#parts.freeGivenUp?.()
    this.#queue.serve()
  }

  /** Just before a call begins that has entered. */
  begins(begun: Begun): void {
    this.#replace(undefined, begun)
  }

  /** It has left. */
  ends(begun: Begun): void {
    this.#replace(begun, undefined)
  }

  #wait(deadline: number | undefined, signal: AbortSignal): Promise<void> {
    const { service, queue, cells } = this.#parts
    if (this.#queue.length < queue)
      return this.#queue.wait(() => this.#admit(), { deadline, signal, priority: undefined })
    cells.countShed()
    throw exhausted(service, this.#queue.length)
  }

  #replace(before: Begun | undefined, after: Begun | undefined): void {
    const place = this.#begun.indexOf(before)
    const { board } = this.#parts
    if (place < 0 || board === undefined) return
    this.#begun[place] = after
    board.setInside(place, after?.call)
    if ((before ?? after)?.deadline !== undefined) board.setDue(this.#firstDeadline())
  }

  #firstDeadline(): number | undefined {
    const deadlines = this.#begun.flatMap((begun) => begun?.deadline ?? [])
    return deadlines.length === 0 ? undefined : Math.min(...deadlines)
  }

  #admit(): boolean {
    if (this.#inside >= this.#parts.concurrency) return false
    this.#inside++
    return true
  }
}

export function exhausted(service: string, waiting: number): BusbarError {
  return new BusbarError('RESOURCE_EXHAUSTED', {
    message: `service ${service} is busy, and ${waiting} calls wait for it`,
    service,
    data: { retryAfter: 1 },
  })
}
