import { BusbarError } from '../../../contract/errors.ts'
import { threadsNow } from '../../../shared/metrics/worker-cells.ts'
import type { InstanceTable } from '../../../shared/metrics/instance-table.ts'
import type { ConcurrencySlots } from '../../../shared/calls/concurrency-slots.ts'
import { pickLeastLoaded } from '../balance/pickers.ts'
import type { RemoteEndpoint } from '../endpoint.ts'
import { queueFull } from './concurrency-gate.ts'
import { type QueueOptions, WaitQueue } from './wait-queue.ts'

export interface LimitedServiceOptions {
  readonly service: string
  readonly table: InstanceTable
  /** This worker's row, which owns the slots that it takes. */
  readonly row: number
  /** How many calls of all workers together may wait. */
  readonly queue: number
  /**
   * True: its instances see the slots, and free those of abandoned calls. False (instances in
   * processes): the caller frees them at once.
   */
  readonly inThreads: boolean
}

/** An instance that a call may go to. */
export interface LimitedInstance {
  readonly endpoint: RemoteEndpoint
  readonly row: number
}

export interface TakenSlot extends LimitedInstance {
  readonly slot: number
}

/**
 * Milliseconds after which a waiting worker checks again by itself. A release wakes one waiting
 * worker, and that one may be blocked.
 */
const recheckInterval = 10

/**
 * The calls of this worker to a service with a concurrency limit. A caller takes a slot of an
 * instance before it opens its call. If none is free, the call waits here, in the caller's worker,
 * for the first instance that has one. So no calls pile up at a busy instance that another one
 * could answer, and a full queue refuses calls without involving a busy worker.
 */
export class LimitedService {
  readonly #options: LimitedServiceOptions
  readonly #slots: ConcurrencySlots
  readonly #queue: WaitQueue
  #isWatching = false

  constructor(options: LimitedServiceOptions) {
    const { service, table, row } = options
    const own = table.at(row, service)
    this.#options = options
    this.#slots = table.slots(service)!
    this.#queue = new WaitQueue(service, (by) => own.addWaiting(by))
  }

  /**
   * Takes a slot at once, or when one is free, and calls `taken`. `candidates` is called for each
   * try. Throws or rejects with RESOURCE_EXHAUSTED if too many calls wait, SERVICE_UNAVAILABLE if
   * no instance is left, DEADLINE_EXCEEDED, or the signal's reason.
   */
  take(
    candidates: () => readonly LimitedInstance[],
    taken: (slot: TakenSlot) => void,
    options: QueueOptions,
  ): void | Promise<void> {
    const admit = (): boolean => {
      const instances = candidates()
      if (instances.length === 0) throw this.#noInstance()
      const slot = this.#takeAny(instances)
      if (slot !== undefined) taken(slot)
      return slot !== undefined
    }
    // Waiting calls go first.
    if (this.#queue.length === 0 && admit()) return undefined
    this.#refuseIfFull()
    const waiting = this.#queue.wait(admit, options)
    void this.#watch()
    return waiting
  }

  release({ slot }: TakenSlot): void {
    this.#slots.release(slot)
    // If calls of other workers wait, the release has woken them. If only ours wait, serve them
    // now.
    if (this.#queue.length > 0 && this.#totalWaiting() === this.#queue.length) this.#queue.serve()
  }

  /**
   * For a call past its deadline, or whose caller is gone. The instance may still be busy with it.
   */
  giveUp(taken: TakenSlot): void {
    if (this.#options.inThreads) this.#slots.abandon(taken.slot, threadsNow())
    else this.release(taken)
  }

  /** How many slots of the instance are taken. */
  taken(row: number): number {
    return this.#slots.taken(row)
  }

  #takeAny(candidates: readonly LimitedInstance[]): TakenSlot | undefined {
    const left = [...candidates]
    while (left.length > 0) {
      const best = pickLeastLoaded(left, ({ row }) => {
        const taken = this.#slots.taken(row)
        return taken < this.#slots.concurrency ? taken : Infinity
      })
      if (best === undefined) return undefined
      const slot = this.#slots.take(best.row, this.#options.row)
      if (slot !== undefined) return { ...best, slot }
      // Another worker was faster.
      left.splice(left.indexOf(best), 1)
    }
    return undefined
  }

  #refuseIfFull(): void {
    const { service, table, row, queue } = this.#options
    const waiting = this.#totalWaiting()
    if (waiting < queue) return
    table.at(row, service).countShed()
    throw queueFull(service, waiting)
  }

  /** As for a service without a limit: calls do not wait for an instance that may never come. */
  #noInstance(): BusbarError {
    const { service } = this.#options
    return new BusbarError('SERVICE_UNAVAILABLE', { message: `no instance of service '${service}' is left`, service })
  }

  #totalWaiting(): number {
    const { table, service } = this.#options
    return table.waiting(service)
  }

  /** Runs while calls wait. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return
    this.#isWatching = true
    while (this.#queue.length > 0) {
      const seen = this.#slots.releases
      this.#queue.serve()
      if (this.#queue.length > 0) await this.#slots.released(seen, recheckInterval)
    }
    this.#isWatching = false
  }
}
