import type { App, Service } from '../config/app.ts'
import type { SlotSpec } from './plan.ts'

/** A worker that is to start, in its slot. */
export interface SlotStart {
  readonly spec: SlotSpec
  /** Rejects if it does not start. */
  start(): Promise<void>
}

/**
 * Starts the workers, at most `startConcurrency` at a time, or all at once. With a limit, a worker
 * starts after those that its services need, so that none holds up others while it waits. Workers
 * that need each other are beyond the limit. Rejects with the first error. `isOver`: nothing more
 * may start.
 */
export async function startSlots(
  slots: readonly SlotStart[],
  { services, startConcurrency: limit }: Pick<App, 'services' | 'startConcurrency'>,
  isOver: () => boolean,
): Promise<void> {
  if (limit === undefined) return void (await Promise.all(slots.map((slot) => slot.start())))
  await new LimitedStart(slots, services, limit, isOver).run()
}

class LimitedStart {
  readonly #slots: readonly SlotStart[]
  readonly #isOver: () => boolean
  /** For each slot, groups of other slots. One slot of each group must serve first. */
  readonly #needs: ReadonlyMap<SlotStart, readonly (readonly SlotStart[])[]>
  readonly #starts = new Map<SlotStart, Promise<void>>()
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(slots: readonly SlotStart[], services: readonly Service[], limit: number, isOver: () => boolean) {
    this.#slots = slots
    this.#isOver = isOver
    this.#free = limit
    this.#needs = new Map(slots.map((slot) => [slot, neededBy(slot, slots, services)]))
  }

  async run(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => this.#start(slot)))
  }

  #start(slot: SlotStart): Promise<void> {
    const known = this.#starts.get(slot)
    if (known !== undefined) return known
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#starts.set(slot, promise)
    resolve(this.#startInTurn(slot))
    return promise
  }

  async #startInTurn(slot: SlotStart): Promise<void> {
    const groups = this.#needs.get(slot)!
    const first = groups.map((group) => group.filter((other) => !this.#reaches(other, slot)))
    await Promise.all(
      first.filter(({ length }) => length > 0).map((group) => anyOf(group.map((one) => this.#start(one)))),
    )
    const isCyclic = groups.some((group) => group.some((other) => this.#reaches(other, slot)))
    if (!isCyclic) await this.#enter()
    try {
      if (!this.#isOver()) await slot.start()
    } finally {
      if (!isCyclic) this.#leave()
    }
  }

  /** Whether `from` has to wait, directly or not, for `to`. */
  #reaches(from: SlotStart, to: SlotStart, seen = new Set<SlotStart>()): boolean {
    if (from === to) return true
    if (seen.has(from)) return false
    seen.add(from)
    return this.#needs.get(from)!.some((group) => group.some((next) => this.#reaches(next, to, seen)))
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) return void this.#free--
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    await promise
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/** Services in the same worker start each other in order. */
function neededBy({ spec }: SlotStart, slots: readonly SlotStart[], services: readonly Service[]): SlotStart[][] {
  const here = new Set(spec.hosts.map(({ name }) => name))
  const needed = new Set(services.filter(({ name }) => here.has(name)).flatMap(({ needs }) => needs))
  return [...needed]
    .filter((name) => !here.has(name))
    .map((name) => slots.filter((slot) => slot.spec.hosts.some((host) => host.name === name)))
}

/** Rejects with the first error if all fail. */
async function anyOf(starts: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.any(starts)
  } catch (error) {
    throw (error as AggregateError).errors[0]
  }
}
