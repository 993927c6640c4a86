import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Arm } from './arm.ts'
import { buildResult } from './report/build-result.ts'
import { compare, decidingThroughput } from './stats/compare-arms.ts'
import { findEngine, type Engine } from './engine/load.ts'
import { assignCpus } from './machine/cpu-assignment.ts'
import { describeMachine, type Machine } from './machine/describe.ts'
import { notesOn } from './report/notes.ts'
import { cacheFolder, installRequirements, type InstalledRequirements } from './requirements.ts'
import { Checkpoint, type RunIdentity } from './protocol/checkpoint.ts'
import { full, quick, type Cell, type Timing } from './protocol/plan.ts'
import type { Round } from './protocol/round.ts'
import { runSession, type Progress } from './protocol/session.ts'
import type { Result } from './result.ts'
import { cellsOf, leftOut, variantOf } from './scenarios/cells.ts'
import type { Choice, Scenario } from './scenarios/scenario.ts'
import { isEnough } from './stats/forecast.ts'
import { summarise } from './stats/summary.ts'
import { withWorkspace } from './protocol/workspace.ts'

export interface BenchOptions extends Choice {
  readonly seed?: number
  readonly rounds?: number
  readonly budgetMs?: number
  /**
   * Shares of the baseline's capacity at which latency is measured. Default: those of the timing.
   */
  readonly openShares?: readonly number[]
  /** Continues an interrupted run of the same kind. */
  readonly resume?: boolean
  /** Never runs two arms at a time, for arms with fixed ports. */
  readonly oneAtATime?: boolean
  /** Additional sentences for the report. */
  readonly notes?: readonly string[]
  /** Overrides the timing of a quick or full run. */
  readonly timing?: Partial<Timing>
  /** The command line, for the report. */
  readonly command: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** Called before the requirements of an arm are installed or built, which takes a while. */
  readonly onInstall?: (arm: Arm) => void
}

/** Measures a scenario. After an abort the result has the rounds completed so far. */
export async function bench(scenario: Scenario, options: BenchOptions): Promise<Result> {
  const startedAt = new Date()
  const plan = await makePlan(scenario, options)
  const checkpoint = await openCheckpoint(scenario, options, plan)
  const rounds = await runPlan(plan, checkpoint, options)
  const isComplete = rounds.length >= plan.timing.rounds && options.signal?.aborted !== true
  if (isComplete) await checkpoint.remove()
  const summaries = summarise(plan.cells, rounds, plan.timing)
  return buildResult({
    ...plan,
    scenario: scenario.name,
    question: questionOf(scenario, options),
    unit: scenario.unit ?? 'request',
    seed: checkpoint.seed,
    command: `${options.command} --seed ${checkpoint.seed}`,
    startedAt,
    seconds: rounds.reduce((sum, round) => sum + round.seconds, 0),
    rounds,
    interrupted: options.signal?.aborted === true,
    summaries,
    notes: [...plan.notes, ...notesOn({ ...plan, summaries, rounds })],
  })
}

interface Plan {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly machine: Machine
  readonly engine: Engine
  /** The processor to which the load engine is pinned. */
  readonly generatorCpu: number | undefined
  readonly sharesCores: boolean
  readonly versions: InstalledRequirements['versions']
  readonly notes: readonly string[]
}

async function makePlan(scenario: Scenario, options: BenchOptions): Promise<Plan> {
  const [engine, machine, { generator }] = [findEngine(), await describeMachine(), assignCpus()]
  const requested = cellsOf(scenario, options)
  const provided = await installRequirements(
    requested.map((cell) => cell.arm),
    { onStart: options.onInstall, signal: options.signal },
  )
  return {
    cells: requested.filter(({ arm }) => !provided.missing.has(arm.name)),
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
  const deciding = (rounds: readonly Round[]) => {
    const summaries = summarise(cells, rounds, timing)
    return compare(summaries, timing, decidingThroughput(summaries, sharesCores)).filter(({ decides }) => decides)
  }
  const reserved = new Set(cells.flatMap(({ arm }) => arm.fixedPorts ?? []))
  return withWorkspace((workspace) =>
    runSession({
      ...plan,
      checkpoint,
      isEnough: (rounds) => isEnough(deciding(rounds), deciding(rounds.slice(0, -1)), timing.enough),
      seed: checkpoint.seed,
      workspace: { ...workspace, reserved },
      oneAtATime: oneAtATime ?? false,
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    }),
  )
}

/** Version of the rounds in a checkpoint. A run cannot resume with rounds of another version. */
const checkpointVersion = 3

/** One file per kind of run. The number of rounds and the time budget do not matter. */
function openCheckpoint(scenario: Scenario, options: BenchOptions, plan: Plan): Promise<Checkpoint> {
  const { rounds: _, maxRounds: __, budgetMs: ___, ...timing } = plan.timing
  const shape = JSON.stringify([
    checkpointVersion,
    plan.cells.map(({ arm, ...cell }) => ({ ...cell, arm: arm.name })),
    timing,
  ])
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

/** Throws if a requested arm or the baseline cannot run. Other arms are left out, with a note. */
function missing(provided: InstalledRequirements, scenario: Scenario, { arms }: Choice): string[] {
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
    // Autocannon cannot send at a fixed rate.
    openShares: engine.kind === 'autocannon' ? [] : (options.openShares ?? timing.openShares),
    ...(options.rounds !== undefined && {
      rounds: options.rounds,
      maxRounds: Math.max(options.rounds, options.quick ? 0 : timing.maxRounds),
    }),
    ...(options.budgetMs !== undefined && { budgetMs: options.budgetMs }),
  }
}
