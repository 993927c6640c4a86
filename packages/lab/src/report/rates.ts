import type { Held } from '../rates/hold-p99.ts'
import type { Probe } from '../rates/probe.ts'
import { alignTable, fixed, whole } from './format.ts'

/** A table of one server. The first row is its capacity. */
export function probesText(name: string, probes: readonly Probe[]): string {
  const head = ['rate', 'answered/s', 'p50 ms', 'p99 ms', 'max ms', 'missed', 'failed']
  const rows = probes.map(({ rate, perSecond, p50, p99, max, missed, failed }) => [
    rate === null ? 'as fast as possible' : whole(rate),
    whole(perSecond),
    latency(p50),
    latency(p99),
    latency(max),
    missed === 0 ? '–' : `${(missed * 100).toFixed(1)} %`,
    failed === 0 ? '–' : whole(failed),
  ])
  const problem = probes.find(({ firstProblem }) => firstProblem !== null)?.firstProblem
  return [name, ...alignTable([head, ...rows]), ...(problem ? [`first problem: ${problem}`] : []), ''].join('\n') + '\n'
}

export function heldText({ rate, confirmedBy, failedAt }: Held, limitMs: number, seconds: string): string {
  const above = failedAt === null ? '' : ` ${whole(failedAt.rate)} requests per second did not (${failedAt.why}).`
  if (rate === null) return `No rate held a p99 of ${limitMs} ms.${above}\n\n`
  const p99s = confirmedBy.map(({ p99 }) => fixed(p99, 1)).join(', ')
  return `${whole(rate)} requests per second hold a p99 of ${limitMs} ms (${p99s} ms in ${confirmedBy.length} times ${seconds} s).${above}\n\n`
}

/** Autocannon measures none. */
function latency(value: number): string {
  return value === 0 ? '–' : fixed(value, 2)
}
