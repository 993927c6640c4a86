import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assemble } from './assemble.ts'
import { findEngine } from './engine/load.ts'
import { makeCertificate } from './machine/certificate.ts'
import { describeMachine } from './machine/describe.ts'
import { full, quick, type Timing } from './protocol/plan.ts'
import { provide, type Provided } from './packages.ts'
import { runSession, type Progress } from './protocol/session.ts'
import type { Result } from './result.ts'
import { cellsOf, leftOut, variantOf } from './scenarios/cells.ts'
import type { Choice, Scenario } from './scenarios/scenario.ts'
import { compare, summarise } from './summary.ts'

export interface BenchOptions extends Choice {
  readonly seed?: number
  readonly rounds?: number
  readonly budgetMs?: number
  /** The command line that started this, for the report. */
  readonly command: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** Measures a scenario and returns what was found. An aborted signal ends it with the rounds that are whole. */
export async function bench(scenario: Scenario, options: BenchOptions): Promise<Result> {
  const engine = findEngine()
  if (engine === undefined) throw new Error('the load engine is not built: `cargo build --release` makes it')
  const startedAt = new Date()
  const timing = timingOf(scenario, options)
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const asked = cellsOf(scenario, options)
  const provided = await provide(asked.map((cell) => cell.arm))
  const cells = asked.filter(({ arm }) => !provided.missing.has(arm.name))
  const notes = [...leftOut(scenario, options), ...missing(provided, options)]
  const folder = await mkdtemp(join(tmpdir(), 'busbar-lab-'))
  try {
    const certificate = await makeCertificate(folder)
    const rounds = await runSession({
      cells,
      timing,
      seed,
      engine,
      copies: { certificate, environment: environment() },
      ...(options.signal && { signal: options.signal }),
      ...(options.onProgress && { onProgress: options.onProgress }),
      isEnough: (found) => isNarrow(compare(summarise(cells, found), 'perCpuSecond', timing)),
    })
    return assemble({
      scenario: scenario.name,
      question: questionOf(scenario, options),
      unit: scenario.unit ?? 'request',
      versions: provided.versions,
      seed,
      command: `${options.command} --seed ${seed}`,
      startedAt,
      seconds: (Date.now() - startedAt.getTime()) / 1000,
      machine: await describeMachine(),
      timing,
      rounds,
      summaries: summarise(cells, rounds),
      notes,
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** An arm that was named must run; another that cannot is left out. */
function missing(provided: Provided, { arms }: Choice): string[] {
  return [...provided.missing].map(([name, reason]) => {
    if (arms?.includes(name)) throw new Error(`${name} cannot run: ${reason}`)
    return `Left out: ${name}, since ${reason}.`
  })
}

function questionOf(scenario: Scenario, choice: Choice): string {
  const variant = variantOf(scenario, choice)
  return variant === undefined ? scenario.question : `${scenario.question} Work: ${variant.title}.`
}

function timingOf(scenario: Scenario, options: BenchOptions): Timing {
  const timing = options.quick ? quick : full
  const sliceMs = variantOf(scenario, options)?.sliceMs ?? scenario.sliceMs ?? 0
  return {
    ...timing,
    sliceMs: Math.max(sliceMs, timing.sliceMs),
    ...(options.rounds !== undefined && {
      rounds: options.rounds,
      maxRounds: Math.max(options.rounds, options.quick ? 0 : timing.maxRounds),
    }),
    ...(options.budgetMs !== undefined && { budgetMs: options.budgetMs }),
  }
}

/** Every interval within 2 % of its ratio: more rounds would change nothing. */
function isNarrow(found: readonly { low: number; high: number }[]): boolean {
  return found.length > 0 && found.every(({ low, high }) => Math.sqrt(high / low) <= 1.02)
}

/** What every arm gets: the same for all, with nothing of the lab's own options for Node. */
function environment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, NODE_ENV: 'production', ...(TMPDIR !== undefined && { TMPDIR }) }
}
