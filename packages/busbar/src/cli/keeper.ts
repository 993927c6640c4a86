/**
 * `busbar start` is two processes: one that runs the app, and a small one around it that starts it again when it ends by a
 * signal. A segmentation fault in native code, or one allocation larger than all that is left, ends a whole process,
 * whichever thread does it. What cannot be caught inside is caught here, whoever supervises the outer one sees one
 * process that lives on.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../config/app.ts'
import { Guard } from '../supervisor/vessels/guard.ts'
import { RestartPolicy } from '../supervisor/restarts.ts'
import { defaultTiming } from '../supervisor/timing.ts'
import type { Command, Flags } from './commands.ts'
import { StopWishes } from './stop-signals.ts'
import type { Terminal } from './terminal.ts'

/** Tells the inner process what it is; it takes it away, since a program of the app may be a `busbar start` of its own. */
const variable = 'BUSBAR_KEPT'

/** What the inner process says when its app serves. */
interface Serving {
  readonly serving: true
  /** How long a stop may take, in milliseconds. */
  readonly stopTimeout: number
  /** Of the app's config. */
  readonly maxRestarts: number | undefined
}

/** Seconds that the inner process gets beside its own `stopTimeout`, or before it serves, when the outer one is gone. */
const spareTime = 5

/** Milliseconds until an inner process that was to end at once, and did not, is killed. */
const atOnce = 1000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Whether this process is to be the outer one of the command. Windows has no signals that could be passed on. */
export function wantsKeeper({ command, flags }: { command: Command | undefined; flags: Flags }): boolean {
  if (process.platform === 'win32' || isKept()) return false
  return command?.kept === true && !flags.once && !flags.help && !flags.version
}

/** In the inner process: the app serves, so that an end from now on is worth a new start. Without an outer one, nothing. */
export function tellKeeper({ stopTimeout, maxRestarts }: App): void {
  process.send?.({ serving: true, stopTimeout, maxRestarts } satisfies Serving)
}

/** True in the inner process, which from then on stops when it loses the outer one. To be asked once. */
function isKept(): boolean {
  if (process.env[variable] === undefined) return false
  delete process.env[variable]
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // A config that waits for nothing any more is told by a process that nothing keeps.
  process.channel?.unref()
  return true
}

/** Runs this very command line in another process until that ends by itself; resolves to the exit code. */
export async function keep(terminal: Terminal): Promise<number> {
  const life = new Life()
  // For good: one that comes while this process ends must not change how.
  for (const signal of signals) process.on(signal, () => life.stop(signal))
  const { code, signal } = await liveOn(life, terminal)
  await life.close()
  return signal === null ? (code ?? 1) : await endLike(signal)
}

/** Resolves to the end after which there is no other life. */
async function liveOn(life: Life, terminal: Terminal): Promise<End> {
  const policy = new RestartPolicy(defaultTiming)
  for (let said = Promise.resolve(); ;) {
    const end = await life.begin()
    await said
    if (life.stopping || !isAccident(end, life)) return end
    const wait = policy.failed(life.servedFor)
    const { maxRestarts } = life
    const isLast = !life.hasServed || (maxRestarts !== undefined && policy.failures > maxRestarts)
    // While the next one starts: to have the words at hand takes longer than to begin it.
    said = say(terminal, end, life, isLast ? undefined : wait)
    if (isLast) return await said.then(() => ({ code: 1, signal: null }))
    await life.pause(wait)
    if (life.stopping) return await said.then(() => ({ code: 0, signal: null }))
  }
}

/** A signal ends it, or an app that has served before cannot start again. What ends by itself later meant to. */
function isAccident({ code, signal }: End, { hasServed, servedFor }: Life): boolean {
  return signal !== null || (code !== 0 && hasServed && servedFor === 0)
}

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The inner processes, one after the other. */
class Life {
  /** Somebody has wished that all of it ends. */
  stopping = false
  /** Any of them. */
  hasServed = false
  /** As the app's config said when it last served. */
  maxRestarts: number | undefined
  /** Milliseconds for which the last one served; 0 if it did not. */
  servedFor = 0
  readonly #stop = new AbortController()
  #servedAt: number | undefined
  /** Where this process is killed, and the inner one is stopped or stuck and does not hear of it. */
  readonly #guard = new Guard(undefined, spareTime)
  #child: ChildProcess | undefined
  readonly #wishes = new StopWishes()
  /** Seconds that the inner process may take to stop. */
  #grace = spareTime
  #deadline: NodeJS.Timeout | undefined

  async begin(): Promise<End> {
    this.#servedAt = undefined
    // A group of its own: a terminal's Ctrl-C reaches this process, and through it the other one, once.
    const child = (this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: { ...process.env, [variable]: '1' },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      detached: true,
    }))
    child.on('message', (message) => this.#hear(message as Partial<Serving>))
    const { pid } = child
    if (pid !== undefined) this.#guard.watch(pid)
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    if (pid !== undefined) this.#guard.forget(pid)
    this.servedFor = this.#servedAt === undefined ? 0 : Math.max(1, Date.now() - this.#servedAt)
    return { code, signal }
  }

  #hear({ serving, stopTimeout, maxRestarts }: Partial<Serving>): void {
    if (serving !== true) return
    this.#servedAt ??= Date.now()
    this.hasServed = true
    this.maxRestarts = maxRestarts
    this.#grace = Math.ceil(stopTimeout! / 1000) + spareTime
    this.#guard.grace = this.#grace
  }

  /** Resolves early when somebody wishes an end. */
  async pause(wait: number): Promise<void> {
    await sleep(wait, undefined, { signal: this.#stop.signal }).catch(() => {})
  }

  async close(): Promise<void> {
    clearTimeout(this.#deadline)
    await this.#guard.close()
  }

  stop(signal: NodeJS.Signals): void {
    this.stopping = true
    this.#stop.abort()
    this.#child?.kill(signal)
    const wish = this.#wishes.hear(performance.now())
    if (wish === 'stop') this.#killIn(this.#grace * 1000)
    if (wish === 'force') this.#killIn(atOnce)
  }

  /** An inner process that is suspended, or whose main thread is stuck, hears no signal but this one. */
  #killIn(wait: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#child?.kill('SIGKILL'), wait)
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
async function say({ out }: Terminal, end: End, life: Life, wait: number | undefined): Promise<void> {
  const { createLog } = await import('../observe/log.ts')
  const log = createLog({ format: out.isTerminal ? 'pretty' : 'json', colors: out.colors, stream: out.stream })
  const { level, line } = lineOf(end, life, wait)
  log.event(level, line)
  await log.flush(1000)
}

function lineOf(
  { signal, code }: End,
  { hasServed, maxRestarts }: Life,
  wait: number | undefined,
): { level: 'error' | 'fatal'; line: string } {
  const what =
    signal === null
      ? `the app did not start again and ended with ${code}`
      : `the whole process was ended by ${signal} (native code that crashes does this, one huge allocation, or somebody outside)`
  if (wait === undefined) {
    const when = hasServed ? `after ${maxRestarts} restarts in a row (maxRestarts)` : 'before it served'
    return { level: 'fatal', line: `${what} ${when}; it does not start again` }
  }
  const advice = signal === null ? '' : `. run: 'process' keeps it to one service`
  return { level: 'error', line: `${what}; it starts again${wait === 0 ? '' : ` in ${wait} ms`}${advice}` }
}
