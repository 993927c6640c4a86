import type { Arm } from '../arm.ts'
import type { Work } from './slice.ts'

/** One arm with one set of parameters: what is measured as one thing. */
export interface Cell {
  /** Unique in its plan: `tcp-16`, `tcp-16 at 1000 connections`. */
  readonly name: string
  readonly arm: Arm
  readonly workers: number
  readonly work: Work
  /** The cell that this one is compared with; undefined for a baseline. */
  readonly baseline: string | undefined
  /** True for the second copy of a baseline: what it differs by is the session's noise. */
  readonly control: boolean
}

export interface Timing {
  /** Load before the first slice of a copy, uncounted. Milliseconds. */
  readonly warmUpMs: number
  /** So much longer at most, until two neighbouring stretches of the load are alike. 0: no longer, steady or not. */
  readonly steadyMs: number
  readonly sliceMs: number
  /** From the start of each slice, uncounted. */
  readonly discardMs: number
  readonly rounds: number
  /** More rounds are added until the widest interval is within ± 2 % or the budget is spent. */
  readonly maxRounds: number
  readonly budgetMs: number
  /** The smallest difference that matters, as a share. */
  readonly matters: number
  /** A slice from which the machine took a larger share than this, by steal or throttling, is repeated. */
  readonly disturbed: number
  /** The share of the budget that may be waited in all until the machine is calm. */
  readonly patience: number
  /** Shares of the baseline's capacity at which latency is measured by a clock, after the closed loop of each round. */
  readonly openShares: readonly number[]
}

/**
 * Quick answers within three minutes on two cores: four cells of 6 rounds, or more of fewer. Booting is not in these figures, it lasts
 * until the first good answer.
 */
export const quick: Timing = {
  warmUpMs: 2000,
  steadyMs: 0,
  sliceMs: 1200,
  discardMs: 200,
  rounds: 6,
  maxRounds: 6,
  // Six scenarios one after the other, the build among them, are done in a quarter of an hour.
  budgetMs: 140_000,
  matters: 0.1,
  disturbed: 0.02,
  patience: 0.5,
  openShares: [],
}

export const full: Timing = {
  warmUpMs: 5000,
  steadyMs: 10_000,
  sliceMs: 2400,
  discardMs: 200,
  rounds: 12,
  maxRounds: 30,
  budgetMs: 3_600_000,
  matters: 0.03,
  disturbed: 0.02,
  patience: 0.5,
  openShares: [0.7],
}

/** The numbers of one round: the same for a seed whether the rounds before it ran in this process or an earlier one. */
export function randomOfRound(seed: number, round: number): () => number {
  return randomFrom(seed ^ Math.imul(round + 1, 0x9e3779b1))
}

/** A generator of numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Fisher and Yates, by the plan's own random numbers. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items]
  for (let last = result.length - 1; last > 0; last--) {
    const at = Math.floor(random() * (last + 1))
    ;[result[last], result[at]] = [result[at]!, result[last]!]
  }
  return result
}
