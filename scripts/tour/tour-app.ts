/** The app of the tour: started by `busbar start`, changed by the commands that people use. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const bin = fileURLToPath(new URL('../../packages/busbar/bin/busbar.js', import.meta.url))
const folder = fileURLToPath(new URL('app', import.meta.url))

/** As much of `busbar ps --json` as the tour reads. */
interface Status {
  readonly app: { readonly pid: number; readonly ready: boolean }
  readonly workers: readonly {
    readonly worker: number
    readonly kind: string
    readonly pid: number | null
    readonly cpuTime: number | null
  }[]
  readonly instances: readonly { readonly service: string; readonly worker: number; readonly state: string }[]
}

/** What the app costs at one moment. */
export interface Cost {
  /** Milliseconds of processor time of all workers since their start. */
  readonly cpu: number
  /** Bytes of all processes, shared pages counted once; undefined except on Linux. */
  readonly memory: number | undefined
}

export class TourApp {
  readonly url: string
  readonly #child: ChildProcess
  readonly #env: NodeJS.ProcessEnv

  private constructor(url: string, child: ChildProcess, env: NodeJS.ProcessEnv) {
    this.url = url
    this.#child = child
    this.#env = env
  }

  static async start(): Promise<TourApp> {
    // Its commands see no other app of this user, and none sees it.
    const env = { ...process.env, TOUR_PORT: '0', XDG_RUNTIME_DIR: mkdtempSync(join(tmpdir(), 'tour-')) }
    const child = spawn(process.execPath, [bin, 'start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /http:\/\/[\w.:[\]]+/.exec((JSON.parse(line) as { msg?: string }).msg ?? '')?.[0]
      if (url === undefined) continue
      child.stdout.resume()
      return new TourApp(url, child, env)
    }
    throw new Error('the app of the tour did not start')
  }

  /** Runs a command of `busbar` in the app's folder. */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args], { cwd: folder, env: this.#env })
    return stdout
  }

  async cost(): Promise<Cost> {
    const { app, workers } = await this.#status()
    const pids = new Set([app.pid, ...workers.flatMap(({ pid }) => pid ?? [])])
    const memory = [...pids].map(proportionalMemory)
    return {
      cpu: workers.reduce((sum, { cpuTime }) => sum + (cpuTime ?? 0), 0),
      memory: memory.includes(undefined) ? undefined : memory.reduce<number>((sum, bytes) => sum + bytes!, 0),
    }
  }

  /** Ends the process of an instance, as an out-of-memory killer does. Returns its ID. */
  async kill(service: string): Promise<number> {
    const { workers, instances } = await this.#status()
    const hosts = new Set(instances.filter((one) => one.service === service).map(({ worker }) => worker))
    const victim = workers.find(({ worker, kind, pid }) => hosts.has(worker) && kind === 'process' && pid !== null)
    if (victim === undefined) throw new Error(`${service} has no process to kill`)
    process.kill(victim.pid!, 'SIGKILL')
    return victim.pid!
  }

  async stop(): Promise<void> {
    const exited = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined
    this.#child.kill('SIGTERM')
    await exited
    rmSync(this.#env['XDG_RUNTIME_DIR']!, { recursive: true, force: true })
  }

  async #status(): Promise<Status> {
    return (JSON.parse(await this.run('ps', '.', '--json')) as { runs: [Status] }).runs[0]
  }
}

/** PSS: of pages that several processes share, each has its part. */
function proportionalMemory(pid: number): number | undefined {
  try {
    const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}
