import { getSlowParts } from '../../../supervisor/admin/operations/advice.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { paint } from '../../terminal/terminal.ts'

/** `busbar why-slow`: names the worker, service and hop that cost most. */
export async function whySlow(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const interval = flags.interval ?? 5000
  const { admin, status } = await findRun(operands[0], context)
  const { parts } = await admin.json(getSlowParts, { seconds: interval / 1000 }, { timeout: interval + 30_000 })
  const { name } = status.app
  const lines = parts.map(({ text }) => `- ${text}`)
  const text = [paint(terminal.out, 'bold', name), ...(lines.length === 0 ? [`no calls in ${interval} ms`] : lines)]
  printResult(context, { app: name, interval, parts }, text.join('\n'))
  return 0
}
