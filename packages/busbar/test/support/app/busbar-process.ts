import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagesFolder } from './packages.ts'

const sources = ['--conditions=busbar-source', fileURLToPath(new URL('../busbar.ts', import.meta.url))]
const command = packagesFolder === undefined ? sources : [join(packagesFolder, 'busbar/bin/busbar.js')]

export interface BusbarOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Replaces the default: the command of the packed package, else of the sources. */
  readonly entry?: string
  /** Its Node; that of the tests by default. */
  readonly node?: string
  /** Its standard input. */
  readonly input?: string
  /** Its descriptor limit (`ulimit -n`). */
  readonly descriptors?: number
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The `busbar` command as a process. Killed at the end of its scope. */
export class BusbarProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  readonly #changes = new Set<() => void>()

  constructor(args: readonly string[], { cwd, env, entry, node, descriptors, input }: BusbarOptions = {}) {
    const own = entry === undefined ? command : [entry]
    const limited = descriptors === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
    const [file, ...rest] = [...limited, node ?? process.execPath, ...own, ...args]
    this.child = spawn(file!, rest, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
    })
    this.child.stdin?.end(input)
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#add('stdout', text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#add('stderr', text))
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      const { stdout, stderr } = this
      this.#notify()
      return { code: code as number | null, signal: signal as NodeJS.Signals | null, stdout, stderr }
    })
  }

  static async run(args: readonly string[], options?: BusbarOptions): Promise<Ended> {
    await using busbar = new BusbarProcess(args, options)
    return await busbar.ended
  }

  /** Parsed lines of standard output that are JSON. */
  get events(): Record<string, unknown>[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1)
    const lines = whole.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Resolves to the address when the app answers. */
  async url(): Promise<string> {
    const event = await this.event((found) => Array.isArray(found['addresses']))
    return (event['addresses'] as { url: string }[])[0]!.url
  }

  /**
   * The first matching log event at or after index `from`. Rejects if the process exits without
   * one.
   */
  async event(wanted: (event: Record<string, unknown>) => boolean, from = 0): Promise<Record<string, unknown>> {
    await this.until(() => this.events.slice(from).some(wanted))
    return this.events.slice(from).find(wanted)!
  }

  message(text: string, from = 0): Promise<Record<string, unknown>> {
    return this.event(({ msg }) => typeof msg === 'string' && msg.includes(text), from)
  }

  async until(condition: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = (): void => {
      if (condition()) resolve()
      else if (this.child.exitCode !== null || this.child.signalCode !== null)
        reject(new Error(`busbar ended early\n${this.stdout}\n${this.stderr}`))
    }
    this.#changes.add(look)
    look()
    try {
      await promise
    } finally {
      this.#changes.delete(look)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL')
    await this.ended
  }

  #add(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#notify()
  }

  #notify(): void {
    for (const change of this.#changes) change()
  }
}
