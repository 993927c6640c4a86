import type { Engine } from '../engine/load.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { RunningArmOptions } from './running-arm.ts'
import { WaitBudget } from './wait-budget.ts'
import { randomOfRound, type Cell, type Timing } from './plan.ts'
import { capacityOf, runRound, type Activity, type Round } from './round.ts'

/** Options of a session: a sequence of rounds, which are compared later. */
export interface Session {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly seed: number
  readonly engine: Engine
  /** The processor to which the load engine is pinned. */
  readonly generatorCpu: number | undefined
  readonly workspace: Omit<RunningArmOptions, 'workers' | 'signal'>
  readonly oneAtATime: boolean
  /** Has the rounds of an interrupted run, and gets each new round. */
  readonly checkpoint: Checkpoint
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** True ends the session early, since the intervals are narrow enough. */
  readonly isEnough?: (rounds: readonly Round[]) => boolean
}

export interface Progress {
  readonly round: number
  readonly rounds: number
  readonly cell: string
  readonly activity: Activity
  /** An estimate for all `rounds`. Undefined in the first round. */
  readonly secondsLeft: number | undefined
}

/**
 * Runs rounds until the timing is fulfilled, `isEnough` returns true, or the signal aborts. Returns
 * the complete ones.
 */
export async function runSession(session: Session): Promise<Round[]> {
  const { timing, checkpoint } = session
  const signal = limited(session)
  const rounds = [...checkpoint.rounds]
  const waitBudget = new WaitBudget(timing.waitShare * timing.budgetMs)
  const began = performance.now()
  while (rounds.length < timing.maxRounds && !signal.aborted) {
    if (rounds.length >= timing.rounds && session.isEnough?.(rounds)) break
    if (rounds.length >= 2 && performance.now() - began + secondsOf(rounds) * 1000 > timing.budgetMs) break
    const round = await nextRound({ ...session, signal }, { waitBudget, rounds, began })
    if (signal.aborted) break
    rounds.push(round)
    await checkpoint.add(round)
  }
  return rounds
}

/** Aborts with the session's signal, and when its time is over. */
function limited({ signal, timing: { limitMs } }: Session): AbortSignal {
  const limit = Number.isFinite(limitMs) ? [AbortSignal.timeout(limitMs)] : []
  return AbortSignal.any([...(signal ? [signal] : []), ...limit])
}

interface SoFar {
  readonly waitBudget: WaitBudget
  readonly rounds: readonly Round[]
  /** As `performance.now()`. */
  readonly began: number
}

function nextRound(session: Session, { waitBudget, rounds, began: sessionBegan }: SoFar): Promise<Round> {
  const { cells, timing, workspace, oneAtATime, signal, engine, generatorCpu } = session
  const number = rounds.length
  const began = performance.now()
  const planned = Math.max(Math.min(timing.rounds, affordable(rounds, timing)), number + 1)
  const left = (): number => {
    const now = performance.now()
    const byRounds = secondsOf(rounds) * (planned - number) - (now - began) / 1000
    return Math.min(byRounds, (sessionBegan + timing.limitMs - now) / 1000)
  }
  return runRound({
    cells,
    timing,
    workspace,
    oneAtATime,
    waitBudget,
    slice: { engine, generatorCpu },
    random: randomOfRound(session.seed, number),
    capacities: capacities(cells, rounds),
    onActivity: (cell, activity) =>
      session.onProgress?.({
        round: number + 1,
        rounds: planned,
        cell: cell.name,
        activity,
        secondsLeft: number === 0 ? undefined : Math.max(0, left()),
      }),
    ...(signal && { signal }),
  })
}

/** Rounds that the budget has, by those so far. The second is not left out for it. */
function affordable(rounds: readonly Round[], { budgetMs }: Timing): number {
  return rounds.length === 0 ? Infinity : Math.max(2, Math.floor(budgetMs / 1000 / secondsOf(rounds)))
}

/** Throughput of each baseline in the first round that has one. */
function capacities(cells: readonly Cell[], rounds: readonly Round[]): Map<string, number> {
  const found = cells
    .filter((cell) => cell.baseline === undefined)
    .map(({ name }) => [name, rounds.map((round) => capacityOf(round.cells.get(name))).find(Boolean)] as const)
  return new Map(found.filter((each): each is readonly [string, number] => each[1] !== undefined))
}

/** Duration of the longest round so far, without waiting, so that the budget is not exceeded. */
function secondsOf(rounds: readonly Round[]): number {
  return Math.max(0, ...rounds.map(({ seconds, waited }) => seconds - waited))
}
