import type { EdgeStats } from '../../../observe/app-status.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'
import { numberText } from '../../terminal/units.ts'

const heads = ['caller', 'callee', 'calls', 'over', 'count', 'failed', 'retries', 'calls/s', 'in flight', 'p50', 'p99']

/** An edge without its histograms. */
export type EdgeRow = Omit<EdgeStats, 'outcomes'>

/** A table of the busiest edges, with a line for the others. Empty if there were no calls. */
export function edgeLines(edges: readonly EdgeRow[], out: Output, limit: number): string[] {
  if (edges.length === 0) return []
  const sorted = edges.toSorted((one, other) => other.callsPerSecond - one.callsPerSecond || other.calls - one.calls)
  const rows = sorted
    .slice(0, limit)
    .map((edge) => [
      edge.caller === '' ? paint(out, 'dim', '(outside)') : edge.caller,
      paint(out, 'bold', edge.callee),
      `${edge.method} ${edge.route}`.trim(),
      edge.transport,
      numberText(edge.calls),
      edge.failures > 0 ? paint(out, 'red', numberText(edge.failures)) : '0',
      numberText(edge.retries),
      numberText(edge.callsPerSecond),
      numberText(edge.inFlight),
      durationText(edge.p50),
      durationText(edge.p99),
    ])
  const more = edges.length > limit ? [paint(out, 'dim', `and ${edges.length - limit} more`)] : []
  return ['', ...alignColumns([heads.map((head) => paint(out, 'dim', head)), ...rows]), ...more]
}

/** No call takes no time: 0 is that of an edge without a call whose duration is known. */
function durationText(milliseconds: number): string {
  if (milliseconds === 0) return '–'
  return milliseconds < 1 ? `${Math.round(milliseconds * 1000)} µs` : `${Number(milliseconds.toPrecision(3))} ms`
}
