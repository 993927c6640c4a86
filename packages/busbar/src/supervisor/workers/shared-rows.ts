/**
 * Assigns rows of the memory that all workers share. Its size is fixed when the app starts.
 */
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { ServiceShape } from '../../shared/metrics/instance-table.ts'

/**
 * Rows of a slot in the shared memory: for its worker, the spare, the worker of the next generation
 * and the one that it replaces. Rows that no worker has used take no memory.
 */
export const rowsPerSlot = 4

/** Slots that `scale`, `move` and new configs may add while the app runs. */
export const moreSlots = 16

/** Services that new configs may add while the app runs. */
export const morePlaces = 16

/** The rows that no worker has. The one that was freed first is taken first. */
export class FreeRows {
  readonly #free: number[]
  readonly #all: number

  constructor(rows: number) {
    this.#all = rows
    this.#free = Array.from({ length: rows }, (_, row) => row)
  }

  take(): number {
    const row = this.#free.shift()
    if (row === undefined)
      throw new BusbarError('RESOURCE_EXHAUSTED', {
        message: `the app has ${this.#all} workers, as many as it can have until it starts again`,
        hint: 'Stop the app and start it again: it then has room for all workers of its config.',
      })
    return row
  }

  /** The worker of the row has ended. */
  free(row: number): void {
    this.#free.push(row)
  }
}

/** The places of `services`: those that are known keep theirs, and services that are gone, too. */
export function placesOf(known: readonly ServiceShape[], services: readonly Service[]): ServiceShape[] {
  const added = services.filter(({ name }) => !known.some((one) => one.name === name))
  const shapeOf = ({ name, concurrency }: Service): ServiceShape => ({ name, concurrency })
  const kept = known.map((before) => {
    const service = services.find(({ name }) => name === before.name)
    return service === undefined || service.concurrency === before.concurrency ? before : shapeOf(service)
  })
  return [...kept, ...added.map(shapeOf)]
}
