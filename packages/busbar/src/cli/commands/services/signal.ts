import { signalService } from '../../../supervisor/admin/operations/diagnostics.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'

/** `busbar signal`: runs the handlers that a service has for a signal. */
export async function signal(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [service, given] = operands as [string, string]
  const name = given.toUpperCase().replace(/^(?!SIG)/, 'SIG')
  const { admin } = await findRun(flags.app, context)
  const { workers } = await admin.json(signalService, { service, signal: name }, { timeout: 30_000 })
  const lines = workers.map(({ worker, handled }) => `${worker}: ${handled ? name : `no handler for ${name}`}`)
  printResult(context, { ok: workers.some(({ handled }) => handled), signal: name, workers }, lines.join('\n'))
  return workers.some(({ handled }) => handled) ? 0 : 1
}
