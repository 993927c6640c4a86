import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'

/** The slots of an app, over all generations that have workers. */
export class SlotTable {
  /** The slots of the running generation, by index. */
  #current: readonly WorkerSlot[]
  /** Slots that the next generation adds, before it takes over. */
  #starting: readonly WorkerSlot[] = []
  /** Slots that the running generation does not have any more, while their workers drain. */
  readonly #leaving = new Map<WorkerSlot, Promise<void>>()

  constructor(slots: readonly WorkerSlot[]) {
    this.#current = slots
  }

  get current(): readonly WorkerSlot[] {
    return this.#current
  }

  get all(): readonly WorkerSlot[] {
    return [...this.#current, ...this.#starting, ...this.#leaving.keys()]
  }

  /** All workers that have not ended. */
  get workers(): readonly WorkerHandle[] {
    return this.all.flatMap((slot) => slot.workers)
  }

  begin(added: readonly WorkerSlot[]): void {
    this.#starting = added
  }

  discard(): void {
    this.#starting = []
  }

  /** The slots that were added belong to the running generation. */
  takeOver(removed: readonly WorkerSlot[]): void {
    const kept = this.#current.filter((slot) => !removed.includes(slot))
    this.#current = [...kept, ...this.#starting].toSorted((one, other) => one.spec.index - other.spec.index)
    this.#starting = []
  }

  /** Drains the workers of a slot that has gone. */
  retire(slot: WorkerSlot, timeout: number): void {
    const retired = slot.retire(timeout).then(() => void this.#leaving.delete(slot))
    this.#leaving.set(slot, retired)
  }

  /** Resolves when the slots that have gone have no worker any more. */
  async retired(): Promise<void> {
    await Promise.all(this.#leaving.values())
  }
}
