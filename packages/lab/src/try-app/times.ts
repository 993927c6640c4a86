import { quick, type Timing } from '../protocol/plan.ts'
import type { Order } from './schedule.ts'

export interface TimesOptions {
  readonly budgetMs: number
  /** Of the app that a round starts. */
  readonly copies: number
  readonly order: Order
}

/** Times the budget, after which the round that runs is given up: a machine may become busier. */
export const limit = 1.5
/** One says nothing about the others. */
const fewestRounds = 2
/**
 * Most by which a warm-up is longer. Five programs that call each other need 20 s, and what is
 * measured before is less than what they can do (docs/decisions/measure/quick-comparisons.md).
 */
const mostMs = 18_000
/** A warm-up grows by these. */
const stepMs = 2000
/** To start a copy. Programs take from 0.3 to 3 s. */
const startMs = 1400
/** For each copy: the turn that has begun when the pulses of a round end, and its own end. */
const endMs = 800
/** Thaws before pulses, and the time to replace idle connections, are a share of the pulses. */
const pulsesMs = quick.pulses * quick.pulseMs * 1.15
/** Two slices of each copy for latency, with checks before them whether the machine is calm. */
const latencyMs = 2 * (quick.sliceMs + 500)

/**
 * A warm-up is only as long as a round has time for it beside what it measures: of rounds without
 * pulses nothing can be said, and copies that are still cold are named on the page.
 */
export function timesOf(options: TimesOptions): Pick<Timing, 'extraWarmUpMs' | 'roundMs' | 'limitMs'> {
  const { budgetMs, copies, order } = options
  const limitMs = budgetMs * limit
  const wholeMs = Math.max(0, limitMs / fewestRounds - copies * endMs)
  const roundMs = order === 'in turns' ? Math.max(wholeMs / 2, wholeMs - copies * latencyMs) : wholeMs
  const [perCopy, measuringMs] =
    order === 'one at a time'
      ? // Intervals without pulses are those of rounds, and need as many as a quick run has.
        [budgetMs / quick.rounds / copies, 2 * quick.sliceMs]
      : [roundMs / copies, pulsesMs]
  const leftMs = perCopy - startMs - quick.warmUpMs - measuringMs
  // Pulses that do not fit are left out one by one, but a slice takes its whole round with it.
  const steps = order === 'one at a time' ? Math.floor(leftMs / stepMs) : Math.round(leftMs / stepMs)
  const extraWarmUpMs = Math.min(mostMs, Math.max(0, steps * stepMs))
  return { extraWarmUpMs, roundMs, limitMs }
}
