import type * as z from 'zod'
import { getTrace, listTraces } from '../../../supervisor/admin/operations/traces.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext, Flags } from '../../command.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'
import { oneLine } from '../../../shared/output/printable.ts'
import { timeText, waterfallText } from './waterfall-lines.ts'

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
    limit: Math.min(10_000, flags.lines ?? 20),
  }
  const list = await admin.json(listTraces, input, { timeout: 10_000 })
  printResult(context, list, listText(list, flags, terminal.out))
  return 0
}

function listText({ sample, traces: list }: Traces, { failed, service, lines }: Flags, out: Output): string {
  if (sample === null) return 'this app records no traces: set traces.sample in its config'
  if (lines === 0) return ''
  if (list.length === 0) return failed || service !== undefined ? 'no trace matches' : 'no traces yet'
  const head = ['trace', 'began', 'took', 'calls', 'failed', 'first'].map((name) => paint(out, 'dim', name))
  const rows = list.map(({ id, start, duration, hops, failed, first }) => [
    id,
    new Date(start).toISOString().slice(11, 23),
    timeText(duration),
    `${hops}`,
    failed === 0 ? '0' : paint(out, 'red', `${failed}`),
    oneLine(`${first.service} ${first.method}${first.path === null ? '' : ` ${first.path}`} ${first.status ?? 'none'}`),
  ])
  return alignColumns([head, ...rows]).join('\n')
}
