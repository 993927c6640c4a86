import { BusbarError } from '../../contract/errors.ts'
import type { InstanceCells } from '../../shared/instances.ts'
import type { Admission } from '../endpoint.ts'
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
  /** Writes down, for whoever watches this thread while it computes, when the first of the calls inside is to be over. */
  readonly setDue?: (at: number | undefined) => void
}

/**
 * Stands before an instance of a limited service, in its own worker. Most callers have taken a slot before they called
 * ({@link LimitedService}), and find it open; a process shares no memory with the others, and waits here.
 */
export class Gate implements Admission {
  readonly #parts: GateParts
  readonly #queue: Turns
  #inside = 0
  /** Of those of the calls inside that have one, as moments of `threadsNow()`. */
  readonly #deadlines: number[] = []

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#queue = new Turns(parts.service, (by) => parts.cells.addWaiting(by))
  }

  enter(deadline: number | undefined, signal: AbortSignal | undefined, priority?: number): void | Promise<void> {
    if (this.#queue.length === 0 && this.#admit()) return undefined
    const { service, queue, cells } = this.#parts
    if (this.#queue.length < queue) return this.#queue.wait(() => this.#admit(), { deadline, signal, priority })
    cells.countShed()
    throw exhausted(service, this.#queue.length)
  }

  leave(): void {
    this.#inside--
    this.#parts.freeGivenUp?.()
    this.#queue.serve()
  }

  /** Just before a call begins that is over at `deadline`, whatever becomes of it. */
  begins(deadline: number): void {
    this.#deadlines.push(deadline)
    this.#tellDue()
  }

  /** It has left, or never began. */
  ends(deadline: number): void {
    const at = this.#deadlines.indexOf(deadline)
    if (at < 0) return
    this.#deadlines.splice(at, 1)
    this.#tellDue()
  }

  #tellDue(): void {
    this.#parts.setDue?.(this.#deadlines.length === 0 ? undefined : Math.min(...this.#deadlines))
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
