import { constants } from 'node:os'
import { nearest } from '../../../config/nearest.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { signalService } from '../../../supervisor/admin/operations/diagnostics.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'

/** `busbar signal`: runs the handlers that a service has for a signal. */
export async function signal(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [service, given] = operands as [string, string]
  const name = given.toUpperCase().replace(/^(?!SIG)/, 'SIG')
  if (!Object.hasOwn(constants.signals, name)) throw unknownSignal(given, name)
  const { admin } = await findRun(flags.app, context)
  const { workers } = await admin.json(signalService, { service, signal: name }, { timeout: 30_000 })
  const lines = workers.map(({ worker, handled }) => `${worker}: ${handled ? name : `no handler for ${name}`}`)
  printResult(context, { ok: workers.some(({ handled }) => handled), signal: name, workers }, lines.join('\n'))
  return workers.some(({ handled }) => handled) ? 0 : 1
}

function unknownSignal(given: string, name: string): BusbarError {
  const near = nearest(name, Object.keys(constants.signals))
  return new BusbarError('USAGE', {
    message: `"${given}" is not a signal`,
    hint: near === undefined ? 'Give one such as HUP, USR2 or SIGTERM.' : `Did you mean ${near}?`,
  })
}
