import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isSameProcess, pidNamespace, startOf } from '../../shared/process/process-identity.ts'
import type { ScheduleState } from './schedule-state.ts'

export interface RunnerStateParts {
  readonly root: string
  readonly folder: string | undefined
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** Milliseconds between two heartbeats of the runner: it touches the file. */
const beat = 10_000
/** Milliseconds without a heartbeat after which the runner counts as ended. */
const deadAfter = 30_000

/** The process that runs the schedule of an app. */
interface Runner {
  /** Where its process ID means something: the containers of a pod share a host name. */
  readonly host: string
  readonly pid: number
  /** As `startOf` returns it. */
  readonly start: string
  readonly token: string
}

/**
 * What outlives a run of the app: which times were dealt with, and which process of the app runs
 * its schedule. A file names that process. It is created exclusively, and its holder touches it.
 * Two processes that replace a stale one at once end with one file, and each reads it before each
 * run.
 *
 * Without a folder that can be written, this process runs the schedule, and nothing outlives it.
 */
export class RunnerState implements ScheduleState {
  readonly #parts: RunnerStateParts
  readonly #self: Runner = {
    host: `${hostname()} ${pidNamespace()}`,
    pid: process.pid,
    start: startOf(process.pid),
    token: randomUUID(),
  }
  readonly #times: Record<string, number> = {}
  #files: { readonly runner: string; readonly times: string } | undefined
  #timer: NodeJS.Timeout | undefined
  #wasRunner = true
  #isOpen = false

  constructor(parts: RunnerStateParts) {
    this.#parts = parts
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const { folder, root, log } = this.#parts
    if (folder === undefined) return
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const name = createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 16)
      this.#files = { runner: join(folder, `schedule-${name}.runner`), times: join(folder, `schedule-${name}.json`) }
      Object.assign(this.#times, readJson(this.#files.times))
      this.#claim()
    } catch (error) {
      this.#files = undefined
      const what = 'missed times are not noticed after a restart, and other processes of this app run it too'
      log('warn', `the state of the schedule cannot be kept: ${(error as Error).message}; ${what}`)
      return
    }
    this.#timer = setInterval(() => this.#beat(), beat).unref()
    this.#report()
  }

  get isRunner(): boolean {
    if (this.#files === undefined) return true
    const isRunner = this.#holds()
    if (isRunner !== this.#wasRunner) this.#report()
    return isRunner
  }

  handled(entry: string): number | undefined {
    return this.#times[entry]
  }

  keep(entries: readonly string[]): void {
    for (const entry of Object.keys(this.#times)) if (!entries.includes(entry)) delete this.#times[entry]
  }

  handle(entry: string, time: number): void {
    this.#times[entry] = time
    if (this.#files === undefined) return
    const { times } = this.#files
    try {
      const part = `${times}.${this.#self.token}`
      writeFileSync(part, JSON.stringify(this.#times), { mode: 0o600 })
      renameSync(part, times)
    } catch (error) {
      this.#parts.log('warn', `the state of the schedule cannot be kept: ${(error as Error).message}`)
    }
  }

  /** The file was written at once. */
  async commit(): Promise<boolean> {
    return true
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#files !== undefined && this.#holds()) rmSync(this.#files.runner, { force: true })
    this.#files = undefined
  }

  #report(): void {
    this.#wasRunner = this.#holds()
    this.#parts.log(
      'info',
      this.#wasRunner ? 'this process runs the schedule' : 'another process of this app runs the schedule',
    )
  }

  #holds(): boolean {
    return (readJson(this.#files!.runner) as Partial<Runner>).token === this.#self.token
  }

  #beat(): void {
    try {
      this.#claim()
    } catch (error) {
      this.#parts.log('warn', `the state of the schedule cannot be kept: ${(error as Error).message}`)
    }
    if (this.#holds() !== this.#wasRunner) this.#report()
  }

  /** Touches the file, or creates it if there is none or its holder has ended. */
  #claim(): void {
    const { runner } = this.#files!
    try {
      if (this.#holds()) return utimesSync(runner, new Date(), new Date())
      if (isStale(runner, this.#self)) rmSync(runner, { force: true })
      writeFileSync(runner, JSON.stringify(this.#self), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function isStale(file: string, self: Runner): boolean {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  const { host, pid, start } = readJson(file) as Partial<Runner>
  if (age > deadAfter) return true
  return host === self.host && pid !== undefined && (pid === self.pid || !isSameProcess(pid, start ?? ''))
}

/** Empty if there is no such file, or if it is being written. */
function readJson(file: string): Record<string, never> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, never>
  } catch {
    return {}
  }
}
