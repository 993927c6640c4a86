import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Arm, ArmTarget, CertificateFiles, Launch } from '../arm.ts'
import type { LoadJob, LoadRequest } from '../engine/job.ts'
import { trusting } from '../engine/trust.ts'
import type { Keeper } from '../machine/keeper.ts'
import { listeningPorts } from '../machine/listeners.ts'
import { canReadProcesses, pidsOf } from '../machine/processes.ts'
import { readSamples, samplingInto, type ThreadSamples } from '../machine/samples.ts'
import { packagesOf } from '../packages.ts'
import type { Answer } from './parity.ts'
import { Ports } from './ports.ts'

export interface CopyOptions {
  readonly workers: number
  /** Where it gets a folder of its own. */
  readonly folder: string
  readonly certificate: CertificateFiles
  readonly environment: Readonly<Record<string, string>>
  /** What goes before each arm's command. */
  readonly launcher: readonly string[]
  /** Ends the copy where this process cannot. */
  readonly keeper: Keeper
  readonly signal?: AbortSignal
  /** How long it may take until it answers. Default 30,000. */
  readonly patienceMs?: number
}

type State = 'starting' | 'running' | 'frozen' | 'ended'

/**
 * A started copy of an arm: a session of processes of its own, which can be stopped in its tracks so that it takes no
 * CPU while another is measured, and which leaves nothing behind.
 */
export class Copy {
  readonly arm: Arm
  readonly target: ArmTarget
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #certificate: CertificateFiles
  readonly #keeper: Keeper
  readonly #ended: Promise<void>
  /** Its folder and its ports, which go when it has ended. */
  #place = new AsyncDisposableStack()
  #state: State = 'starting'
  #said = ''

  private constructor(arm: Arm, launch: Launch, folder: string, options: CopyOptions) {
    const [program, ...args] = [...options.launcher, ...launch.command] as [string, ...string[]]
    this.arm = arm
    this.target = launch.target
    this.#folder = folder
    this.#certificate = options.certificate
    this.#keeper = options.keeper
    // A session of its own (`detached`): the whole of it can be found, stopped and ended together.
    this.#child = spawn(program, args, {
      detached: true,
      cwd: launch.cwd ?? folder,
      env: { ...options.environment, ...(arm.unsampled ? {} : samplingInto(this.#samples)), ...launch.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (this.#child.pid !== undefined) this.#keeper.begin(this.#child.pid)
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#keep(chunk))
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#keep(chunk))
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#said += error.message
        this.#state = 'ended'
        resolve()
      })
      this.#child.once('exit', () => {
        this.#state = 'ended'
        resolve()
      })
    })
  }

  /** Starts a copy and waits until it gives a good answer. Throws with what it printed when it does not in time. */
  static async start(arm: Arm, options: CopyOptions): Promise<Copy> {
    const copy = await Copy.#launch(arm, options)
    try {
      await copy.#untilItAnswers(options)
    } catch (error) {
      await copy.end()
      throw error
    }
    copy.#state = 'running'
    return copy
  }

  /** Started, but nothing known of it yet. */
  static async #launch(arm: Arm, options: CopyOptions): Promise<Copy> {
    await using place = new AsyncDisposableStack()
    const folder = await mkdtemp(join(options.folder, 'copy-'))
    place.defer(() => rm(folder, { recursive: true, force: true }))
    const { first: port } = place.use(await Ports.claim())
    const launch = arm.launch({ ...options, port, folder, packages: packagesOf(arm) })
    const copy = new Copy(arm, launch, folder, options)
    copy.#place = place.move()
    return copy
  }

  /** The number of its session: the leader's pid. */
  get session(): number {
    return this.#child.pid ?? -1
  }

  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** What its Node programs have said of themselves so far. */
  samples(): Promise<ThreadSamples[]> {
    return readSamples(this.#samples)
  }

  get #samples(): string {
    return join(this.#folder, '.samples')
  }

  /** The last of what it printed. */
  get said(): string {
    return this.#said
  }

  /** Where the load engine finds it. */
  async loadTarget(): Promise<LoadJob['target']> {
    const { address, unix, tls } = this.target
    const place = unix === undefined ? { address: address! } : { unix }
    if (!tls) return place
    return { ...place, tls: { serverName: 'localhost', certificate: await this.#serverCertificate() } }
  }

  /** Stops every process of it where it stands (SIGSTOP); it takes no CPU until {@link thaw}. */
  async freeze(): Promise<void> {
    if (this.#state !== 'running') return
    await this.#signalAll('SIGSTOP')
    this.#state = 'frozen'
  }

  async thaw(): Promise<void> {
    if (this.#state !== 'frozen') return
    await this.#signalAll('SIGCONT')
    this.#state = 'running'
  }

  /** Ends every process of it and deletes its folder. */
  async end(): Promise<void> {
    // Again until none is left: one may have been started, or be on its way out, while the others were killed.
    const deadline = performance.now() + 5000
    while ((await this.#signalAll('SIGKILL')) > 0 && performance.now() < deadline) await sleep(5)
    if (this.#child.pid !== undefined) {
      await this.#ended
      this.#keeper.end(this.#child.pid)
    }
    await this.#place.disposeAsync()
  }

  /** One request, as the load will send it. */
  async ask({ method = 'GET', path, headers = [], body }: LoadRequest): Promise<Answer> {
    const { address, unix, tls } = this.target
    const at = (address ?? '').lastIndexOf(':')
    const where =
      unix === undefined ? { host: address?.slice(0, at), port: Number(address?.slice(at + 1)) } : { socketPath: unix }
    const trust = tls ? { ...trusting(await this.#serverCertificate()), servername: 'localhost' } : {}
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const request = (tls ? https : http).request(
      { ...where, ...trust, method, path, headers: Object.fromEntries(headers), agent: false, timeout: 5000 },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const headers = Object.entries(response.headersDistinct).map(([name, values]) => [name, values!.join(', ')])
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks),
            headers: Object.fromEntries(headers) as Answer['headers'],
          })
        })
      },
    )
    request.on('timeout', () => request.destroy(new Error('no answer within 5 s')))
    request.on('error', reject)
    request.end(body)
    return promise
  }

  #serverCertificate(): Promise<string> {
    return readFile(this.target.certificate ?? this.#certificate.cert, 'utf8')
  }

  async #untilItAnswers({ signal, patienceMs = 30_000 }: CopyOptions): Promise<void> {
    const deadline = performance.now() + patienceMs
    let last = ''
    let refused = 0
    while (performance.now() < deadline) {
      signal?.throwIfAborted()
      if (this.hasEnded) throw new Error(`${this.arm.name} ended before it answered:\n${this.#said}`)
      try {
        const { status } = await this.ask({ path: this.target.path })
        if (status === 200) return
        last = `it answered ${status}`
        // Not there yet is one thing, not there at all another: three seconds are enough to make up its mind.
        refused += status < 500 ? 1 : 0
        if (refused > 120) break
      } catch (error) {
        last = (error as Error).message
      }
      await sleep(25)
    }
    const why = await this.#whyNoAnswer(last, patienceMs)
    throw new Error(`${this.arm.name} gave no good answer at ${this.target.path} (${why}):\n${this.#said}`.trim())
  }

  /** What the last attempt met, and whether a longer wait could have helped. */
  async #whyNoAnswer(last: string, patienceMs: number): Promise<string> {
    if (last.startsWith('it answered')) return last
    const { address } = this.target
    const waited = `after ${patienceMs / 1000} s`
    const ports = await listeningPorts(this.session)
    if (address === undefined || ports === undefined) return `${last} ${waited}`
    if (ports.length === 0) return `its start is slow: ${waited} it runs, but listens on no port`
    if (ports.includes(Number(address.slice(address.lastIndexOf(':') + 1))))
      return `its start is slow: ${waited} it listens, but does not answer: ${last}`
    return `it listens on port ${ports.join(' and ')}, not at ${address}`
  }

  /** Answers how many there were. */
  async #signalAll(signal: NodeJS.Signals): Promise<number> {
    if (this.#child.pid === undefined) return 0
    // Without `/proc` the group must do: what has left it is not found.
    const pids = canReadProcesses ? await pidsOf(this.session) : this.hasEnded ? [] : [-this.session]
    for (const pid of pids) {
      try {
        process.kill(pid, signal)
      } catch {
        // It ended by itself between being listed and being signalled.
      }
    }
    return pids.length
  }

  #keep(chunk: Buffer): void {
    this.#said = (this.#said + chunk.toString()).slice(-4000)
  }
}
