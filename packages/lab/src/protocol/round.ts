import type { Tick } from '../engine/job.ts'
import { ownFlags } from '../machine/samples.ts'
import { Copy, type CopyOptions } from './copy.ts'
import { faultsOfSlice, type Fault } from './faults.ts'
import { completed, likenessOf, type Likeness } from './parity.ts'
import type { Patience } from './patience.ts'
import { shuffled, type Cell, type Timing } from './plan.ts'
import { runSlice, type Slice, type SliceOptions, type Work } from './slice.ts'
import { isSteady, stretchMs } from './warm-up.ts'

export interface Round {
  /** How long it took. */
  readonly seconds: number
  /** Of these, waited until the machine was calm. */
  readonly waited: number
  readonly cells: ReadonlyMap<string, CellRound>
}

export interface CellRound {
  readonly slices: readonly Slice[]
  readonly open: readonly OpenSlice[]
  /** Slices thrown away because the machine took too much from them. */
  readonly lost: number
  /** What came wrong outside of the slices that count: while it was warmed up, or in slices thrown away. */
  readonly faults: readonly Fault[]
  /** Why this cell has no good slice in this round. */
  readonly failure: string | undefined
  /** Whether the load had settled when the first slice began; undefined where nobody waited for that. */
  readonly steady: boolean | undefined
  /** What it answered before it was loaded. */
  readonly answer: Likeness | undefined
  /** Of its Node programs, each once: another version or another flag is another arm. */
  readonly runtimes: readonly string[]
}

/** A slice at a fixed rate. */
export interface OpenSlice {
  /** The rate as a share of what the baseline answered in its closed loop. */
  readonly share: number
  readonly rate: number
  readonly slice: Slice
}

export interface RoundOptions {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly slice: Pick<SliceOptions, 'engine' | 'generatorCpu'>
  readonly copies: Omit<CopyOptions, 'workers'>
  /** Two copies cannot live side by side: each is started for one visit and ended after it. */
  readonly oneAtATime: boolean
  readonly random: () => number
  readonly patience: Patience
  /** What the baseline of a cell answers a second, as earlier rounds have shown. */
  readonly capacities: ReadonlyMap<string, number>
  readonly tell: (cell: Cell, doing: Doing) => void
  readonly signal?: AbortSignal
}

export type Doing = 'start' | 'warm up' | 'measure' | 'measure latency' | 'wait for a calm machine with'

type Draft = { -readonly [Key in keyof CellRound]: CellRound[Key] } & {
  slices: Slice[]
  open: OpenSlice[]
  faults: Fault[]
}

/** Of a slice that was disturbed. */
const repeats = 2
/** A load so short tells whether the machine is calm: a tick of the kernel's clock is 1 % of it on two processors. */
const glanceMs = 500
/** Each copy is asked so often before it is loaded: what differs between these answers varies by itself. */
const questions = 3

/**
 * Starts a fresh copy of every cell, warms it and stops it in its tracks; then visits the cells in random order and once
 * more in the mirrored order, so that a drift within the round falls on all alike, each thawed only while it is measured.
 */
export async function runRound(options: RoundOptions): Promise<Round> {
  const round = new RoundRun(options)
  const began = performance.now()
  try {
    await round.run()
  } finally {
    await round.end()
  }
  return { seconds: (performance.now() - began) / 1000, waited: round.waited, cells: round.results }
}

class RoundRun {
  readonly results: ReadonlyMap<string, Draft>
  waited = 0
  readonly #options: RoundOptions
  readonly #order: readonly Cell[]
  readonly #copies = new Map<string, Copy>()

  constructor(options: RoundOptions) {
    this.#options = options
    this.#order = shuffled(options.cells, options.random)
    this.results = new Map(this.#order.map((cell) => [cell.name, emptyDraft()]))
  }

  async run(): Promise<void> {
    if (!this.#options.oneAtATime) for (const cell of this.#order) await this.#attempt(cell, () => this.#start(cell))
    await this.#visitAll((cell, copy) => this.#measureClosed(cell, copy))
    for (const share of this.#options.timing.openShares)
      await this.#visitAll((cell, copy) => this.#measureOpen(cell, copy, share))
  }

  async end(): Promise<void> {
    await Promise.all([...this.#copies.values()].map((copy) => copy.end()))
  }

  async #visitAll(measure: (cell: Cell, copy: Copy) => Promise<void>): Promise<void> {
    for (const cell of [...this.#order, ...this.#order.toReversed()])
      await this.#attempt(cell, () => this.#visit(cell, measure))
  }

  async #visit(cell: Cell, measure: (cell: Cell, copy: Copy) => Promise<void>): Promise<void> {
    if (this.#options.oneAtATime) await this.#start(cell)
    const copy = this.#copies.get(cell.name)
    if (copy === undefined) return
    await copy.thaw()
    try {
      await measure(cell, copy)
    } catch (error) {
      throw copy.hasEnded ? new Error(`it ended under load:\n${copy.said}`, { cause: error }) : error
    } finally {
      await copy.freeze()
      if (this.#options.oneAtATime) {
        this.#copies.delete(cell.name)
        await copy.end()
      }
    }
  }

  /** What goes wrong with a cell is the cell's, and the round goes on. */
  async #attempt(cell: Cell, action: () => Promise<void>): Promise<void> {
    if (this.#options.signal?.aborted) return
    try {
      await action()
    } catch (error) {
      this.results.get(cell.name)!.failure = (error as Error).message
    }
  }

  async #start(cell: Cell): Promise<void> {
    const { copies, signal, tell } = this.#options
    const result = this.results.get(cell.name)!
    tell(cell, 'start')
    const copy = await Copy.start(cell.arm, { ...copies, workers: cell.workers, ...(signal && { signal }) })
    this.#copies.set(cell.name, copy)
    result.answer = await this.#ask(cell, copy)
    tell(cell, 'warm up')
    result.steady = await this.#warmUp(cell, copy)
    const programs = (await copy.samples()).filter(({ thread }) => thread === 0)
    result.runtimes = [...new Set(programs.map((each) => [each.version, ...ownFlags(each)].join(' ')))].toSorted()
    await copy.freeze()
  }

  async #ask({ work }: Cell, copy: Copy): Promise<Likeness | undefined> {
    // A job would take as long again for each question; what it must answer, its request says.
    if (work.runs !== undefined) return undefined
    const answers = []
    for (let time = 0; time < questions; time++) answers.push(await copy.ask(work.requests[0]))
    return likenessOf(answers)
  }

  async #warmUp(cell: Cell, copy: Copy): Promise<boolean | undefined> {
    const { timing } = this.#options
    const ticks = await this.#warm(cell, copy, timing.warmUpMs)
    if (timing.steadyMs === 0 || cell.work.runs !== undefined) return undefined
    for (let spent = 0; !isSteady(ticks) && spent < timing.steadyMs; spent += stretchMs)
      ticks.push(...(await this.#warm(cell, copy, stretchMs)))
    return isSteady(ticks)
  }

  async #warm(cell: Cell, copy: Copy, durationMs: number): Promise<Tick[]> {
    const slice = await this.#slice(cell, copy, cell.work, durationMs)
    this.results.get(cell.name)!.faults.push(...faultsOfSlice(slice))
    return [...slice.ticks]
  }

  async #measureClosed(cell: Cell, copy: Copy): Promise<void> {
    const slice = await this.#undisturbed(cell, copy, cell.work, 'measure')
    if (slice !== undefined) this.results.get(cell.name)!.slices.push(slice)
  }

  async #measureOpen(cell: Cell, copy: Copy, share: number): Promise<void> {
    const capacity = this.#capacityFor(cell)
    if (capacity === undefined || !canBeOpen(cell.work)) return
    const rate = Math.max(1, Math.round(capacity * share))
    const { pipelining: _, ...work } = cell.work
    const slice = await this.#undisturbed(cell, copy, { ...work, rate }, 'measure latency')
    if (slice !== undefined) this.results.get(cell.name)!.open.push({ share, rate, slice })
  }

  /** The same in every round, else a faster round would ask more of every arm. */
  #capacityFor({ name, baseline = name }: Cell): number | undefined {
    const known = this.#options.capacities.get(baseline)
    if (known !== undefined) return known
    return capacityOf(this.results.get(baseline))
  }

  /** Undefined where the machine took too much, however often it was tried. */
  async #undisturbed(cell: Cell, copy: Copy, work: Work, doing: Doing): Promise<Slice | undefined> {
    const { sliceMs, disturbed } = this.#options.timing
    for (let attempt = 0; attempt <= repeats; attempt++) {
      await this.#waitUntilCalm(cell, copy, work)
      this.#options.tell(cell, doing)
      const found = await this.#slice(cell, copy, work, sliceMs)
      const { steal, throttled } = found.disturbance
      if (steal <= disturbed && throttled <= disturbed) return found
      this.results.get(cell.name)!.lost++
      this.#keepFaults(cell, work, found)
      if (steal > disturbed) this.#options.patience.afterLoss()
    }
    return undefined
  }

  /** Looked at under the same load: nothing is stolen from who wants nothing, and less from a loop that spins than from threads that wake each other. */
  async #waitUntilCalm(cell: Cell, copy: Copy, work: Work): Promise<void> {
    const { patience, timing, tell, signal } = this.#options
    this.waited += await patience.untilCalm(async () => {
      tell(cell, 'wait for a calm machine with')
      const glance = await this.#slice(cell, copy, work, glanceMs)
      this.#keepFaults(cell, work, glance)
      return glance.disturbance.steal <= timing.disturbed
    }, signal)
  }

  /** Of a slice that does not count. An open loop may ask too much, and what then fails is told with the slices that count. */
  #keepFaults(cell: Cell, work: Work, slice: Slice): void {
    if (work.rate === undefined) this.results.get(cell.name)!.faults.push(...faultsOfSlice(slice))
  }

  #slice(cell: Cell, copy: Copy, work: Work, durationMs: number): Promise<Slice> {
    const { timing, slice, random, signal } = this.#options
    const { answer } = this.results.get(cell.name)!
    const [request] = work.requests
    return runSlice(
      copy,
      { ...work, requests: [answer === undefined ? request : completed(request, answer)] },
      {
        ...slice,
        durationMs,
        discardMs: Math.min(timing.discardMs, durationMs / 2),
        seed: Math.floor(random() * 2 ** 31),
        ...(signal && { signal }),
      },
    )
  }
}

/** Good answers a second in the closed loop of a round. */
export function capacityOf(cell: Pick<CellRound, 'slices'> | undefined): number | undefined {
  const slices = cell?.slices ?? []
  if (slices.length === 0) return undefined
  return slices.reduce((sum, { result }) => sum + result.perSecond, 0) / slices.length
}

/** A job has no rate, and what has one already keeps it. */
function canBeOpen({ runs, rate }: Work): boolean {
  return runs === undefined && rate === undefined
}

function emptyDraft(): Draft {
  return {
    slices: [],
    open: [],
    lost: 0,
    faults: [],
    failure: undefined,
    steady: undefined,
    answer: undefined,
    runtimes: [],
  }
}
