/**
 * Where the cells of a service in `instance-table.ts` have the items of its methods. Only the
 * worker that owns the queue writes them, in its own row.
 */
const cell = {
  enqueued: 10,
  duplicates: 11,
  attempts: 12,
  failures: 13,
  buried: 14,
  waiting: 15,
  running: 16,
  dead: 17,
} as const

/** The items of a service's methods in the app's queue. */
export type QueueCounts = { readonly [Name in keyof typeof cell]: number }

export const queueCounters = ['enqueued', 'duplicates', 'attempts', 'failures', 'buried'] as const
/** What is in the queue now. */
export const queueGauges = ['waiting', 'running', 'dead'] as const

export const noQueueCounts: QueueCounts = {
  enqueued: 0,
  duplicates: 0,
  attempts: 0,
  failures: 0,
  buried: 0,
  waiting: 0,
  running: 0,
  dead: 0,
}

export class QueueCells {
  readonly #cells: Uint32Array

  constructor(cells: Uint32Array) {
    this.#cells = cells
  }

  get counts(): QueueCounts {
    const counts: Record<keyof QueueCounts, number> = { ...noQueueCounts }
    for (const name of [...queueCounters, ...queueGauges]) counts[name] = this.#cells[cell[name]]!
    return counts
  }

  count(what: (typeof queueCounters)[number]): void {
    this.#cells[cell[what]] = this.#cells[cell[what]]! + 1
  }

  show(counts: Pick<QueueCounts, (typeof queueGauges)[number]>): void {
    for (const name of queueGauges) this.#cells[cell[name]] = counts[name]
  }
}
