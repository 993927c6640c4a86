import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../../../contract/errors.ts'
import { isAlive } from '../../../shared/process/process-identity.ts'
import { restartApp } from '../../../supervisor/admin/operations/changes.ts'
import { findRun, listRuns, otherRuns, type Run } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'

/** Milliseconds between two polls of the app's status. */
const lookInterval = 50

/** Milliseconds for the start, in addition to the stop. */
const startLimit = 120_000

/** `busbar restart`: stops a running app and starts it again, and returns when it is ready. */
export async function restart(context: CommandContext): Promise<number> {
  const { operands, terminal } = context
  const began = performance.now()
  const run = await findRun(operands[0], context)
  const { admin, status } = run
  const others = await otherRuns(run, terminal.env)
  const { name, root, pid: before } = status.app
  const { startedAt, stopTimeout } = await admin.json(restartApp, {}, { timeout: 30_000 })
  const isNext = ({ status: { app } }: Run): boolean =>
    app.root === root && !others.has(app.pid) && app.startedAt > startedAt && app.ready
  for (;;) {
    const { runs } = await listRuns(terminal.env)
    const next = runs.find(isNext)
    const took = Math.round(performance.now() - began)
    if (next !== undefined) {
      const { pid } = next.status.app
      printResult(context, { ok: true, name, pid, took }, `${name} (process ${pid}) runs again after ${took} ms`)
      return 0
    }
    // A restart keeps the process, so if that has ended, the start has failed.
    if (!isAlive(before)) throw notStarted(name)
    if (took > stopTimeout + startLimit)
      throw new BusbarError('DEADLINE_EXCEEDED', {
        message: `${name} is not ready ${took} ms after it was asked to restart`,
        hint: 'Look at its log.',
      })
    await sleep(lookInterval)
  }
}

function notStarted(name: string): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', {
    message: `${name} has stopped, and could not start again`,
    hint: 'Its log says why (its files, or the terminal that started it); unless it runs with --once, it is tried again until it starts.',
  })
}
