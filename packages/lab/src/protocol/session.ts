import type { Engine } from '../engine/load.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { CopyOptions } from './copy.ts'
import { Patience } from './patience.ts'
import { randomOfRound, type Cell, type Timing } from './plan.ts'
import { capacityOf, runRound, type Doing, type Round } from './round.ts'

/** Rounds of a plan, one after the other. What is compared later are the rounds. */
export interface Session {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly seed: number
  readonly engine: Engine
  /** The processor that the engine stays on. */
  readonly generatorCpu: number | undefined
  readonly copies: Omit<CopyOptions, 'workers' | 'signal'>
  readonly oneAtATime: boolean
  /** Has the rounds of an earlier run, and gets each new one when it is whole. */
  readonly checkpoint: Checkpoint
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** True ends the session before its last round: the intervals are narrow enough. */
  readonly isEnough?: (rounds: readonly Round[]) => boolean
}

export interface Progress {
  readonly round: number
  readonly rounds: number
  readonly cell: string
  readonly doing: Doing
  /** Until the last of `rounds`, as far as one can tell; undefined in the first. */
  readonly secondsLeft: number | undefined
}

/** Runs until the timing is fulfilled, `isEnough` says so or the signal is aborted; rounds that are whole are returned. */
export async function runSession(session: Session): Promise<Round[]> {
  const { timing, signal, checkpoint } = session
  const rounds = [...checkpoint.rounds]
  const patience = new Patience(timing.patience * timing.budgetMs)
  const began = performance.now()
  while (rounds.length < timing.maxRounds && !signal?.aborted) {
    if (rounds.length >= timing.rounds && session.isEnough?.(rounds)) break
    if (rounds.length >= 2 && performance.now() - began + secondsOf(rounds) * 1000 > timing.budgetMs) break
    const round = await nextRound(session, patience, rounds)
    if (signal?.aborted) break
    rounds.push(round)
    await checkpoint.add(round)
  }
  return rounds
}

function nextRound(session: Session, patience: Patience, rounds: readonly Round[]): Promise<Round> {
  const { cells, timing, copies, oneAtATime, signal, engine, generatorCpu } = session
  const number = rounds.length
  const began = performance.now()
  const planned = Math.max(timing.rounds, number + 1)
  const left = () => secondsOf(rounds) * (planned - number) - (performance.now() - began) / 1000
  return runRound({
    cells,
    timing,
    copies,
    oneAtATime,
    patience,
    slice: { engine, generatorCpu },
    random: randomOfRound(session.seed, number),
    capacities: capacities(cells, rounds),
    tell: (cell, doing) =>
      session.onProgress?.({
        round: number + 1,
        rounds: planned,
        cell: cell.name,
        doing,
        secondsLeft: number === 0 ? undefined : Math.max(0, left()),
      }),
    ...(signal && { signal }),
  })
}

/** What each baseline answered a second in the first round that has it. */
function capacities(cells: readonly Cell[], rounds: readonly Round[]): Map<string, number> {
  const found = cells
    .filter((cell) => cell.baseline === undefined)
    .map(({ name }) => [name, rounds.map((round) => capacityOf(round.cells.get(name))).find(Boolean)] as const)
  return new Map(found.filter((each): each is readonly [string, number] => each[1] !== undefined))
}

/** How long a round takes: the longest so far, as a budget must not be overrun; what was waited then need not be waited again. */
function secondsOf(rounds: readonly Round[]): number {
  return Math.max(0, ...rounds.map(({ seconds, waited }) => seconds - waited))
}
