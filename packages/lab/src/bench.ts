import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Arm } from './arm.ts'
import { assemble } from './assemble.ts'
import { compare, throughputThatDecides } from './comparison.ts'
import { findEngine, type Engine } from './engine/load.ts'
import { shareOut } from './machine/cores.ts'
import { describeMachine, type Machine } from './machine/describe.ts'
import { notesOn } from './notes.ts'
import { cacheFolder, provide, type Provided } from './packages.ts'
import { Checkpoint, type RunIdentity } from './protocol/checkpoint.ts'
import { full, quick, type Cell, type Timing } from './protocol/plan.ts'
import type { Round } from './protocol/round.ts'
import { runSession, type Progress } from './protocol/session.ts'
import type { Result } from './result.ts'
import { cellsOf, leftOut, variantOf } from './scenarios/cells.ts'
import type { Choice, Scenario } from './scenarios/scenario.ts'
import { summarise } from './summary.ts'
import { inWorkshop } from './workshop.ts'

export interface BenchOptions extends Choice {
  readonly seed?: number
  readonly rounds?: number
  readonly budgetMs?: number
  /** Shares of the baseline's capacity for latency at fixed rates; default: as the timing says. */
  readonly openShares?: readonly number[]
  /** Goes on with a run of the same kind that was ended early. */
  readonly resume?: boolean
  /** For arms of which two copies cannot live side by side. */
  readonly oneAtATime?: boolean
  /** What else the report tells. */
  readonly notes?: readonly string[]
  /** Over the timing of a quick or a full run. */
  readonly timing?: Partial<Timing>
  /** The command line that started this, for the report. */
  readonly command: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** What this arm requires is installed or built now, which takes a while, once. */
  readonly onInstall?: (arm: Arm) => void
}

/** Measures a scenario and returns what was found. An aborted signal ends it with the rounds that are whole. */
export async function bench(scenario: Scenario, options: BenchOptions): Promise<Result> {
  const startedAt = new Date()
  const plan = await makePlan(scenario, options)
  const checkpoint = await openCheckpoint(scenario, options, plan)
  const rounds = await runPlan(plan, checkpoint, options)
  const isWhole = rounds.length >= plan.timing.rounds && options.signal?.aborted !== true
  if (isWhole) await checkpoint.remove()
  const summaries = summarise(plan.cells, rounds, plan.timing)
  return assemble({
    ...plan,
    scenario: scenario.name,
    question: questionOf(scenario, options),
    unit: scenario.unit ?? 'request',
    seed: checkpoint.seed,
    command: `${options.command} --seed ${checkpoint.seed}`,
    startedAt,
    seconds: rounds.reduce((sum, round) => sum + round.seconds, 0),
    rounds,
    endedByHand: options.signal?.aborted === true,
    summaries,
    notes: [...plan.notes, ...notesOn({ ...plan, summaries, rounds })],
  })
}

interface Plan {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly machine: Machine
  readonly engine: Engine
  /** The processor that the engine stays on. */
  readonly generatorCpu: number | undefined
  readonly sharesCores: boolean
  readonly versions: Provided['versions']
  readonly notes: readonly string[]
}

async function makePlan(scenario: Scenario, options: BenchOptions): Promise<Plan> {
  const [engine, machine, { generator }] = [findEngine(), await describeMachine(), shareOut()]
  const asked = cellsOf(scenario, options)
  const provided = await provide(
    asked.map((cell) => cell.arm),
    options.onInstall,
  )
  return {
    cells: asked.filter(({ arm }) => !provided.missing.has(arm.name)),
    timing: timingOf(scenario, options, engine),
    machine,
    engine,
    generatorCpu: generator,
    sharesCores: machine.platform.startsWith('linux') && generator === undefined,
    versions: provided.versions,
    notes: [...(options.notes ?? []), ...leftOut(scenario, options), ...missing(provided, scenario, options)],
  }
}

function runPlan(
  plan: Plan,
  checkpoint: Checkpoint,
  { oneAtATime, signal, onProgress }: BenchOptions,
): Promise<Round[]> {
  const { cells, timing, sharesCores } = plan
  const isEnough = (rounds: readonly Round[]) => {
    const summaries = summarise(cells, rounds, timing)
    return isNarrow(compare(summaries, timing, throughputThatDecides(summaries, sharesCores)))
  }
  return inWorkshop((workshop) =>
    runSession({
      ...plan,
      checkpoint,
      isEnough,
      seed: checkpoint.seed,
      copies: workshop,
      oneAtATime: oneAtATime ?? false,
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    }),
  )
}

/** Of the rounds in a checkpoint: a run that an older lab has begun cannot go on with them. */
const roundForm = 2

/** One file for each kind of run: how many rounds, and for how long, is no part of the kind. */
function openCheckpoint(scenario: Scenario, options: BenchOptions, plan: Plan): Promise<Checkpoint> {
  const { rounds: _, maxRounds: __, budgetMs: ___, ...timing } = plan.timing
  const shape = JSON.stringify([roundForm, plan.cells.map(({ arm, ...cell }) => ({ ...cell, arm: arm.name })), timing])
  const identity: RunIdentity = {
    scenario: scenario.name,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 31),
    cells: plan.cells.map(({ name }) => name),
    node: plan.machine.node,
    cpu: plan.machine.cpu,
    engine: plan.engine.kind,
    shape,
  }
  const hash = createHash('sha256').update(shape).digest('hex').slice(0, 12)
  const file = join(cacheFolder(), 'runs', `${scenario.name.replaceAll(/\W/g, '-')}-${hash}.jsonl`)
  return options.resume ? Checkpoint.resume(file, identity) : Checkpoint.begin(file, identity)
}

/** An arm that was named must run, and so must the baseline; another that cannot is left out. */
function missing(provided: Provided, scenario: Scenario, { arms }: Choice): string[] {
  return [...provided.missing].map(([name, reason]) => {
    if (arms?.includes(name) || name === scenario.baseline) throw new Error(`${name} cannot run: ${reason}`)
    return `Left out: ${name}, since ${reason}.`
  })
}

function questionOf(scenario: Scenario, choice: Choice): string {
  const variant = variantOf(scenario, choice)
  return variant === undefined ? scenario.question : `${scenario.question} Work: ${variant.title}.`
}

function timingOf(scenario: Scenario, options: BenchOptions, engine: Engine): Timing {
  const timing = { ...(options.quick ? quick : full), ...options.timing }
  const variant = variantOf(scenario, options)
  const quickSliceMs = options.quick ? variant?.quickSliceMs : undefined
  const sliceMs = quickSliceMs ?? variant?.sliceMs ?? scenario.sliceMs ?? 0
  return {
    ...timing,
    sliceMs: Math.max(sliceMs, timing.sliceMs),
    // The fallback knows no clock.
    openShares: engine.kind === 'autocannon' ? [] : (options.openShares ?? timing.openShares),
    ...(options.rounds !== undefined && {
      rounds: options.rounds,
      maxRounds: Math.max(options.rounds, options.quick ? 0 : timing.maxRounds),
    }),
    ...(options.budgetMs !== undefined && { budgetMs: options.budgetMs }),
  }
}

/** Every interval within 2 % of its ratio: more rounds would change nothing. */
function isNarrow(found: readonly { low: number; high: number; decides: boolean }[]): boolean {
  const deciding = found.filter(({ decides }) => decides)
  return deciding.length > 0 && deciding.every(({ low, high }) => Math.sqrt(high / low) <= 1.02)
}
