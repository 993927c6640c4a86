import { enoughRounds, unseenVariance } from './pulse-pairs.ts'
import { tQuantile } from './student.ts'
import type { Ratio } from './verdict.ts'

type Interval = Pick<Ratio, 'low' | 'high'>

/** True if the interval is within a share of its ratio: 0.1 for ± 10 %. */
export function isWithin({ low, high }: Interval, share: number): boolean {
  return Math.sqrt(high / low) <= 1 + share
}

/**
 * True if every interval is within the share after this round and after the one before. A session
 * that stops at the first narrow interval stops when the noise happens to look small. Simulated,
 * for a stated 1 % of false claims and rounds that vary by 14 %: 1.2 % at the first, 1.1 % at the
 * second.
 */
export function isEnough(now: readonly Interval[], before: readonly Interval[], share: number): boolean {
  return now.length > 0 && before.length > 0 && [...now, ...before].every((each) => isWithin(each, share))
}

export interface Spent {
  readonly rounds: number
  readonly seconds: number
}

/** More than a day, at the shortest rounds. */
const maxRounds = 20_000

/**
 * Seconds after which the interval is probably within the share, if the rounds vary as before.
 * Undefined if that cannot be foreseen.
 */
export function secondsNeeded(
  found: Interval & Pick<Ratio, 'confidence'> & Partial<Pick<Ratio, 'freedom'>>,
  { rounds, seconds }: Spent,
  share: number,
): number | undefined {
  const { confidence, freedom = rounds - 1 } = found
  const reach = Math.log(found.high / found.low) / 2
  if (freedom < 2 || !Number.isFinite(reach)) return undefined
  // Each further round adds one, or as many as it has independent pairs of pulses.
  const freedomOf = (count: number): number => freedom + (count - rounds) * ((freedom + 1) / rounds)
  const variance = (rounds * reach ** 2) / tQuantile(confidence, freedom) ** 2
  // An interval of few rounds by pairs of pulses allows for more than that of further rounds.
  const byPairs = freedom > rounds - 1 && rounds < enoughRounds
  const deviation = Math.sqrt(byPairs ? Math.max(variance - unseenVariance, variance / 10) : variance)
  const isNarrow = (count: number): boolean =>
    (tQuantile(confidence, freedomOf(count)) * deviation) / Math.sqrt(count) <= Math.log1p(share)
  if (!isNarrow(maxRounds)) return undefined
  let [low, high] = [byPairs ? enoughRounds : rounds, maxRounds]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isNarrow(middle)) high = middle
    else low = middle + 1
  }
  return (low * seconds) / rounds
}
