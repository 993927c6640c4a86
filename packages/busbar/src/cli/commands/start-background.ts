import { statSync } from 'node:fs'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { findRuns, listRuns } from '../admin/find-runs.ts'
import { printResult } from '../admin/print-result.ts'
import type { Serving } from '../background/process-messages.ts'
import { type DetachedStart, startArguments, startDetached } from '../background/start-detached.ts'
import type { CommandContext } from '../command.ts'
import { print } from '../terminal/terminal.ts'
import { showPage } from '../dashboard/run-page.ts'
import { resolveOperand } from '../operand.ts'

/**
 * `busbar start -d`: runs the app in another process and ends when it serves. Loads neither the
 * config nor the supervisor.
 */
export async function startInBackground(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  const location = resolveOperand(context)
  const began = performance.now()
  const args = startArguments(flags, location)
  const serving = await startOrExplain(context, { args, folder: terminal.cwd, location, terminal })
  await printStarted(context, serving, Math.round(performance.now() - began))
  return 0
}

/** Errors of a port that another process has. */
const taken: ReadonlySet<string> = new Set(['PORT_IN_USE', 'ADMIN_UNAVAILABLE'])

async function startOrExplain(context: CommandContext, start: DetachedStart): Promise<Serving> {
  try {
    return await startDetached(start)
  } catch (error) {
    throw error instanceof BusbarError && taken.has(error.code)
      ? await explainTaken(error, start.location, context)
      : error
  }
}

/** Mostly, it is the same app that has the port. */
async function explainTaken(failure: BusbarError, location: string, context: CommandContext): Promise<BusbarError> {
  const runs = await findRuns(location, context).catch(() => [])
  if (runs.length === 0) return failure
  const { code, message, service } = failure
  const pids = runs.map(({ status }) => status.app.pid).join(', ')
  const hint = `The app runs already, as process ${pids}: busbar reload or restart changes it, busbar stop ends it.`
  return new BusbarError(code, { message, hint, service, cause: failure })
}

/** `took`: milliseconds until the app served. It may be too busy by now to answer for itself. */
async function printStarted(context: CommandContext, serving: Serving, took: number): Promise<void> {
  const { pid, record, addresses, entrance, logs, page } = serving
  const { name, root } = record
  const { runs, silent } = await listRuns(context.terminal.env)
  const isSeen = runs.some(({ status }) => status.app.pid === pid) || silent.some((one) => one.pid === pid)
  if (!isSeen) print(context.terminal.err, unseen(pid))
  const log = logs?.files?.folder
  if (log !== undefined && !hasLines(log)) print(context.terminal.err, unwritten(log))
  const lines = [
    `${name} is ready after ${took} ms, in the background (process ${pid})`,
    ...addresses.map(
      ({ url, serves }, at) => `  ${url}  ${serves}${at === 0 && entrance === 'native' ? '  native entrance' : ''}`,
    ),
    ...(log === undefined ? [] : [`  log files: ${log}`]),
  ]
  const dashboard = page && { url: page.url, file: page.file }
  printResult(context, { ok: true, name, root, pid, took, addresses, entrance, logs: log, dashboard }, lines.join('\n'))
  if (page !== undefined && context.flags.json !== true) showPage(page, context.terminal)
}

/** The app has logged its start by now. */
function hasLines(folder: string): boolean {
  return (statSync(join(folder, 'app.log'), { throwIfNoEntry: false })?.size ?? 0) > 0
}

function unwritten(folder: string): string {
  return `busbar: the log files in ${folder} cannot be written: lines are lost\n  hint: busbar logs shows the reason. Set logs.files in the config to a folder that can be written.`
}

/** Its admin socket could not be opened: nothing but a signal reaches it. */
function unseen(pid: number): string {
  const why = 'its admin socket could not be opened, for the reason in its log'
  return `busbar: busbar ps, stop and other commands cannot find this app: ${why}\n  hint: End it by kill -TERM ${pid}.`
}
