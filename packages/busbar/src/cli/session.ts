import type { App } from '../config/app.ts'
import { type Placements, loadApp } from '../config/load.ts'
import { BusbarError } from '../contract/errors.ts'
import { entranceLibrary } from '../entrance/load.ts'
import { keepWasmCodeAfterStart } from '../node/wasm-code.ts'
import { neverBlock } from '../node/terminal.ts'
import { type Log, createLog } from '../observe/log.ts'
import { LogIntake } from '../observe/log-intake.ts'
import { RecentLog } from '../observe/recent-log.ts'
import { runtimeFolder } from '../supervisor/admin/admin-socket.ts'
import { startSupervisor } from '../supervisor/supervisor.ts'
import { stateFolder, ownFolder, ownName } from './background/own-folder.ts'
import { testedNodes } from '../shared/accelerators.ts'
import type { RunningApp } from '../supervisor/running-app.ts'
import { reportFailed, detachedVariable } from './background/process-messages.ts'
import { type PageAddress, RunPage } from './dashboard/run-page.ts'
import { startArguments } from './background/start-detached.ts'
import type { CommandContext } from './command.ts'
import { forInspection, inspectionOptions } from './inspection.ts'
import { resolveOperand } from './operand.ts'
import { printError } from './terminal/print-error.ts'
import { takeSockets, withSockets } from './startup/activation.ts'
import { SystemdNotifier } from './startup/notify-systemd.ts'
import { onStopSignal } from './stop-signals.ts'
import { logFiles } from '../config/schema/logs-schema.ts'

/** The common parts of `start` and `dev`: the log, the stop signals and the end. */
export interface Session {
  readonly log: Log
  readonly systemd: SystemdNotifier
  /** The command line, with which the app can be started again. */
  readonly command: { readonly args: string[]; readonly folder: string; readonly isDetached: boolean }
  /**
   * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when `busbar stop` asks for it. A second
   * signal ends the process at once.
   */
  readonly stopRequested: Promise<void>
  /** Loads the config, with the flags of the command line as overrides. */
  loadApp(): Promise<App>
  /**
   * Resolves to undefined if a stop signal came first. `restart`: what a request to restart the
   * whole app does, once the config has been read.
   */
  startApp(app: App, mode: 'start' | 'dev', restart: (next: App) => void): Promise<RunningApp | undefined>
  /** With `--open`: shows where the dashboard of the app is. */
  announcePage(running: RunningApp): PageAddress | undefined
  /** Prints an error to standard error and writes it to a JSON log. */
  report(thrown: unknown): void
  /** Logs the stop. If a thread hangs, makes the process end by SIGKILL. */
  announceStopped(running: RunningApp | undefined): void
  /** Flushes the log and removes the signal handlers. */
  close(): Promise<void>
}

export function openSession(context: CommandContext): Session {
  const { flags, terminal } = context
  const { out, err, env } = terminal
  const isDetached = takeDetached(env)
  const sockets = takeSockets(env)
  const recent = new RecentLog()
  const page = flags.open === true ? new RunPage(env) : undefined
  const log = createLog({
    recent,
    format: out.isTerminal ? 'pretty' : 'json',
    colors: out.colors,
    stream: out.stream,
    fallback: err.stream,
    ...(flags['log-level'] !== undefined && { level: flags['log-level'] }),
  })
  const intake = new LogIntake((record) => log.write(record))
  warnOfUntestedNode(log)
  // Nothing may block the main thread, which accepts all connections.
  const terminals = [out, err].filter(({ stream }) => stream.isTTY)
  const warn = (fault: string | undefined): void => void (fault !== undefined && log.event('warn', fault))
  for (const { stream } of terminals) warn(neverBlock(stream))
  const systemd = new SystemdNotifier(env, (line) => log.event('warn', line))
  const verbose = flags.verbose === true || Boolean(env['BUSBAR_DEBUG'])
  const stopped = new AbortController()
  const { promise: stopRequested, resolve } = Promise.withResolvers<void>()
  const stopBy = (by: string): void => {
    if (stopped.signal.aborted) return
    log.event('info', `${by}: stopping`)
    systemd.notify('STOPPING=1')
    resolve()
    stopped.abort(stopped)
  }
  const forget = onStopSignal(stopBy)
  const load = async (placements: Placements): Promise<App> => {
    const loaded = await loadApp(resolveOperand(context), { env, overrides: flags, placements })
    const app = withSockets(isDetached ? withBackgroundLog(loaded, env) : loaded, sockets)
    intake.use(app)
    await log.use(app)
    return flags.inspect === undefined ? app : forInspection(app, flags.inspect)
  }
  const command = { args: startArguments(flags, resolveOperand(context)), folder: terminal.cwd, isDetached }
  return {
    log,
    systemd,
    command,
    stopRequested,
    loadApp: () => load({}),
    async startApp(app, mode, restart) {
      using _wasmCode = keepWasmCodeAfterStart(warn)
      try {
        const adminFolder = runtimeFolder(env)
        return await startSupervisor(app, {
          mode,
          ...(flags.inspect !== undefined && inspectionOptions(flags.inspect)),
          load,
          log: intake.add,
          isLogBehind: () => log.isBehind,
          signal: stopped.signal,
          adminFolder,
          recentLog: recent,
          page: page?.port,
          stateFolder: stateFolder(env),
          requestStop: () => stopBy('busbar stop'),
          requestRestart: async () => restart(await load({})),
          command,
          entrance: entranceLibrary,
        })
      } catch (error) {
        if (error === stopped) return undefined
        throw error
      }
    },
    announcePage(running) {
      const opened = page?.opened(running)
      // In the background nobody sees this terminal, and the command that has started it does that.
      if (opened !== undefined) page!.announce(opened, terminal, log)
      return opened
    },
    report(thrown) {
      const error = BusbarError.from(thrown)
      reportFailed(intake.redactError(error))
      if (!out.isTerminal) log.event('fatal', error.message, { ...error.toRecord() })
      printError(err, error, verbose, intake.redact)
    },
    announceStopped(running) {
      if (running !== undefined && running.hung > 0) endByForce(log)
      log.event('info', 'stopped')
    },
    async close() {
      forget()
      await systemd.flush()
      intake.close()
      page?.close()
      await log.flush(1000)
      await log.close()
    },
  }
}

/** `process.exit` waits for threads. Only SIGKILL ends one that hangs in a system call. */
function endByForce(log: Log): void {
  log.event('warn', 'a thread has not ended in time (a system call, or a busy machine): the process ends by SIGKILL')
  process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
}

/** `bin/busbar.js` also accepts newer majors of Node: most of them work. */
function warnOfUntestedNode(log: Log): void {
  const { node } = process.versions
  if (testedNodes.includes(Number.parseInt(node))) return
  log.event('warn', `Busbar was tested with Node ${testedNodes.join(' and ')}, and this is Node ${node}`)
}

/** Deletes the mark: a program of the app may itself run `busbar start`. */
function takeDetached(env: NodeJS.ProcessEnv): boolean {
  const isDetached = env[detachedVariable] !== undefined
  delete env[detachedVariable]
  return isDetached
}

/**
 * Without a terminal and without `logs.files` the log would be lost: it goes to files in the
 * user's own folder, within the default bounds.
 */
function withBackgroundLog(app: App, env: NodeJS.ProcessEnv): App {
  const { rate, redact = [], files } = app.logs ?? { rate: undefined, files: undefined }
  const chosen = files ?? logFiles.parse({ folder: ownFolder(env, 'logs', ownName(app.root)) })
  return Object.freeze({ ...app, logs: { rate, redact, stdout: false, files: chosen } })
}
