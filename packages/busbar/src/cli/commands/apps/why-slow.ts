import { setTimeout as sleep } from 'node:timers/promises'
import { findSlowParts } from '../../../observe/metrics/slow-parts.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { paint } from '../../terminal/terminal.ts'

/** `busbar why-slow`: names the worker, service and hop that cost most. */
export async function whySlow(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const interval = flags.interval ?? 5000
  const { status: before } = await findRun(operands[0], context)
  await sleep(interval)
  const { status: after } = await findRun(operands[0], context)
  const parts = findSlowParts(before, after, interval / 1000)
  const title = paint(terminal.out, 'bold', after.app.name)
  const lines = parts.map(({ text }) => `- ${text}`)
  const text = [title, ...(lines.length === 0 ? [`no calls in ${interval} ms`] : lines)].join('\n')
  printResult(context, { app: after.app.name, interval, parts }, text)
  return 0
}
