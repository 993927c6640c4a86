/**
 * `busbar start` is two processes: one that runs the app, and a small one around it that starts it again when it ends by a
 * signal. A segmentation fault in native code, or one allocation larger than all that is left, ends a whole process,
 * whichever thread does it. What cannot be caught inside is caught here, whoever supervises the outer one sees one
 * process that lives on.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { RestartPolicy } from '../supervisor/restarts.ts'
import { defaultTiming, restartLimit } from '../supervisor/timing.ts'
import type { Command, Flags } from './commands.ts'
import type { Terminal } from './terminal.ts'

/** Tells the inner process what it is; it takes it away, since a program of the app may be a `busbar start` of its own. */
const variable = 'BUSBAR_KEPT'
const serving = 'busbar serves'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Whether this process is to be the outer one of the command. Windows has no signals that could be passed on. */
export function wantsKeeper({ command, flags }: { command: Command | undefined; flags: Flags }): boolean {
  if (process.platform === 'win32' || isKept()) return false
  return command?.kept === true && !flags.once && !flags.help && !flags.version
}

/** In the inner process: the app serves, so that an end from now on is worth a new start. Without an outer one, nothing. */
export function tellKeeper(): void {
  process.send?.(serving)
}

/** True in the inner process, which from then on stops when it loses the outer one. To be asked once. */
function isKept(): boolean {
  if (process.env[variable] === undefined) return false
  delete process.env[variable]
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  return true
}

/** Runs this very command line in another process until that ends by itself; resolves to the exit code. */
export async function keep(terminal: Terminal): Promise<number> {
  const life = new Life()
  // For good: one that comes while this process ends must not change how.
  for (const signal of signals) process.on(signal, () => life.stop(signal))
  const { code, signal } = await liveOn(life, terminal)
  return signal === null ? (code ?? 1) : await endLike(signal)
}

/** Resolves to the end after which there is no other life. */
async function liveOn(life: Life, terminal: Terminal): Promise<End> {
  const policy = new RestartPolicy(defaultTiming, true)
  for (let said = Promise.resolve(); ;) {
    const end = await life.begin()
    await said
    if (end.signal === null || life.stopping) return end
    const wait = life.served ? policy.died(Date.now()) : undefined
    // While the next one starts: to have the words at hand takes longer than to begin it.
    said = say(terminal, end.signal, life.served, wait)
    if (wait === undefined) return await said.then(() => ({ code: 1, signal: null }))
    await sleep(wait)
  }
}

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The inner processes, one after the other. */
class Life {
  /** Somebody has wished that all of it ends. */
  stopping = false
  served = false
  #child: ChildProcess | undefined

  async begin(): Promise<End> {
    this.served = false
    // A group of its own: a terminal's Ctrl-C reaches this process, and through it the other one, once.
    const child = (this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: { ...process.env, [variable]: '1' },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      detached: true,
    }))
    child.on('message', (message) => (this.served ||= message === serving))
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return { code, signal }
  }

  stop(signal: NodeJS.Signals): void {
    this.stopping = true
    this.#child?.kill(signal)
  }
}

/** Its end becomes this one's; where that is not to be had, the code of a failure. */
async function endLike(signal: NodeJS.Signals): Promise<number> {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  await sleep(1000)
  return 1
}

/** Only now: an outer process that never has anything to say stays small. */
async function say(
  { out }: Terminal,
  signal: NodeJS.Signals,
  served: boolean,
  wait: number | undefined,
): Promise<void> {
  const { createLog } = await import('../observe/log.ts')
  const log = createLog({ format: out.isTerminal ? 'pretty' : 'json', colors: out.colors, stream: out.stream })
  const what = `the whole process was ended by ${signal}`
  const why = 'native code that crashes does this, one huge allocation, or somebody outside'
  if (wait !== undefined)
    log.event('error', `${what} (${why}); it starts again. run: 'process' keeps it to one service`)
  else if (served)
    log.event('fatal', `${what} more than ${restartLimit} times within a minute; it does not start again`)
  else log.event('fatal', `${what} (${why}) before it served; it does not start again`)
  await log.flush(1000)
}
