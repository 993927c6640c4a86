import type { Estimate } from './student.ts'

/** Logarithms of ratios of pulses of the same turn, by round. A round starts each arm anew. */
export type PulsePairs = readonly (readonly number[])[]

/**
 * How much one start of an arm is faster or slower than another, as a standard deviation: layout of
 * memory, order of compilation. Runs with starts that differ by up to 10 % are simulated.
 */
const startOffset = 0.03
/** The same for so few rounds that they would not show whether starts differ by more. */
const unseenOffset = 0.1
/**
 * Rounds whose means differ by more than their pulses explain have something in common that pulses
 * do not show. Below 1, because the choice between two errors costs confidence by itself: with
 * 1.15, 1.4 % of the claims were false where starts differ by 5 %.
 */
const tolerated = 0.9
const fewest = { rounds: 2, pulses: 32 }
/** Rounds that show how much starts differ. */
export const enoughRounds = 4
/** Of the mean of a round: what the interval of fewer rounds has in addition. */
export const unseenVariance = 2 * (unseenOffset ** 2 - startOffset ** 2)

/**
 * The same mean with the error that pairs of pulses show, which are many where rounds are few. If
 * the rounds differ by more than that, or pulses are few, the error by rounds is kept. See
 * `docs/decisions/measure/quick-comparisons.md` for the simulated share of false claims.
 */
export function withPulsePairs(byRounds: Estimate, rounds: PulsePairs): Estimate {
  const pairs = rounds.flat()
  const freedom = pairs.length - rounds.length
  if (rounds.length < fewest.rounds || pairs.length < fewest.pulses || freedom < 1) return byRounds
  const offset = rounds.length < enoughRounds ? unseenOffset : startOffset
  const deviations = rounds.map((round) => {
    const mean = round.reduce((sum, value) => sum + value, 0) / round.length
    return round.map((value) => value - mean)
  })
  const squares = deviations.flat().reduce((sum, value) => sum + value * value, 0)
  const grown = inflation(deviations, squares, pairs.length)
  const variance = ((squares / freedom) * grown) / pairs.length + (2 * offset ** 2) / rounds.length
  if (byRounds.error ** 2 > tolerated * variance) return byRounds
  return { mean: byRounds.mean, error: Math.sqrt(variance), freedom: freedom / grown }
}

/** As that of rounds in `verdict.ts`: pulses resemble their neighbours in a wave of steal. */
function inflation(deviations: PulsePairs, squares: number, count: number): number {
  if (squares === 0) return 1
  let products = 0
  for (const round of deviations) for (let at = 1; at < round.length; at++) products += round[at]! * round[at - 1]!
  const r = Math.min(0.8, Math.max(0, products / squares + 1.5 / count))
  return (1 + r) / (1 - r)
}
