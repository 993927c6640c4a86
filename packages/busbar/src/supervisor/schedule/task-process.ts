import { spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { once } from 'node:events'
import type { App, ScheduleTarget } from '../../config/app.ts'
import { type CallAccess, callVariables } from '../../shared/calls/call-access.ts'
import { localPortsOf } from '../../shared/calls/local-ports.ts'
import type { OutputLine } from '../../shared/output/log-levels.ts'
import { withoutConnections } from '../../shared/process/child-stdio.ts'
import { bypassProxies, pwdVariable } from '../../shared/process/program-environment.ts'
import type { OrphanReaper } from '../runtimes/orphan-reaper.ts'
import type { OutputScheduler } from '../runtimes/output/output-scheduler.ts'
import { ChildOutput } from '../runtimes/output/pipe-output.ts'

export interface TaskParts {
  readonly app: App
  readonly calls: CallAccess
  readonly reaper: OrphanReaper
  readonly scheduler: OutputScheduler
  readonly line: (line: OutputLine) => void
}

/** Milliseconds between SIGTERM and SIGKILL. */
const grace = 5000

const piped: [StdioNull, StdioPipe, StdioPipe] = ['ignore', 'pipe', 'pipe']

/**
 * Runs a module in a process group of its own, whose programs reach the services by name. Rejects
 * unless it exits with 0.
 */
export async function runTask(
  { file, env }: Extract<ScheduleTarget, { kind: 'task' }>,
  signal: AbortSignal,
  { app, calls, reaper, scheduler, line }: TaskParts,
): Promise<void> {
  const isGroup = process.platform !== 'win32'
  const options = { cwd: app.root, env: environmentOf(app, calls, env), detached: isGroup }
  const child = withoutConnections(piped, (stdio) => spawn(process.execPath, [file], { ...options, stdio }))
  const output = new ChildOutput(child, scheduler, line)
  if (child.pid === undefined) throw (await once(child, 'error'))[0] as Error
  const group = isGroup ? -child.pid : child.pid
  reaper.watch(group)
  let late: NodeJS.Timeout | undefined
  const end = (): void => {
    kill(group, 'SIGTERM')
    late = setTimeout(() => kill(group, 'SIGKILL'), grace)
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    await output.ended()
    if (code !== 0) throw new Error(by === null ? `it exited with code ${code}` : `it was ended by ${by}`)
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', end)
    // Ends the processes that it left behind.
    kill(group, 'SIGKILL')
    reaper.forget(group)
  }
}

function environmentOf(app: App, calls: CallAccess, own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const names = app.services.map(({ name }) => name)
  const env: NodeJS.ProcessEnv = { ...process.env, ...pwdVariable(app.root, process.env), ...own }
  Object.assign(env, callVariables(calls, '', { names, localPorts: localPortsOf(app.services) }, env['NODE_OPTIONS']))
  bypassProxies(env, names, ['127.0.0.1'])
  return env
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Nothing of it is left.
  }
}
