/**
 * How long the calls took that one worker made, by caller and callee: the part of its block in `instances.ts` that is
 * for that.
 *
 *     pair │ caller + 1 │ callee + 1 │ milliseconds │ … │ buckets of `latency.ts` … │        caller + 1 = 0: not in use
 */
import { bucketCount, bucketOf } from './latency.ts'

const head = 4
const pairCells = head + Math.ceil(bucketCount / 4) * 4
/** Pairs of caller and callee that a worker tells apart; what comes beyond is counted together. */
const limit = 64

/** Stands for callers that are no service: the gateway's clients, and what runs outside of any service. */
export const outside = ''
/** Stands for both sides of all the pairs for which there was no room. */
export const others = '*'

/** How many cells the table takes, by the number of services. */
export function latencyCells(services: number): number {
  return Math.min(limit, (services + 1) * services + 1) * pairCells
}

/** One pair's share of a {@link LatencyTable}, as it is read. */
export interface PairLatency {
  readonly caller: string
  readonly callee: string
  /** In milliseconds, of all calls together; wraps. */
  readonly sum: number
  /** By bucket of `latency.ts`; they wrap. */
  readonly counts: Uint32Array
}

/** How long the calls took that one worker made, by caller and callee. */
export class LatencyTable {
  readonly #services: readonly string[]
  readonly #cells: Uint32Array
  readonly #known = new Map<string, PairCells>()

  constructor(services: readonly string[], cells: Uint32Array) {
    this.#services = services
    this.#cells = cells
  }

  /** For the worker that writes: always the same for the same two. `caller`: a service, or {@link outside}. */
  of(caller: string, callee: string): PairCells {
    const key = `${caller}>${callee}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const pair = this.#take(this.#numberOf(caller), this.#numberOf(callee))
    this.#known.set(key, pair)
    return pair
  }

  read(): PairLatency[] {
    return Array.from({ length: this.#length }, (_, at) => this.#cellsAt(at))
      .filter((cells) => Atomics.load(cells, 0) !== 0)
      .map((cells) => ({
        caller: this.#nameOf(cells[0]!),
        callee: this.#nameOf(cells[1]!),
        sum: cells[2]!,
        counts: cells.slice(head, head + bucketCount),
      }))
  }

  get #length(): number {
    return this.#cells.length / pairCells
  }

  #cellsAt(at: number): Uint32Array {
    return this.#cells.subarray(at * pairCells, (at + 1) * pairCells)
  }

  /** The last one is for all that find no other. */
  #take(caller: number, callee: number): PairCells {
    const at = Math.min(this.#known.size, this.#length - 1)
    const cells = this.#cellsAt(at)
    const isLast = at === this.#length - 1
    cells[1] = isLast ? this.#services.length + 2 : callee
    Atomics.store(cells, 0, isLast ? this.#services.length + 2 : caller)
    return new PairCells(cells)
  }

  #numberOf(name: string): number {
    return (name === outside ? this.#services.length : this.#services.indexOf(name)) + 1
  }

  #nameOf(number: number): string {
    if (number === this.#services.length + 2) return others
    return this.#services[number - 1] ?? outside
  }
}

export class PairCells {
  readonly #cells: Uint32Array
  /** What the sum's cell, in whole milliseconds, lacks. */
  #rest = 0

  constructor(cells: Uint32Array) {
    this.#cells = cells
  }

  /** `weight`: for how many calls this one stands. */
  add(milliseconds: number, weight = 1): void {
    const cells = this.#cells
    const at = head + bucketOf(Math.ceil(milliseconds * 1000))
    cells[at] = cells[at]! + weight
    const sum = this.#rest + milliseconds * weight
    const whole = Math.floor(sum)
    this.#rest = sum - whole
    cells[2] = cells[2]! + whole
  }
}
