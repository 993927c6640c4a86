import { loadApp } from '../../../config/load.ts'
import { listRuns } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { checkConfig, checkPorts } from '../../doctor/app.ts'
import type { Finding } from '../../doctor/finding.ts'
import {
  checkBacklog,
  checkDescriptors,
  checkDisk,
  checkMemory,
  checkNode,
  checkProcessors,
  checkSocketFolder,
  checkTasks,
  checkWatches,
} from '../../doctor/machine.ts'
import { resolveOperand } from '../../operand.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'

/** `busbar doctor`: checks the machine and the app, and says what to do. */
export async function doctor(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const { env } = terminal
  const load = () => loadApp(resolveOperand(context), { env, overrides: flags })
  const { app, finding } = await checkConfig(load, operands[0] !== undefined)
  const { runs } = await listRuns(env)
  const ports =
    app === undefined
      ? []
      : await checkPorts(
          app,
          runs.map(({ status }) => status),
        )
  const machine = [
    checkNode(),
    checkDescriptors(),
    checkBacklog(),
    checkWatches(),
    checkTasks(),
    checkMemory(app),
    checkProcessors(app),
    await checkSocketFolder(env),
    checkDisk(env),
  ]
  const findings = [finding, ...ports, ...machine].filter((one) => one !== undefined)
  const isOk = findings.every(({ state }) => state !== 'fail')
  printResult(context, { ok: isOk, findings }, textOf(findings, terminal.out))
  return isOk ? 0 : 1
}

const colors = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function textOf(findings: readonly Finding[], out: Output): string {
  const rows = findings.map(({ check, state, found }) => [
    paint(out, colors[state], state),
    check,
    found.replaceAll('\n', '\n      '),
  ])
  const lines = alignColumns(rows)
  return findings
    .flatMap(({ advice }, at) => [lines[at]!, ...(advice === undefined ? [] : [`      ${paint(out, 'cyan', advice)}`])])
    .join('\n')
}
