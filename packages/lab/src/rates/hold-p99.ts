import type { Probe } from './probe.ts'

export interface Held {
  /** The highest rate that was found to hold. Null: none did. */
  readonly rate: number | null
  /** The probes that confirmed it. */
  readonly confirmedBy: readonly Probe[]
  /** The lowest rate above it that did not hold, and why. */
  readonly failedAt: { readonly rate: number; readonly why: string } | null
  /** All probes, in order. */
  readonly probes: readonly Probe[]
}

/** Two rates this close are the same for a search on a machine with other guests. */
const resolution = 1.05
const maxSteps = 10
const confirmations = 3
/** Below this share of the capacity nobody runs a server. */
const lowestShare = 1 / 64

/**
 * Searches the highest rate at which p99 stays within the limit, between 1/64 of the capacity and
 * the capacity. A rate that fails is probed again, since a disturbance of the machine looks the
 * same. The answer holds three times in a row, or is lowered.
 */
export async function holdP99(
  limitMs: number,
  capacity: number,
  measure: (rate: number) => Promise<Probe>,
): Promise<Held> {
  const probes: Probe[] = []
  const ask = async (rate: number): Promise<Probe> => {
    const found = await measure(rate)
    probes.push(found)
    return found
  }
  let failedAt: Held['failedAt'] = null
  const holds = async (rate: number): Promise<boolean> => {
    for (let attempt = 0; attempt < 2; attempt++) {
      const why = whyNot(await ask(rate), limitMs)
      if (why === undefined) return true
      if (attempt === 1 && (failedAt === null || rate < failedAt.rate)) failedAt = { rate, why }
    }
    return false
  }
  let low = Math.max(1, Math.round(capacity * lowestShare))
  if (!(await holds(low))) return { rate: null, confirmedBy: [], failedAt, probes }
  let high = capacity
  for (let step = 0; step < maxSteps && high / low > resolution; step++) {
    const middle = Math.round(Math.sqrt(low * high))
    if (await holds(middle)) low = middle
    else high = middle
  }
  for (let rate = low; rate >= 1; rate = Math.floor(rate * 0.9)) {
    const confirmedBy = await confirm(rate, limitMs, ask)
    if (confirmedBy !== undefined) return { rate, confirmedBy, failedAt, probes }
    failedAt = { rate, why: 'it did not hold three times in a row' }
    if (rate < low / 4) break
  }
  return { rate: null, confirmedBy: [], failedAt, probes }
}

/** Undefined if one of the probes does not hold. */
async function confirm(
  rate: number,
  limitMs: number,
  ask: (rate: number) => Promise<Probe>,
): Promise<Probe[] | undefined> {
  const found: Probe[] = []
  while (found.length < confirmations) {
    const next = await ask(rate)
    if (whyNot(next, limitMs) !== undefined) return undefined
    found.push(next)
  }
  return found
}

/** Why a rate does not hold. Undefined if it does. */
function whyNot({ failed, firstProblem, missed, p99, generatorLate }: Probe, limitMs: number): string | undefined {
  if (failed > 0) return firstProblem ?? `${failed} requests failed`
  if (missed > 0.001) return `${(missed * 100).toFixed(1)} % of the requests were not answered in time`
  if (p99 <= limitMs) return undefined
  const late =
    generatorLate > limitMs / 4 ? `, of which the generator itself was ${generatorLate.toFixed(1)} ms late` : ''
  return `p99 was ${p99.toFixed(1)} ms${late}`
}
