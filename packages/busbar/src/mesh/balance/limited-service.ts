import { BusbarError } from '../../contract/errors.ts'
import { threadsNow } from '../../shared/cells.ts'
import type { InstanceTable } from '../../shared/instances.ts'
import type { Slots } from '../../shared/slots.ts'
import type { RemoteEndpoint } from '../endpoint.ts'
import { exhausted } from './gate.ts'
import { leastLoaded } from './least-loaded.ts'
import { type Patience, Turns } from './turns.ts'

export interface LimitedParts {
  readonly service: string
  readonly table: InstanceTable
  /** This worker's row: whose the slots are that it takes. */
  readonly row: number
  /** Calls of all workers together that may wait. */
  readonly queue: number
  /** Its instances see the slots too, and free what was given up. Else it is free at once, as those in processes are. */
  readonly inThreads: boolean
}

/** Of one instance that a call may go to. */
export interface Instance {
  readonly endpoint: RemoteEndpoint
  readonly row: number
}

/** A slot that was taken, and where. */
export interface Place extends Instance {
  readonly slot: number
}

/**
 * Milliseconds after which a waiting worker looks again by itself: a release wakes one sleeper, and that may be in a thread
 * that is blocked.
 */
const looksAgain = 10

/**
 * A service whose instances answer only so many calls at a time. A caller takes a slot of one before it opens its call;
 * where all are taken the call waits here, in the caller's own worker, for whichever instance is free first. So a busy
 * instance has nothing piled up before it that another could do, and the refusal of a call that is one too many needs no
 * answer of anybody who is busy.
 */
export class LimitedService {
  readonly #parts: LimitedParts
  readonly #slots: Slots
  readonly #queue: Turns
  #isWatching = false

  constructor(parts: LimitedParts) {
    const { service, table, row } = parts
    const own = table.at(row, service)
    this.#parts = parts
    this.#slots = table.slots(service)!
    this.#queue = new Turns(service, (by) => own.addWaiting(by))
  }

  /**
   * Takes a slot: at once, or when there is one. `candidates` is asked anew each time. Throws or rejects with
   * RESOURCE_EXHAUSTED where too many wait, with SERVICE_UNAVAILABLE when no instance is left, with DEADLINE_EXCEEDED, or
   * with the signal's reason.
   */
  take(candidates: () => readonly Instance[], taken: (place: Place) => void, patience: Patience): void | Promise<void> {
    const admit = (): boolean => {
      const instances = candidates()
      if (instances.length === 0) throw this.#gone()
      const place = this.#takeAny(instances)
      if (place !== undefined) taken(place)
      return place !== undefined
    }
    // Whoever waits was first.
    if (this.#queue.length === 0 && admit()) return undefined
    this.#refuseIfFull()
    const waiting = this.#queue.wait(admit, patience)
    void this.#watch()
    return waiting
  }

  release({ slot }: Place): void {
    this.#slots.release(slot)
    // Those of other workers have been woken, and have their turn; where there are none, ours need not sleep.
    if (this.#queue.length > 0 && this.#waitingInAll() === this.#queue.length) this.#queue.serve()
  }

  /** Its time is up, or its caller gone; the instance may be busy with it still, and gets no other call in its place. */
  giveUp(place: Place): void {
    if (this.#parts.inThreads) this.#slots.giveUp(place.slot, threadsNow())
    else this.release(place)
  }

  /** Calls that the instance was promised. */
  taken(row: number): number {
    return this.#slots.taken(row)
  }

  #takeAny(candidates: readonly Instance[]): Place | undefined {
    const left = [...candidates]
    while (left.length > 0) {
      const best = leastLoaded(left, ({ row }) => {
        const taken = this.#slots.taken(row)
        return taken < this.#slots.concurrency ? taken : Infinity
      })
      if (best === undefined) return undefined
      const slot = this.#slots.take(best.row, this.#parts.row)
      if (slot !== undefined) return { ...best, slot }
      // Somebody was faster.
      left.splice(left.indexOf(best), 1)
    }
    return undefined
  }

  #refuseIfFull(): void {
    const { service, table, row, queue } = this.#parts
    const waiting = this.#waitingInAll()
    if (waiting < queue) return
    table.at(row, service).countShed()
    throw exhausted(service, waiting)
  }

  /** As for a service without a limit: nobody waits for an instance that may never come. */
  #gone(): BusbarError {
    const { service } = this.#parts
    return new BusbarError('SERVICE_UNAVAILABLE', { message: `no instance of service ${service} is left`, service })
  }

  #waitingInAll(): number {
    const { table, service } = this.#parts
    let waiting = 0
    for (let row = 0; row < table.shape.rows; row++) waiting += table.at(row, service).waiting
    return waiting
  }

  /** As long as anybody waits. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return
    this.#isWatching = true
    while (this.#queue.length > 0) {
      const seen = this.#slots.releases
      this.#queue.serve()
      if (this.#queue.length > 0) await this.#slots.released(seen, looksAgain)
    }
    this.#isWatching = false
  }
}
