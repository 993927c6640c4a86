import type { InstanceTable } from '../../shared/metrics/instance-table.ts'

/** Calls per second. With fewer, a slow start would only make a change take longer. */
const frequent = 20

/** How often some workers have been called since this was created. */
export class CallRate {
  readonly #table: InstanceTable
  readonly #rows: readonly number[]
  readonly #before: readonly number[]
  readonly #began = performance.now()

  /** `rows`: of the workers in the shared memory. */
  constructor(table: InstanceTable, rows: readonly number[]) {
    this.#table = table
    this.#rows = rows
    this.#before = this.#read()
  }

  /** In calls per second, over the whole time. */
  get isFrequent(): boolean {
    const calls = this.#read().reduce((sum, count, at) => sum + ((count - (this.#before[at] ?? 0)) >>> 0), 0)
    return (calls * 1000) / (performance.now() - this.#began) >= frequent
  }

  /** By service and row. */
  #read(): number[] {
    return this.#table.shape.services.flatMap(({ name }) => this.#rows.map((row) => this.#table.at(row, name).calls))
  }
}
