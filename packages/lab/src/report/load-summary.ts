import { statusName } from '../engine/statuses.ts'
import type { Probe } from '../rates/probe.ts'
import { alignTable, fixed, whole } from './format.ts'

const barWidth = 40

/** Count, rate, latencies, a histogram and statuses of one load. */
export function loadSummary(probe: Probe): string {
  const { count, perSecond, min, mean, max, percentiles, histogram, statuses } = probe
  const rates: [string, string][] = [
    ['answers', whole(Object.values(statuses).reduce((sum, each) => sum + each, 0))],
    ['per second', whole(perSecond)],
  ]
  const latencies = [['fastest', min], ['average', mean], ['slowest', max], ...Object.entries(percentiles)] as const
  const rows = [...rates, ...(count === 0 ? [] : latencies.map(([name, value]) => [name, `${fixed(value, 2)} ms`]))]
  return [
    ...alignTable(rows),
    ...(histogram.length === 0 ? [] : ['', ...bars(histogram)]),
    '',
    ...alignTable(Object.entries(statuses).map(([status, each]) => [`status ${statusName(status)}`, whole(each)])),
    '',
    '',
  ].join('\n')
}

function bars(histogram: Probe['histogram']): string[] {
  const most = Math.max(...histogram.map(({ count }) => count))
  const rows = histogram.map(({ to, count }) => [`${fixed(to, 2)} ms`, whole(count)])
  const lines = alignTable(rows, 0)
  return lines.map((line, at) =>
    `${line}  ${'■'.repeat(Math.round((histogram[at]!.count / most) * barWidth))}`.trimEnd(),
  )
}
