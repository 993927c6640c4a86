import type { QueueCells } from '../shared/metrics/queue-cells.ts'
import type { QueueCounts } from '../shared/queues.ts'
import { splitTarget } from './item-queue.ts'

/** The items of one method, by state. */
export interface ItemCounts {
  readonly waiting: number
  readonly running: number
  readonly dead: number
}

/** `targets`: by `<service>.<method>`. */
export function listCounts(targets: ReadonlyMap<string, ItemCounts>): QueueCounts[] {
  return [...targets].map(([target, counts]) => {
    const [service, method] = splitTarget(target)
    return { service, method, ...counts }
  })
}

/** Writes the counts of the queue to shared memory. */
export class QueueMeter {
  readonly #cells: (service: string) => QueueCells | undefined
  /** Services that have items, or had some at the last time. */
  #shown = new Set<string>()

  constructor(cells: (service: string) => QueueCells | undefined) {
    this.#cells = cells
  }

  count(target: string, what: Parameters<QueueCells['count']>[0]): void {
    this.#cells(splitTarget(target)[0])?.count(what)
  }

  /** `targets`: by `<service>.<method>`. */
  show(targets: ReadonlyMap<string, ItemCounts>): void {
    const byService = new Map<string, ItemCounts>()
    for (const service of this.#shown) byService.set(service, { waiting: 0, running: 0, dead: 0 })
    for (const [target, { waiting, running, dead }] of targets) {
      const [service] = splitTarget(target)
      const sum = byService.get(service) ?? { waiting: 0, running: 0, dead: 0 }
      byService.set(service, {
        waiting: sum.waiting + waiting,
        running: sum.running + running,
        dead: sum.dead + dead,
      })
    }
    for (const [service, counts] of byService) this.#cells(service)?.show(counts)
    this.#shown = new Set(Array.from(targets.keys(), (target) => splitTarget(target)[0]))
  }
}
