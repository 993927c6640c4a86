import { resolve } from 'node:path'
import type { App } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import { keepWasmCode } from '../node/wasm-code.ts'
import { neverBlock } from '../node/terminal.ts'
import { type Log, createLog } from '../observe/log.ts'
import { runtimeFolder } from '../supervisor/admin/admin-socket.ts'
import type { RunningApp } from '../supervisor/running.ts'
import type { Context } from './context.ts'
import { printError } from './print-error.ts'
import { warnOfUntestedNode } from './untested-node.ts'
import { type StopSignal, onStopSignal } from './stop-signals.ts'

/** What `start` and `dev` have in common: one log, one wish to stop, one way to end. */
export interface Session {
  readonly log: Log
  /** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. */
  readonly stopWish: Promise<StopSignal>
  /** The app as its config says now, with the command line's flags over it. */
  loadApp(): Promise<App>
  /** Resolves to undefined where a wish to stop came first. */
  startApp(app: App, mode: 'start' | 'dev'): Promise<RunningApp | undefined>
  /** Says what went wrong, to people and in the log. */
  report(thrown: unknown): void
  /** Says so, and sees to it that the process can end. */
  sayStopped(running: RunningApp | undefined): void
  /** Writes what still waits and takes the signal handlers away. */
  close(): Promise<void>
}

/** The folder or file that the command line means, absolute. */
export function resolveOperand({ operand, terminal }: Pick<Context, 'operand' | 'terminal'>): string {
  return resolve(terminal.cwd, operand ?? '.')
}

export function openSession(context: Context): Session {
  const { flags, terminal, parts } = context
  const { out, err, env } = terminal
  const log = createLog({
    format: out.isTerminal ? 'pretty' : 'json',
    colors: out.colors,
    stream: out.stream,
    ...(flags['log-level'] !== undefined && { level: flags['log-level'] }),
  })
  warnOfUntestedNode(log)
  // Nothing may stop the main thread, which accepts all connections.
  const terminals = [out, err].filter(({ stream }) => stream.isTTY)
  for (const fault of [keepWasmCode(), ...terminals.map(({ stream }) => neverBlock(stream))])
    if (fault !== undefined) log.event('warn', fault)
  const verbose = flags.verbose === true || Boolean(env['BUSBAR_DEBUG'])
  const stopped = new AbortController()
  const { promise: stopWish, resolve: wish } = Promise.withResolvers<StopSignal>()
  const forget = onStopSignal((signal) => {
    log.event('info', `${signal}: stopping`)
    wish(signal)
    stopped.abort(stopped)
  })
  return {
    log,
    stopWish,
    loadApp: () => parts.loadApp(resolveOperand(context), { env, overrides: flags }),
    async startApp(app, mode) {
      try {
        const adminFolder = runtimeFolder(env)
        return await parts.startApp(app, {
          mode,
          log: (record) => log.write(record),
          isLogBehind: () => log.isBehind,
          signal: stopped.signal,
          adminFolder,
        })
      } catch (error) {
        if (error === stopped) return undefined
        throw error
      }
    },
    report(thrown) {
      const error = BusbarError.from(thrown)
      if (!out.isTerminal) log.event('fatal', error.message, { ...error.toRecord() })
      printError(err, error, verbose)
    },
    sayStopped(running) {
      if (running !== undefined && running.hung > 0) endByForce(log)
      log.event('info', 'stopped')
    },
    async close() {
      forget()
      await log.flush(1000)
    },
  }
}

/** `process.exit` waits for its threads, and one that hangs in a system call can be ended by nothing else. */
function endByForce(log: Log): void {
  log.event('warn', 'a thread hangs in a system call and cannot be ended: the process ends by SIGKILL')
  process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
}
