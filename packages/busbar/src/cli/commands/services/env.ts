import { getEnvironment } from '../../../supervisor/admin/operations/describe.ts'
import { findRun } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { paint } from '../../terminal/terminal.ts'

/** `busbar env`: shows the environment of services, with secrets masked. */
export async function env(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const { admin } = await findRun(flags.app, context)
  const input = { service: operands[0], all: flags.all === true ? 'true' : 'false' }
  const { services } = await admin.json(getEnvironment, input, { timeout: 10_000 })
  const blocks = Object.entries(services).map(([name, variables]) =>
    [
      `${paint(terminal.out, 'bold', name)}${Object.keys(variables).length === 0 ? ': nothing' : ''}`,
      ...Object.entries(variables).map(([key, value]) => `  ${key}=${value}`),
    ].join('\n'),
  )
  printResult(context, { services }, blocks.join('\n\n'))
  return 0
}
