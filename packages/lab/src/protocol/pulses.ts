/** Cells that are measured in turns of a fifth of a second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PulsedLoad } from '../engine/pulsed-load.ts'
import type { Pulse } from '../engine/job.ts'
import { watchDisturbance, type Disturbance } from '../machine/disturbance.ts'
import { canReadProcesses, cpuSecondsOf, usageOf } from '../machine/processes.ts'
import { threadSeconds } from '../machine/samples.ts'
import { shuffled, type Cell, type Timing } from './plan.ts'
import type { RunningArm } from './running-arm.ts'
import { otherCores, toJob } from './slice.ts'
import type { PulseCost, Slice, SliceOptions, Work } from './slice.ts'

export interface PulsedCell {
  readonly cell: Cell
  /** Warm and frozen. */
  readonly running: RunningArm
  readonly work: Work
}

export interface PulseOptions extends Pick<SliceOptions, 'engine' | 'generatorCpu' | 'signal'> {
  readonly timing: Timing
  readonly random: () => number
  /** As `performance.now()`: no turn begins later. */
  readonly endBy: number
  readonly onTurn: (cell: Cell) => void
}

/** After a thaw, until connections that were idle for too long are replaced. */
const settleMs = 30
/** A pulse is at least this share of a slice, which is longer for slow requests. */
const shareOfSlice = 1 / 6
/**
 * On a machine so busy that turns take more than twice their time, or a round more than its share
 * of the budget, a round has fewer: more rounds say more than more turns.
 */
const maxSlowdown = 2
const fewestTurns = 4

/** A closed loop with kept connections. A job has no pulses, and a fixed rate no gaps. */
export function canPulse({ runs, rate, reconnect, probe }: Work): boolean {
  return runs === undefined && rate === undefined && probe === undefined && reconnect !== true
}

/**
 * The load of each cell is on for one pulse, then that of another one, in a new random order for
 * each turn. What disturbs the machine for longer than that disturbs all cells alike, so nothing is
 * discarded. An error belongs to its cell.
 */
export async function runPulses(
  cells: readonly PulsedCell[],
  options: PulseOptions,
): Promise<ReadonlyMap<string, Slice | Error>> {
  await using loads = new AsyncDisposableStack()
  const runs = cells.map((cell) => new PulsedRun(cell, options, loads))
  const takeTurns = async (action: (run: PulsedRun) => Promise<void>): Promise<void> => {
    for (const run of shuffled(runs, options.random)) await run.attempt(() => action(run))
  }
  await takeTurns((run) => run.open())
  const [since, ownSince] = [await watchDisturbance(), process.cpuUsage()]
  const { pulses } = options.timing
  const planned = runs.reduce((sum, { lengthMs }) => sum + lengthMs + settleMs, 0) * pulses
  const began = performance.now()
  const endBy = Math.min(options.endBy, began + maxSlowdown * planned)
  const isLate = (): boolean => performance.now() > endBy
  for (let turn = 0; turn < pulses && (turn < fewestTurns || !isLate()); turn++) await takeTurns((run) => run.turn())
  const [disturbance, own] = [await since(), process.cpuUsage(ownSince)]
  for (const run of runs) await run.attempt(() => run.end(disturbance))
  const slices = runs.flatMap(({ outcome }) => (outcome === undefined || outcome instanceof Error ? [] : outcome))
  const others = otherCores(disturbance, serverSecondsOf(slices), slices, own)
  return new Map(
    runs.map(({ name, outcome = new Error('it was not measured') }) => [
      name,
      outcome instanceof Error ? outcome : { ...outcome, otherCores: others },
    ]),
  )
}

/** Of all arms. Undefined if unknown. */
function serverSecondsOf(slices: readonly Slice[]): number | undefined {
  return canReadProcesses ? slices.reduce((sum, { serverCpuSeconds = 0 }) => sum + serverCpuSeconds, 0) : undefined
}

type MeasuredPulse = Pulse & PulseCost

class PulsedRun {
  readonly name: string
  /** Of a pulse. */
  readonly lengthMs: number
  /** Set at the end, or by the first error. */
  outcome: Slice | Error | undefined
  readonly #cell: PulsedCell
  readonly #options: PulseOptions
  readonly #loads: AsyncDisposableStack
  readonly #pulses: MeasuredPulse[] = []
  #load: PulsedLoad | undefined
  /** Milliseconds since 1970: after the first pulse. */
  #began = 0

  constructor(cell: PulsedCell, options: PulseOptions, loads: AsyncDisposableStack) {
    const { pulseMs, sliceMs } = options.timing
    this.name = cell.cell.name
    this.#cell = cell
    this.#options = options
    this.#loads = loads
    this.lengthMs = Math.max(pulseMs, sliceMs * shareOfSlice)
  }

  async attempt(action: () => Promise<void>): Promise<void> {
    const { running } = this.#cell
    if (this.outcome !== undefined || this.#options.signal?.aborted) return
    try {
      await action()
    } catch (error) {
      const { message } = error as Error
      this.outcome = running.hasEnded
        ? new Error(`it ended under load:\n${running.output}`, { cause: error })
        : new Error(message, { cause: error })
    }
  }

  /** A pulse that opens the connections and does not count. */
  async open(): Promise<void> {
    await this.#pulse()
    this.#began = Date.now()
  }

  async turn(): Promise<void> {
    this.#pulses.push(await this.#pulse())
  }

  async #pulse(): Promise<MeasuredPulse> {
    const { cell, running } = this.#cell
    this.#options.onTurn(cell)
    this.#load ??= await this.#startLoad()
    await running.thaw(0)
    try {
      this.#load.ready()
      await sleep(settleMs)
      const before = canReadProcesses ? cpuSecondsOf(running.session) : undefined
      const pulse = await this.#load.pulse(this.lengthMs)
      running.freeze()
      const cpuSeconds = before === undefined ? undefined : cpuSecondsOf(running.session) - before
      return { ...pulse, cpuSeconds }
    } finally {
      running.freeze()
    }
  }

  async end(disturbance: Disturbance): Promise<void> {
    const { running } = this.#cell
    const { result, ticks } = await this.#load!.end()
    const total = (pick: (pulse: MeasuredPulse) => number): number =>
      this.#pulses.reduce((sum, each) => sum + pick(each), 0)
    const [seconds, done] = [total((pulse) => pulse.seconds), total((pulse) => pulse.done)]
    this.outcome = {
      result: { ...result, seconds, done, perSecond: done / seconds },
      // Only the time counts in which the load was on.
      ticks: ticks.map((tick, index) => ({ ...tick, at: Math.min((index + 1) / 10, seconds) })),
      disturbance,
      otherCores: undefined,
      serverCpuSeconds: canReadProcesses ? total(({ cpuSeconds = 0 }) => cpuSeconds) : undefined,
      answered: total((pulse) => pulse.done + pulse.failed),
      memory: canReadProcesses ? usageOf(running.session, { memory: true }) : undefined,
      runtime: undefined,
      probe: undefined,
      pulses: this.#pulses.map(({ done: count, seconds: length, cpuSeconds }) => ({
        done: count,
        seconds: length,
        cpuSeconds,
      })),
      threadSeconds: threadSeconds(await running.samples(), this.#began, Date.now()),
    }
  }

  async #startLoad(): Promise<PulsedLoad> {
    const { running, work } = this.#cell
    const { engine, generatorCpu, signal, random } = this.#options
    const slice: SliceOptions = {
      engine,
      generatorCpu,
      durationMs: this.lengthMs,
      discardMs: 0,
      seed: Math.floor(random() * 2 ** 31),
    }
    const job = await toJob(running, work, slice, { loop: 'pulses' })
    return this.#loads.use(new PulsedLoad(engine, job, signal))
  }
}
