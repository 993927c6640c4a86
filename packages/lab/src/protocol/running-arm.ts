import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Arm, ArmTarget, CertificateFiles, Launch, LaunchContext, Readiness } from '../arm.ts'
import type { LoadJob, LoadRequest } from '../engine/job.ts'
import type { Reaper } from '../machine/reaper.ts'
import { canReadProcesses, pidsOf, pidsWith } from '../machine/processes.ts'
import { readSamples, samplingInto, type ThreadSamples } from '../machine/samples.ts'
import { requirementsFolder } from '../requirements.ts'
import { awaitAnswer, type AwaitOptions } from './client/await-answer.ts'
import { addressOn, type LoopbackHost } from './client/loopback.ts'
import type { Answer } from './parity.ts'
import { Ports } from './ports.ts'
import { placeOf } from './client/request-target.ts'
import { limitsFor, sendRequest } from './client/send-request.ts'

export interface AskOptions {
  /** Of another server of the arm. */
  readonly port?: number | undefined
  /** How long the answer may take; 5,000 at least. */
  readonly timeoutMs?: number | undefined
}

export interface RunningArmOptions extends AwaitOptions {
  readonly workers: number
  /** Parent of its temporary folder. */
  readonly folder: string
  readonly certificate: CertificateFiles
  readonly environment: Readonly<Record<string, string>>
  /** Prefix of the command. */
  readonly launcher: readonly string[]
  /** Ends it if this process is killed. */
  readonly reaper: Reaper
  /** Fixed ports of arms that run beside it. */
  readonly reserved?: ReadonlySet<number>
}

type State = 'starting' | 'running' | 'frozen' | 'ended'

/** Milliseconds after a thaw in which an arm closes connections that were idle for too long. */
const settleTime = 100

/**
 * A running arm: a session of processes. It can be frozen, so that it takes no CPU while another is
 * measured, and it leaves nothing behind.
 */
export class RunningArm {
  readonly arm: Arm
  /** The first of the ports that it was given. */
  readonly port: number
  /** It has ended and its output is complete. */
  readonly closed: Promise<void>
  readonly #target: ArmTarget
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #certificate: CertificateFiles
  readonly #reaper: Reaper
  readonly #ready: Readiness
  readonly #ended: Promise<void>
  /** Of ports that were not found at 127.0.0.1. */
  readonly #hosts = new Map<number, LoopbackHost>()
  /** Its folder and its ports. */
  #resources = new AsyncDisposableStack()
  #state: State = 'starting'
  #output = ''
  /** How it ended. Empty: it has not. */
  #end = ''

  private constructor(arm: Arm, launch: Launch, { folder, port }: LaunchContext, options: RunningArmOptions) {
    const [program, ...args] = [...options.launcher, ...launch.command] as [string, ...string[]]
    this.arm = arm
    this.#target = launch.target
    this.#folder = folder
    this.port = port
    this.#certificate = options.certificate
    this.#reaper = options.reaper
    this.#ready = launch.ready ?? { status: 200, ports: [] }
    // `detached` makes it a session, whose processes can be found, frozen and ended together.
    this.#child = spawn(program, args, {
      detached: true,
      cwd: launch.cwd ?? folder,
      env: { ...options.environment, ...(arm.unsampled ? {} : samplingInto(this.#samples)), ...launch.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (this.#child.pid !== undefined) this.#reaper.begin(this.#child.pid)
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#keepOutput(chunk))
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#keepOutput(chunk))
    this.closed = new Promise((resolve) => void this.#child.once('close', () => resolve()))
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#output += error.message
        this.#state = 'ended'
        resolve()
      })
      this.#child.once('exit', (code, signal) => {
        this.#end = signal === null ? `exit code ${code}` : `ended by ${signal}`
        this.#state = 'ended'
        resolve()
      })
    })
  }

  /** Starts an arm and waits until it is ready. Throws with its output if that takes too long. */
  static async start(arm: Arm, options: RunningArmOptions): Promise<RunningArm> {
    const running = await RunningArm.#launch(arm, options)
    try {
      await awaitAnswer(running, running.#ready, options)
    } catch (error) {
      await running.end()
      throw error
    }
    running.#state = 'running'
    return running
  }

  static async #launch(arm: Arm, options: RunningArmOptions): Promise<RunningArm> {
    await using resources = new AsyncDisposableStack()
    const folder = await mkdtemp(join(options.folder, 'arm-'))
    resources.defer(() => rm(folder, { recursive: true, force: true }))
    const { first: port } = resources.use(await Ports.claim(options.reserved))
    const context = { ...options, port, folder, packages: requirementsFolder(arm) }
    const running = new RunningArm(arm, arm.launch(context), context, options)
    running.#resources = resources.move()
    return running
  }

  /** Where it listens: known for certain when it has started. */
  get target(): ArmTarget {
    const { address } = this.#target
    if (address === undefined) return this.#target
    return { ...this.#target, address: this.#addressOf(placeOf(address).port, address) }
  }

  /** Its session: the pid of the leader. */
  get session(): number {
    return this.#child.pid ?? -1
  }

  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Samples of its Node programs so far. */
  samples(): Promise<ThreadSamples[]> {
    return readSamples(this.#samples)
  }

  get #samples(): string {
    return join(this.#folder, '.samples')
  }

  /** The end of its output and, when it has ended, how. */
  get output(): string {
    return [this.#output.trimEnd(), this.#end].filter((text) => text !== '').join('\n')
  }

  /** Its address for the load engine. */
  async loadTarget(): Promise<LoadJob['target']> {
    const { address, unix, tls, protocol = 'http1' } = this.target
    const target = { ...(unix === undefined ? { address: address! } : { unix }), protocol }
    if (!tls) return target
    return { ...target, tls: { serverName: 'localhost', certificate: await this.#serverCertificate() } }
  }

  /** Stops all its processes (SIGSTOP). They take no CPU until {@link thaw}. */
  freeze(): void {
    if (this.#state !== 'running') return
    this.#signalAll('SIGSTOP')
    this.#state = 'frozen'
  }

  /**
   * Its idle connections may have outlived their `keepAliveTimeout`, so that servers close them
   * now. A request that met this would fail because of the freeze, so the load begins afterwards.
   */
  async thaw(settleMs = settleTime): Promise<void> {
    if (this.#state !== 'frozen') return
    this.#signalAll('SIGCONT')
    this.#state = 'running'
    await sleep(settleMs)
  }

  /** Ends all its processes and deletes its folder. */
  async end(): Promise<void> {
    await this.#stop()
    // Repeated until none is left, since processes may be started while others are killed.
    const deadline = performance.now() + 5000
    while (this.#killAll() > 0 && performance.now() < deadline) await sleep(5)
    if (this.#child.pid !== undefined) {
      await this.#ended
      this.#reaper.end(this.#child.pid)
    }
    await this.#resources.disposeAsync()
  }

  /** Sends one request, as the load engine will. */
  async ask(request: LoadRequest, { port, timeoutMs }: AskOptions = {}): Promise<Answer> {
    const limits = limitsFor(timeoutMs)
    if (port !== undefined) return sendRequest({ address: this.#addressOf(port) }, request, limits)
    const { tls, ...where } = await this.loadTarget()
    return sendRequest(tls === undefined ? where : { ...where, certificate: tls.certificate }, request, limits)
  }

  /** One of its ports accepts connections there. */
  listensAt(host: LoopbackHost, port: number): void {
    this.#hosts.set(port, host)
  }

  #addressOf(port: number, usual = addressOn('127.0.0.1', port)): string {
    const host = this.#hosts.get(port)
    return host === undefined ? usual : addressOn(host, port)
  }

  #serverCertificate(): Promise<string> {
    return readFile(this.target.certificate ?? this.#certificate.cert, 'utf8')
  }

  /** Programs may have to remove lock files, or to write what they hold in memory. */
  async #stop(): Promise<void> {
    const { stopTime = 0 } = this.arm
    if (stopTime === 0) return
    const deadline = performance.now() + stopTime
    this.#signalAll('SIGTERM')
    this.#signalAll('SIGCONT')
    while (this.#pids().length > 0 && performance.now() < deadline) await sleep(5)
  }

  /** Returns the number of processes. */
  #signalAll(signal: NodeJS.Signals): number {
    return signalEach(this.#pids(), signal)
  }

  /** Living processes. Without `/proc`: of its group, if the leader lives. */
  #pids(): number[] {
    if (this.#child.pid === undefined) return []
    if (canReadProcesses) return pidsOf(this.session)
    return this.hasEnded ? [] : [-this.session]
  }

  /** Daemons that it has started, too: they are in sessions of their own. */
  #killAll(): number {
    const daemons = canReadProcesses ? signalEach(pidsWith(`TMPDIR=${this.#folder}`), 'SIGKILL') : 0
    return daemons + this.#signalAll('SIGKILL')
  }

  #keepOutput(chunk: Buffer): void {
    this.#output = (this.#output + chunk.toString()).slice(-4000)
  }
}

/** Returns the number of processes. */
function signalEach(pids: readonly number[], signal: NodeJS.Signals): number {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has exited in the meantime.
    }
  }
  return pids.length
}
