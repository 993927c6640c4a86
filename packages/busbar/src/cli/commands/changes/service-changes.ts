import type { Change } from '../../../supervisor/generations/changes.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { reloadApp, scaleService, moveService } from '../../../supervisor/admin/operations/changes.ts'
import { findRun } from '../../admin/find-runs.ts'
import { BusbarError } from '../../../contract/errors.ts'

/** Milliseconds for a change: the new workers start, and those of an earlier change still drain. */
const changeTimeout = 600_000

function printChange(context: CommandContext, change: Change): void {
  const { generation, replaced, added, removed, kept, took } = change
  const counts = Object.entries({ replaced, added, removed, kept }).filter(([, count]) => count > 0)
  const text = counts.map(([what, count]) => `${count} ${what}`).join(', ')
  printResult(context, { ok: true, ...change }, `generation ${generation} took over after ${took} ms; workers: ${text}`)
}

/** `busbar reload`: new config and new code, without a failed request. */
export async function reload(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [service] = operands
  const { admin } = await findRun(flags.app, context)
  const input = service === undefined ? {} : { service }
  printChange(context, await admin.json(reloadApp, input, { timeout: changeTimeout }))
  return 0
}

/** `busbar scale`: changes the number of a service's instances. */
export async function scale(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [service, count] = operands as [string, string]
  if (!/^(?:\+?0*[1-9]\d*|-\d+)$/.test(count))
    throw new BusbarError('USAGE', {
      message: `${count} is not a number of instances`,
      hint: 'Give a number such as 3, or how many more, such as +1.',
    })
  const instances = /^\d/.test(count) ? Number(count) : count
  const { admin } = await findRun(flags.app, context)
  printChange(context, await admin.json(scaleService, { service, instances }, { timeout: changeTimeout }))
  return 0
}

/** `busbar move`: changes where a service runs, while it serves. */
export async function move(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [service] = operands as [string]
  const { run, instances } = flags
  if (run === undefined)
    throw new BusbarError('USAGE', {
      message: 'move needs --run',
      hint: 'Add --run shared, --run thread or --run process.',
    })
  const { admin } = await findRun(flags.app, context)
  const input = { service, run, ...(instances !== undefined && { instances }) }
  printChange(context, await admin.json(moveService, input, { timeout: changeTimeout }))
  return 0
}
