import type { Arm } from '../arm.ts'
import type { Work } from './slice.ts'

/** One arm with one set of parameters. */
export interface Cell {
  /** Unique in its plan, such as `tcp-16` or `tcp-16, 1000 connections`. */
  readonly name: string
  readonly arm: Arm
  readonly workers: number
  readonly work: Work
  /** Name of the cell with which it is compared. Undefined for a baseline. */
  readonly baseline: string | undefined
  /** True if the arm or its baseline has a protocol of its own, so that their bytes differ. */
  readonly translated: boolean
  /** Name of the cell by whose capacity its rates in the open loop are chosen. */
  readonly ratedBy: string
  /** True for the second copy of another cell. Its difference is the session's noise. */
  readonly control: boolean
}

/** Durations are milliseconds. */
export interface Timing {
  /** Load before the first slice, not counted. */
  readonly warmUpMs: number
  /**
   * Responses that a warm-up needs. V8 compiles what has run often enough, however long that took,
   * and a busy machine runs it less often.
   */
  readonly warmUpRequests: number
  /** Whether the rate has to be steady, too. */
  readonly untilSteady: boolean
  /** Maximum extension of the warm-up until it has both. */
  readonly extraWarmUpMs: number
  readonly sliceMs: number
  /** The start of each slice that is not counted. */
  readonly discardMs: number
  /** Pulses of each cell in a round, in turns with the other cells. 0: slices instead. */
  readonly pulses: number
  readonly pulseMs: number
  /** Pulses end when a round has taken so long, with its starts and warm-ups. */
  readonly roundMs: number
  readonly rounds: number
  /** Rounds are added until all intervals are within {@link enough} or the budget is spent. */
  readonly maxRounds: number
  /** Width of an interval that more rounds need not narrow, as a share: 0.1 for ± 10 %. */
  readonly enough: number
  readonly budgetMs: number
  /** The session ends then, without the round that runs. */
  readonly limitMs: number
  /** The smallest difference that matters, as a share. */
  readonly matters: number
  /** A slice with a larger share of steal or throttling is repeated. */
  readonly disturbed: number
  /** Share of the budget that may be spent waiting for a calm machine. */
  readonly waitShare: number
  /**
   * Shares of the baseline's capacity at which latency is measured, after the closed loop of each
   * round.
   */
  readonly openShares: readonly number[]
}

/**
 * For answers within three minutes on two cores: six rounds of four cells, or fewer rounds of more.
 * Six are enough on a quiet machine, and a noisy one gets more.
 * The time to start an arm comes on top.
 */
export const quick: Timing = {
  warmUpMs: 2000,
  warmUpRequests: 30_000,
  untilSteady: false,
  extraWarmUpMs: 8000,
  sliceMs: 1200,
  discardMs: 200,
  pulses: 24,
  pulseMs: 200,
  roundMs: Infinity,
  rounds: 4,
  maxRounds: 40,
  enough: 0.1,
  // Six scenarios in sequence, including the build, take a quarter of an hour.
  budgetMs: 165_000,
  limitMs: Infinity,
  matters: 0.1,
  disturbed: 0.02,
  waitShare: 0.5,
  openShares: [],
}

export const full: Timing = {
  warmUpMs: 5000,
  warmUpRequests: 30_000,
  untilSteady: true,
  extraWarmUpMs: 10_000,
  sliceMs: 2400,
  discardMs: 200,
  pulses: 0,
  pulseMs: 200,
  roundMs: Infinity,
  rounds: 12,
  maxRounds: 30,
  enough: 0.02,
  budgetMs: 3_600_000,
  limitMs: Infinity,
  matters: 0.03,
  disturbed: 0.02,
  waitShare: 0.5,
  openShares: [0.7],
}

/**
 * Random numbers of one round. They depend only on the seed and the round, so a run can be resumed.
 */
export function randomOfRound(seed: number, round: number): () => number {
  return randomFrom(seed ^ Math.imul(round + 1, 0x9e3779b1))
}

/** Reproducible numbers from 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Fisher-Yates shuffle. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items]
  for (let last = result.length - 1; last > 0; last--) {
    const at = Math.floor(random() * (last + 1))
    ;[result[last], result[at]] = [result[at]!, result[last]!]
  }
  return result
}
