import type * as z from 'zod'
import { getTrace, listTraces } from '../../../supervisor/admin/operations/traces.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'

type Trace = z.output<typeof getTrace.output>
type Traces = z.output<typeof listTraces.output>

/** `busbar traces`: lists the recent traces of a running app, or shows one. */
export async function traces(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const { admin } = await findRun(flags.app, context)
  const [id] = operands
  if (id !== undefined) {
    const trace = await admin.json(getTrace, { id }, { timeout: 10_000 })
    printResult(context, trace, waterfallText(trace, terminal.out))
    return 0
  }
  const input = {
    service: flags.service,
    failed: flags.failed ? 'true' : 'false',
    limit: Math.min(10_000, Math.max(1, flags.lines ?? 20)),
  }
  const list = await admin.json(listTraces, input, { timeout: 10_000 })
  printResult(context, list, listText(list, terminal.out))
  return 0
}

function listText({ sample, traces: list }: Traces, out: Output): string {
  if (sample === null) return 'this app records no traces: set traces.sample in its config'
  if (list.length === 0) return 'no traces yet'
  const head = ['trace', 'began', 'took', 'calls', 'failed', 'first'].map((name) => paint(out, 'dim', name))
  const rows = list.map(({ id, start, duration, hops, failed, first }) => [
    id,
    new Date(start).toISOString().slice(11, 23),
    timeText(duration),
    `${hops}`,
    failed === 0 ? '0' : paint(out, 'red', `${failed}`),
    `${first.service} ${first.method}${first.path === null ? '' : ` ${first.path}`} ${first.status ?? 'none'}`,
  ])
  return alignColumns([head, ...rows]).join('\n')
}

/** Cells of the bars. */
const width = 30

function waterfallText({ id, duration, calls, dropped }: Trace, out: Output): string {
  const head = ['call', 'over', 'status', 'took', 'queue', 'wire', 'run', 'sent', 'received', '']
  const rows = calls.map((call) => {
    const { depth, service, method, path, transport, status, attempts } = call
    const name = `${'  '.repeat(depth)}${service} ${method}${path === null ? '' : ` ${path}`}`
    const isFailed = status === null || status >= 500
    return [
      attempts > 1 ? `${name} (${attempts} attempts)` : name,
      transport ?? '–',
      paint(out, isFailed ? 'red' : 'green', `${status ?? 'none'}`),
      ...[call.duration, call.queue, call.wire, call.run].map(timeText),
      `${call.sent}`,
      `${call.received}`,
      bar(call, duration),
    ]
  })
  const title = `${paint(out, 'bold', id)} ${timeText(duration)}`
  const more = dropped === 0 ? [] : [`${dropped} spans more were not kept`]
  return [title, '', ...alignColumns([head.map((name) => paint(out, 'dim', name)), ...rows]), ...more].join('\n')
}

function bar({ start, duration }: Trace['calls'][number], whole: number): string {
  const scale = width / Math.max(whole, Number.MIN_VALUE)
  const before = Math.min(width - 1, Math.floor(start * scale))
  const length = Math.min(width - before, Math.max(1, Math.round(duration * scale)))
  return `${' '.repeat(before)}${'█'.repeat(length)}`
}

function timeText(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`
  return `${milliseconds < 100 ? milliseconds.toFixed(2) : Math.round(milliseconds)} ms`
}
