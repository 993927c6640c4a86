import type { Tick } from '../engine/job.ts'
import { userFlags } from '../machine/samples.ts'
import { RunningArm, type RunningArmOptions } from './running-arm.ts'
import { faultsOfSlice, type Fault } from './faults.ts'
import { sampleAnswers, withAnswers } from './answers.ts'
import type { AnswerProfile } from './parity.ts'
import { canPulse, runPulses } from './pulses.ts'
import type { WaitBudget } from './wait-budget.ts'
import { shuffled, type Cell, type Timing } from './plan.ts'
import { runSlice, type Slice, type SliceOptions, type Work } from './slice.ts'
import { type Cold, warmUp } from './warming.ts'

export interface Round {
  /** Duration. */
  readonly seconds: number
  /** Seconds of these spent waiting for a calm machine. */
  readonly waited: number
  readonly cells: ReadonlyMap<string, CellRound>
}

export interface CellRound {
  readonly slices: readonly Slice[]
  readonly open: readonly OpenSlice[]
  /** Slices discarded because the machine disturbed them too much. */
  readonly lost: number
  /** Faults during warm-up and in discarded slices. */
  readonly faults: readonly Fault[]
  /** Why this cell has no good slice in this round. */
  readonly failure: string | undefined
  /** What its warm-up lacked in the end. */
  readonly cold: Cold | undefined
  /** Its answers before the load, by request. Empty for jobs. */
  readonly answers: readonly AnswerProfile[]
  /** Distinct versions and flags of its Node programs. They must be those of the baseline. */
  readonly runtimes: readonly string[]
}

/** A slice at a fixed rate. */
export interface OpenSlice {
  /** The rate as a share of the baseline's throughput in the closed loop. */
  readonly share: number
  readonly rate: number
  readonly slice: Slice
}

export interface RoundOptions {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly slice: Pick<SliceOptions, 'engine' | 'generatorCpu'>
  readonly workspace: Omit<RunningArmOptions, 'workers'>
  /**
   * Starts each arm for one visit of two slices and ends it afterwards, since no two can run at a
   * time. A start takes longer than a slice, so there is no second visit.
   */
  readonly oneAtATime: boolean
  readonly random: () => number
  readonly waitBudget: WaitBudget
  /** Throughput of baselines in earlier rounds, by the name of the cell. */
  readonly capacities: ReadonlyMap<string, number>
  readonly onActivity: (cell: Cell, activity: Activity) => void
  readonly signal?: AbortSignal
}

export type Activity = 'start' | 'warm up' | 'measure' | 'measure latency' | 'wait for a calm machine with'

type Draft = { -readonly [Key in keyof CellRound]: CellRound[Key] } & {
  slices: Slice[]
  open: OpenSlice[]
  faults: Fault[]
}

/** How often a disturbed slice is repeated. */
const maxRepeats = 2
/** Duration of the load that checks whether the machine is calm. A kernel tick is 1 % of it. */
const calmCheckMs = 500
/**
 * Starts, warms up and freezes every cell. Then measures the cells in pulses, or visits them in
 * random order and again in reverse order, so that a drift within the round affects all alike. A
 * cell runs only while it is measured.
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
  readonly #began = performance.now()
  readonly #running = new Map<string, RunningArm>()
  /** Samples of the last warm-up. Those of a program that is frozen in between have gaps. */
  readonly #warmRuntimes = new Map<string, Slice['runtime']>()

  constructor(options: RoundOptions) {
    this.#options = options
    this.#order = shuffled(options.cells, options.random)
    this.results = new Map(this.#order.map((cell) => [cell.name, emptyDraft()]))
  }

  async run(): Promise<void> {
    if (!this.#options.oneAtATime) for (const cell of this.#order) await this.#attempt(cell, () => this.#start(cell))
    if (this.#canPulse()) await this.#measureInPulses()
    else await this.#visitAll((cell, running) => this.#measureClosed(cell, running))
    for (const share of this.#options.timing.openShares)
      await this.#visitAll((cell, running) => this.#measureOpen(cell, running, share))
  }

  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.end()))
  }

  async #visitAll(measure: (cell: Cell, running: RunningArm) => Promise<void>): Promise<void> {
    const { oneAtATime } = this.#options
    for (const cell of oneAtATime ? this.#order : [...this.#order, ...this.#order.toReversed()])
      await this.#attempt(cell, () => this.#visit(cell, measure))
  }

  async #visit(cell: Cell, measure: (cell: Cell, running: RunningArm) => Promise<void>): Promise<void> {
    if (this.#options.oneAtATime) await this.#start(cell)
    const running = this.#running.get(cell.name)
    if (running === undefined) return
    await running.thaw()
    try {
      await measure(cell, running)
    } catch (error) {
      throw running.hasEnded ? new Error(`it ended under load:\n${running.output}`, { cause: error }) : error
    } finally {
      running.freeze()
      if (this.#options.oneAtATime) {
        this.#running.delete(cell.name)
        await running.end()
      }
    }
  }

  /** A failure belongs to the cell. The round continues. */
  async #attempt(cell: Cell, action: () => Promise<void>): Promise<void> {
    if (this.#options.signal?.aborted) return
    try {
      await action()
    } catch (error) {
      this.results.get(cell.name)!.failure = (error as Error).message
    }
  }

  async #start(cell: Cell): Promise<void> {
    const { workspace, signal, onActivity } = this.#options
    const result = this.results.get(cell.name)!
    onActivity(cell, 'start')
    const running = await RunningArm.start(cell.arm, { ...workspace, workers: cell.workers, ...(signal && { signal }) })
    this.#running.set(cell.name, running)
    result.answers = await sampleAnswers(cell.work, running)
    onActivity(cell, 'warm up')
    result.cold = await this.#warmUp(cell, running)
    const programs = (await running.samples()).filter(({ thread }) => thread === 0)
    result.runtimes = [...new Set(programs.map((each) => [each.version, ...userFlags(each)].join(' ')))].toSorted()
    running.freeze()
  }

  async #warmUp(cell: Cell, running: RunningArm): Promise<Cold | undefined> {
    const load = async (milliseconds: number): Promise<readonly Tick[]> => {
      const slice = await this.#slice(cell, running, cell.work, milliseconds)
      this.results.get(cell.name)!.faults.push(...faultsOfSlice(slice))
      this.#warmRuntimes.set(cell.name, slice.runtime)
      return slice.ticks
    }
    if (cell.work.runs === undefined) return await warmUp(load, this.#options.timing, cell.work.calls)
    await load(this.#options.timing.warmUpMs)
    return undefined
  }

  #canPulse(): boolean {
    const { oneAtATime, timing, slice } = this.#options
    if (oneAtATime || timing.pulses === 0 || slice.engine.kind !== 'busbar-load') return false
    return this.#order.every(({ work }) => canPulse(work))
  }

  async #measureInPulses(): Promise<void> {
    const { timing, slice, random, signal, onActivity } = this.#options
    const cells = this.#order.flatMap((cell) => {
      const running = this.#running.get(cell.name)
      const { answers } = this.results.get(cell.name)!
      return running === undefined ? [] : [{ cell, running, work: withAnswers(cell.work, answers) }]
    })
    const onTurn = (cell: Cell): void => onActivity(cell, 'measure')
    const endBy = this.#began + timing.roundMs
    const found = await runPulses(cells, { ...slice, timing, random, endBy, onTurn, ...(signal && { signal }) })
    for (const [name, outcome] of found) {
      const result = this.results.get(name)!
      if (outcome instanceof Error) result.failure = outcome.message
      else result.slices.push({ ...outcome, runtime: this.#warmRuntimes.get(name) })
    }
  }

  async #measureClosed(cell: Cell, running: RunningArm): Promise<void> {
    for (let visit = 0; visit < (this.#options.oneAtATime ? 2 : 1); visit++) {
      const slice = await this.#undisturbed(cell, running, cell.work, 'measure')
      if (slice !== undefined) this.results.get(cell.name)!.slices.push(slice)
    }
  }

  async #measureOpen(cell: Cell, running: RunningArm, share: number): Promise<void> {
    const capacity = this.#capacityFor(cell)
    if (capacity === undefined || !canBeOpen(cell.work)) return
    const rate = Math.max(1, Math.round(capacity * share))
    const { pipelining: _, ...work } = cell.work
    const slice = await this.#undisturbed(cell, running, { ...work, rate }, 'measure latency')
    if (slice !== undefined) this.results.get(cell.name)!.open.push({ share, rate, slice })
  }

  /** The same in every round, so that a faster round does not raise the rate. */
  #capacityFor({ ratedBy }: Cell): number | undefined {
    return this.#options.capacities.get(ratedBy) ?? capacityOf(this.results.get(ratedBy))
  }

  /** Undefined if all attempts were disturbed. */
  async #undisturbed(cell: Cell, running: RunningArm, work: Work, activity: Activity): Promise<Slice | undefined> {
    const { sliceMs, disturbed } = this.#options.timing
    for (let attempt = 0; attempt <= maxRepeats; attempt++) {
      await this.#waitUntilCalm(cell, running, work)
      this.#options.onActivity(cell, activity)
      const found = await this.#slice(cell, running, work, sliceMs)
      const { steal, throttled } = found.disturbance
      if (steal <= disturbed && throttled <= disturbed) return found
      this.results.get(cell.name)!.lost++
      this.#keepFaults(cell, work, found)
      if (steal > disturbed) this.#options.waitBudget.afterLoss()
    }
    return undefined
  }

  /**
   * Checks under the same load, since an idle machine has no steal time, and other loads have less.
   */
  async #waitUntilCalm(cell: Cell, running: RunningArm, work: Work): Promise<void> {
    const { waitBudget, timing, onActivity, signal } = this.#options
    this.waited += await waitBudget.untilCalm(async () => {
      onActivity(cell, 'wait for a calm machine with')
      const check = await this.#slice(cell, running, work, calmCheckMs)
      this.#keepFaults(cell, work, check)
      return check.disturbance.steal <= timing.disturbed
    }, signal)
  }

  /**
   * Keeps the faults of a discarded slice. Not in an open loop, where an overload may cause them.
   */
  #keepFaults(cell: Cell, work: Work, slice: Slice): void {
    if (work.rate === undefined) this.results.get(cell.name)!.faults.push(...faultsOfSlice(slice))
  }

  #slice(cell: Cell, running: RunningArm, work: Work, durationMs: number): Promise<Slice> {
    const { timing, slice, random, signal } = this.#options
    const { answers } = this.results.get(cell.name)!
    return runSlice(running, withAnswers(work, answers), {
      ...slice,
      durationMs,
      discardMs: Math.min(timing.discardMs, durationMs / 2),
      seed: Math.floor(random() * 2 ** 31),
      ...(signal && { signal }),
    })
  }
}

/** Good answers per second in the closed loop of a round. */
export function capacityOf(cell: Pick<CellRound, 'slices'> | undefined): number | undefined {
  const slices = cell?.slices ?? []
  if (slices.length === 0) return undefined
  return slices.reduce((sum, { result }) => sum + result.perSecond, 0) / slices.length
}

/** A job has no rate, and work with a fixed rate keeps it. */
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
    cold: undefined,
    answers: [],
    runtimes: [],
  }
}
