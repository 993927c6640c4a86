/**
 * `busbar start` is two processes: an inner one that runs the app, and a small outer one that
 * restarts it after a crash. A segmentation fault in native code, or one allocation larger than the
 * free memory, ends a whole process, whichever thread causes it. The outer process keeps its
 * process ID, so a service manager sees one process that lives on.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fstatSync, ftruncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogSettings } from '../config/app.ts'
import { compileCacheVariables } from '../shared/process/compile-cache.ts'
import { temporaryPrefix } from '../shared/process/temporary-folders.ts'
import type { StartRecord } from '../supervisor/admin/start-record.ts'
import { RestartPolicy } from '../supervisor/restart-policy.ts'
import { OrphanReaper } from '../supervisor/runtimes/orphan-reaper.ts'
import { defaultTiming } from '../supervisor/timing.ts'
import { type PageAddress, passPage } from './dashboard/run-page.ts'
import { isStartMessage, passOn } from './background/process-messages.ts'
import { passSockets, takeSockets } from './startup/activation.ts'
import type { Command, Flags } from './command.ts'
import { StopRequests } from './stop-signals.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Marks the inner process, which deletes it: a program of the app may itself run `busbar start`.
 */
const innerVariable = 'BUSBAR_INNER'

/** Seconds that the inner process may take to end, in addition to its `stopTimeout`. */
const extraGrace = 5

/** Milliseconds until an inner process that ignores a second stop signal is killed. */
const forceTimeout = 1000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Whether this process is the outer one of the command. Windows has no signals that could be
 * forwarded.
 */
export function shouldRespawn({ command, flags }: { command: Command | undefined; flags: Flags }): boolean {
  if (process.platform === 'win32' || isInner()) return false
  return command?.respawns === true && !flags.once && !flags.detach && !flags.help && !flags.version
}

/** True in the inner process, which from then on stops when the outer one has gone. Called once. */
function isInner(): boolean {
  if (process.env[innerVariable] === undefined) return false
  delete process.env[innerVariable]
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // The channel must not keep the process alive: Node then detects a config whose top-level await
  // never settles.
  process.channel?.unref()
  return true
}

/**
 * Runs this command line in an inner process until that ends without a crash. Resolves to the exit
 * code.
 */
export async function runWithRespawn(terminal: Terminal): Promise<number> {
  const inner = new InnerProcess()
  // The listeners stay: a signal during the exit must not change the exit code.
  for (const signal of signals) process.on(signal, () => inner.stop(signal))
  const { code, signal } = await respawn(inner, terminal)
  await inner.close()
  return signal === null ? (code ?? 1) : await endBy(signal)
}

/** Restarts the inner process after each crash. Resolves to its last exit. */
async function respawn(inner: InnerProcess, terminal: Terminal): Promise<Exit> {
  const policy = new RestartPolicy({
    ...defaultTiming,
    get stable() {
      return inner.stableAfter
    },
  })
  for (let logged = Promise.resolve(); ;) {
    const exit = await inner.run()
    await logged
    if (inner.stopping || !isCrash(exit, inner)) return exit
    const wait = policy.failed(inner.servedFor)
    const { maxRestarts } = inner
    const isLast = !inner.hasServed || (maxRestarts !== undefined && policy.failures > maxRestarts)
    // Logs while the next process starts: loading the log takes longer than the spawn.
    logged = logCrash(terminal, exit, inner, isLast ? undefined : wait)
    // For `busbar start -d`, which waits: nobody sees the log of an app in the background.
    if (isLast) passOn({ type: 'failed', error: { code: 'PROGRAM_EXITED', message: crashLine(exit, inner).line } })
    if (isLast) return await logged.then(() => ({ code: 1, signal: null }))
    await inner.pause(wait, terminal)
    if (inner.stopping) return await logged.then(() => ({ code: 0, signal: null }))
  }
}

/** A crash: an exit by a signal, or a failed restart of an app that has served before. */
function isCrash({ code, signal }: Exit, { hasServed, servedFor }: InnerProcess): boolean {
  return signal !== null || (code !== 0 && hasServed && servedFor === 0)
}

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The successive inner processes. */
class InnerProcess {
  /** A stop was requested. */
  stopping = false
  /** Whether any of them has served. */
  hasServed = false
  /** From the config of the last one that served. */
  maxRestarts: number | undefined
  /** From the same config. */
  stableAfter = defaultTiming.stable
  logs: LogSettings | undefined
  #record: StartRecord | undefined
  #waiting: Disposable | undefined
  #page: PageAddress | undefined
  /** Milliseconds for which the last one served; 0 if it did not. */
  servedFor = 0
  readonly #stop = new AbortController()
  #servedAt: number | undefined
  /** They stay open here, whatever happens to an inner process. */
  readonly #sockets = passSockets(takeSockets(process.env))
  /**
   * If this process is killed: ends an inner process that is stuck or suspended, and cannot notice.
   */
  readonly #reaper = new OrphanReaper(undefined, extraGrace)
  #child: ChildProcess | undefined
  readonly #requests = new StopRequests()
  /** Seconds that the inner process may take to stop. */
  #grace = extraGrace
  #deadline: NodeJS.Timeout | undefined

  /** Resolves when the process has ended. */
  async run(): Promise<Exit> {
    this.#servedAt = undefined
    boundStderr()
    // A process group of its own: Ctrl-C reaches only this process, which forwards it once.
    const child = (this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: {
        ...process.env,
        ...compileCacheVariables(),
        ...this.#sockets.env,
        ...passPage(this.#page),
        [innerVariable]: '1',
      },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...this.#sockets.stdio],
      detached: true,
    }))
    child.on('message', (message) => this.#receive(message))
    const { pid } = child
    if (pid !== undefined) this.#reaper.watch(pid)
    // If both processes are killed, nobody else removes the sockets of the services.
    if (pid !== undefined) this.#reaper.remove(join(resolve(tmpdir()), temporaryPrefix('links', pid)))
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    if (pid !== undefined) this.#reaper.forget(pid)
    this.servedFor = this.#servedAt === undefined ? 0 : Math.max(1, Date.now() - this.#servedAt)
    return { code, signal }
  }

  #receive(message: unknown): void {
    if (!isStartMessage(message)) return
    passOn(message)
    if (message.type === 'restarting') this.#servedAt = undefined
    if (message.type !== 'serving') return
    const { stopTimeout, maxRestarts, stableAfter = defaultTiming.stable, logs, record, page } = message
    this.#servedAt ??= Date.now()
    this.#endWaiting()
    this.hasServed = true
    this.maxRestarts = maxRestarts
    this.stableAfter = stableAfter
    this.logs = logs
    this.#record = record
    this.#page = page
    this.#grace = Math.ceil(stopTimeout / 1000) + extraGrace
    this.#reaper.grace = this.#grace
  }

  /**
   * Resolves after `wait` milliseconds, or when a stop is requested. Commands find the app from now
   * on until it serves again.
   */
  async pause(wait: number, { env }: Terminal): Promise<void> {
    if (this.#record !== undefined && this.#waiting === undefined) {
      // Loaded only now: an outer process without a crash stays small.
      const { announceWaiting } = await import('./background/waiting-apps.ts')
      this.#waiting = announceWaiting(env, this.#record)
    }
    await sleep(wait, undefined, { signal: this.#stop.signal }).catch(() => {})
  }

  async close(): Promise<void> {
    this.#endWaiting()
    clearTimeout(this.#deadline)
    await this.#reaper.close()
  }

  #endWaiting(): void {
    this.#waiting?.[Symbol.dispose]()
    this.#waiting = undefined
  }

  stop(signal: NodeJS.Signals): void {
    this.stopping = true
    this.#stop.abort()
    this.#child?.kill(signal)
    const request = this.#requests.add(performance.now())
    if (request === 'stop') this.#killIn(this.#grace * 1000)
    if (request === 'force') this.#killIn(forceTimeout)
  }

  /**
   * An inner process that is suspended, or whose main thread is stuck, reacts to no other signal.
   */
  #killIn(wait: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#child?.kill('SIGKILL'), wait)
  }
}

/**
 * Ends this process by the same signal. Resolves to the exit code of a failure if that does not
 * work.
 */
async function endBy(signal: NodeJS.Signals): Promise<number> {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  await sleep(1000)
  return 1
}

/** Loads the log only now: an outer process without a crash stays small. */
async function logCrash(
  { out, err }: Terminal,
  exit: Exit,
  inner: InnerProcess,
  wait: number | undefined,
): Promise<void> {
  const { createLog } = await import('../observe/log.ts')
  const log = createLog({
    format: out.isTerminal ? 'pretty' : 'json',
    colors: out.colors,
    stream: out.stream,
    fallback: err.stream,
  })
  await log.use({ ...(inner.logs !== undefined && { logs: inner.logs }) })
  const { level, line } = crashLine(exit, inner, wait)
  log.event(level, line)
  await log.flush(1000)
  await log.close()
}

/** `wait`: milliseconds until the restart; undefined for none. */
function crashLine(
  { signal, code }: Exit,
  { hasServed, maxRestarts }: InnerProcess,
  wait?: number,
): { level: 'error' | 'fatal'; line: string } {
  const what =
    signal === null
      ? `the restart of the app failed with exit code ${code}`
      : `the whole process was ended by ${signal} (a crash in native code, one huge allocation, or a signal from outside)`
  if (wait === undefined) {
    const when = hasServed ? `after ${maxRestarts} restarts in a row (maxRestarts)` : 'before it served'
    return { level: 'fatal', line: `${what} ${when}; it is not restarted` }
  }
  const advice = signal === null ? '' : `. run: 'process' limits this to one service`
  return { level: 'error', line: `${what}; it restarts${wait === 0 ? '' : ` in ${wait} ms`}${advice}` }
}

/** Bytes. In the background only Node itself writes to standard error: the trace of a crash. */
const most = 1024 ** 2

/** Called before each restart after a crash: the file must not grow for ever. */
function boundStderr(): void {
  try {
    const stats = fstatSync(2)
    if (stats.isFile() && stats.size > most) ftruncateSync(2)
  } catch {
    // Standard error is closed.
  }
}
