import { createHistogram } from 'node:perf_hooks'
import type { LoadReport } from './load.ts'
import type { Cost } from './tour-app.ts'

const heads = ['step', 'stock runs in', 'requests/s', 'p50 ms', 'p99 ms', 'failures', 'CPU µs/request', 'memory MB']
const widths = [34, 15, 10, 8, 8, 8, 14, 9]

/** One row of the table: what the load has seen since the step began. */
export class Step {
  readonly name: string
  readonly placement: string
  /** The first few, for the end of the tour. */
  readonly failures: string[] = []
  readonly #began = performance.now()
  readonly #latencies = createHistogram({ figures: 3 })
  #failed = 0
  #ended: number | undefined
  #cpu: number | undefined
  #memory: number | undefined

  constructor(name: string, placement: string) {
    this.name = name
    this.placement = placement
  }

  get failed(): number {
    return this.#failed
  }

  add({ latencies, failures }: LoadReport): void {
    for (const latency of latencies) this.#latencies.record(Math.max(1, Math.round(latency * 1000)))
    this.#failed += failures.length
    this.failures.push(...failures.slice(0, Math.max(0, 5 - this.failures.length)))
  }

  /** `before` and `after`: around a time without a change; `requests`: answered in it. */
  costs(before: Cost, after: Cost, requests: number): void {
    this.#cpu = Math.max(0, after.cpu - before.cpu) / Math.max(1, requests)
    this.#memory = after.memory
  }

  end(): void {
    this.#ended = performance.now()
  }

  get cells(): string[] {
    const seconds = ((this.#ended ?? performance.now()) - this.#began) / 1000
    const { count } = this.#latencies
    const quantile = (percent: number): string =>
      count === 0 ? '–' : (this.#latencies.percentile(percent) / 1000).toFixed(1)
    return [
      this.name,
      this.placement,
      (count / seconds).toFixed(0),
      quantile(50),
      quantile(99),
      `${this.#failed}`,
      this.#cpu === undefined ? '…' : (this.#cpu * 1000).toFixed(0),
      this.#memory === undefined ? '…' : (this.#memory / 1024 ** 2).toFixed(0),
    ]
  }
}

/** Draws the rows again and again on a terminal, and once each elsewhere. */
export class Table {
  readonly #out: NodeJS.WriteStream
  readonly #steps: Step[] = []

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
    out.write(`${lineOf(heads)}\n`)
  }

  get steps(): readonly Step[] {
    return this.#steps
  }

  begin(step: Step): void {
    this.#steps.push(step)
    if (this.#out.isTTY) this.#out.write(`${lineOf(step.cells)}\n`)
  }

  /** Draws the last row again. */
  draw(): void {
    const step = this.#steps.at(-1)
    if (step !== undefined && this.#out.isTTY) this.#out.write(`\x1b[1A\r\x1b[2K${lineOf(step.cells)}\n`)
  }

  end(): void {
    this.#steps.at(-1)?.end()
    if (this.#out.isTTY) this.draw()
    else this.#out.write(`${lineOf(this.#steps.at(-1)!.cells)}\n`)
  }
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')
}
