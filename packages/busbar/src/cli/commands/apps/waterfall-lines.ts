/** A trace as text: each call and each span of a service below the one that caused it. */
import type * as z from 'zod'
import type { getTrace } from '../../../supervisor/admin/operations/traces.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'
import { oneLine } from '../../../shared/output/printable.ts'

type Trace = z.output<typeof getTrace.output>
type Call = Trace['calls'][number]
type Own = Trace['own'][number]

/** Cells of the bars. */
const width = 30

export function waterfallText(trace: Trace, out: Output): string {
  const { id, duration, dropped } = trace
  const head = ['call', 'over', 'status', 'took', 'queue', 'wire', 'run', 'sent', 'received', '']
  const rows = inTree(trace).map(({ row, depth }) => [
    `${'  '.repeat(depth)}${oneLine('path' in row ? nameOf(row) : row.name)}`,
    ...('path' in row ? callCells(row, out) : ownCells(row, out)),
    bar(row, duration),
  ])
  const title = `${paint(out, 'bold', id)} ${timeText(duration)}`
  const more = dropped === 0 ? [] : [`${dropped} spans more were not kept`]
  return [title, '', ...alignColumns([head.map((name) => paint(out, 'dim', name)), ...rows]), ...more].join('\n')
}

export function timeText(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`
  return `${milliseconds < 100 ? milliseconds.toFixed(2) : Math.round(milliseconds)} ms`
}

/** Each row precedes those that it caused, which follow in the order of their starts. */
function inTree({ calls, own }: Trace): { row: Call | Own; depth: number }[] {
  const callOf = new Map(calls.flatMap(({ id, spans }) => spans.map((span) => [span, id] as const)))
  const parentOf = (row: Call | Own): string | null =>
    'path' in row ? (row.within ?? row.parent) : (row.parent !== null && callOf.get(row.parent)) || row.parent
  const rows = [...calls, ...own].toSorted((one, other) => one.start - other.start)
  const children = Map.groupBy(rows, parentOf)
  const found: { row: Call | Own; depth: number }[] = []
  const seen = new Set<Call | Own>()
  const add = (row: Call | Own, depth: number): void => {
    if (seen.has(row)) return
    seen.add(row)
    found.push({ row, depth })
    for (const child of children.get(row.id) ?? []) add(child, depth + 1)
  }
  // Rows that are each other's parents come last.
  for (const row of [...(children.get(null) ?? []), ...rows]) add(row, 0)
  return found
}

function nameOf({ service, method, path, attempts }: Call): string {
  const name = `${service} ${method}${path === null ? '' : ` ${path}`}`
  return attempts > 1 ? `${name} (${attempts} attempts)` : name
}

function callCells(call: Call, out: Output): string[] {
  const { transport, status } = call
  const isFailed = status === null || status >= 500
  return [
    transport ?? '–',
    paint(out, isFailed ? 'red' : 'green', `${status ?? 'none'}`),
    ...[call.duration, call.queue, call.wire, call.run].map(timeText),
    `${call.sent}`,
    `${call.received}`,
  ]
}

function ownCells({ service, duration, failed }: Own, out: Output): string[] {
  const status = failed ? paint(out, 'red', 'error') : ''
  return [paint(out, 'dim', `in ${service}`), status, timeText(duration), '', '', '', '', '']
}

function bar({ start, duration }: Pick<Call, 'start' | 'duration'>, whole: number): string {
  const scale = width / Math.max(whole, Number.MIN_VALUE)
  const before = Math.max(0, Math.min(width - 1, Math.floor(start * scale)))
  const length = Math.min(width - before, Math.max(1, Math.round(duration * scale)))
  return `${' '.repeat(before)}${'█'.repeat(length)}`
}
