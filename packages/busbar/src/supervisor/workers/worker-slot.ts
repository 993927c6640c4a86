import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { ServiceReport } from '../../shared/control-messages.ts'
import type { Hold } from '../peers/peer-registry.ts'
import { hasFixedPort, type SlotSpec, workerLabel } from '../plan.ts'
import type { Timing } from '../timing.ts'
import { DeathRecord } from './death-record.ts'
import { Spare } from './spare.ts'
import { Succession, timeLeft } from './succession.ts'
import { restartLimit, stopped, type WorkerExit } from './worker-exit.ts'
import { statusOf } from './live-status.ts'
import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerState, WorkerStatus } from './worker-status.ts'
import type { SlowStartSpec } from '../../shared/slow-start.ts'

export interface WorkerSlotParts {
  readonly spec: SlotSpec
  readonly mode: 'start' | 'dev'
  readonly timing: Timing
  /** Starts a worker. `hold`: the services that peers do not call before it is announced. */
  readonly launch: (spec: SlotSpec, app: App, hold: Hold) => WorkerHandle
  /** Lets peers call a worker that was held. */
  readonly announce: (handle: WorkerHandle, slowStart?: SlowStartSpec) => void
  /** Before a drain: resolves when no peer calls the worker any more, or after a time limit. */
  readonly leave: (handle: WorkerHandle) => Promise<void>
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly changed: (slot: WorkerSlot) => void
}

/**
 * A stable position that successive workers fill:
 *     starting ─→ serving ─→ draining ─→ stopped          by stop() or retire()
 *         └──────────┴─→ waiting ─→ starting              the worker died
 *                          └──────→ givenUp               more than `maxRestarts` times in a row
 *
 * A generation changes it in two steps: `prepare` starts the successor beside the worker, then
 * `takeOver` gives it the calls and drains the old worker, or `discard` ends it again.
 */
export class WorkerSlot {
  readonly #parts: WorkerSlotParts
  readonly #deaths: DeathRecord
  #app: App
  #spec: SlotSpec
  #state: WorkerState = { state: 'stopped' }
  #worker: WorkerHandle | undefined
  /** The workers of the next and of the previous generation. */
  readonly #succession: Succession
  /** Kept ready if the config says so, else started when a call may block the worker for ever. */
  readonly #spare: Spare
  #timer: NodeJS.Timeout | undefined
  /** The next generation starts, or has started and did not take over yet. */
  #changing = false
  #end: 'none' | 'stopping' | 'retiring' = 'none'
  /** The services of the last worker that served. */
  #reports: readonly ServiceReport[] = []
  /** Connections wait for the next start, also between the worker's fault and its end. */
  #isAwaited = false

  constructor(app: App, parts: WorkerSlotParts) {
    this.#app = app
    this.#parts = parts
    this.#spec = parts.spec
    this.#deaths = new DeathRecord(parts.timing)
    this.#succession = new Succession({ ...parts, retired: () => this.keepSpare() })
    this.#spare = new Spare({
      ...parts,
      label: () => workerLabel(this.spec),
      launch: () => parts.launch(this.spec, this.#app, this.spec.spare ? 'spare' : undefined),
      pauseOver: () => this.keepSpare(),
      changed: () => parts.changed(this),
    })
  }

  get spec(): SlotSpec {
    return this.#spec
  }

  get status(): WorkerStatus {
    const { index: worker, name, kind, hosts } = this.spec
    const { count: deaths, lastExit } = this.#deaths
    const live = statusOf(this.#worker)
    return { ...this.#state, worker, name, kind, hosts, ...live, deaths, lastExit, spare: this.#spare.status }
  }

  /** All workers that have not ended. */
  get workers(): readonly WorkerHandle[] {
    const all = [this.#worker, this.#spare.worker, ...this.#succession.workers]
    return all.filter((worker) => worker !== undefined && worker.phase !== 'ended') as WorkerHandle[]
  }

  get reports(): readonly ServiceReport[] {
    return this.#reports
  }

  /** The worker that accepts connections. */
  get serving(): WorkerHandle | undefined {
    return this.#worker?.serving === true ? this.#worker : undefined
  }

  /**
   * True if nothing serves here and connections wait for a replacement: one that starts, or will
   * within the time that they may wait. False after a start that failed, until a worker serves.
   */
  get isReplacing(): boolean {
    return this.serving === undefined && this.#end === 'none' && (this.#changing || this.#isAwaited)
  }

  /** The workers that accept connections: for a while, those of both generations. */
  get accepting(): readonly WorkerHandle[] {
    if (this.#end === 'retiring') return []
    return [this.serving, this.#succession.beside].filter((worker) => worker !== undefined)
  }

  get isSpareStarting(): boolean {
    return this.#spare.status?.state === 'starting'
  }

  /** The first start. Rejects with the service's own error; there is no retry. */
  async start(): Promise<void> {
    const worker = this.#begin()
    this.#serve(worker, await worker.ready)
  }

  /** The worker of the next generation, once it is ready, until it takes over. */
  get successor(): WorkerHandle | undefined {
    return this.#succession.ready
  }

  /** The prepared worker serves beside the running one. `takeOver` or `discard` follows. */
  readonly serveBeside = (slowStart: SlowStartSpec): void => this.#succession.serveBeside(slowStart)

  /**
   * Starts the worker of the next generation. It gets no connections, and only calls to services
   * that nobody else serves. Rejects with the service's error if it cannot start; then, and if it
   * ends later, `discard` has to follow.
   */
  async prepare(app: App, spec: SlotSpec): Promise<void> {
    this.#changing = true
    await this.#dismissSpare()
    if (this.serving === undefined) clearTimeout(this.#timer)
    await this.#succession.makeRoom(this.#worker, hasFixedPort(this.spec, app), app.stopTimeout)
    if (this.#end !== 'none') throw new BusbarError('APP_NOT_RUNNING', { message: 'the app was stopped' })
    await this.#succession.prepare(app, spec)
  }

  /** The prepared worker gets connections and calls from now on, and the old worker drains. */
  takeOver(): void {
    clearTimeout(this.#timer)
    const { worker, app, spec, services } = this.#succession.takeOver(this.#worker)
    this.#changing = false
    this.keep(app, spec)
    this.#deaths.reset()
    this.#serve(worker, services)
    this.keepSpare()
  }

  /** The next generation does not take over: its worker ends, and the running one stays. */
  async discard(): Promise<void> {
    await this.#succession.discard(this.#app.stopTimeout)
    this.#changing = false
    if (this.#end !== 'none') return
    if (this.serving !== undefined) return this.keepSpare()
    // One that was to be added stays empty.
    if (this.#worker !== undefined) this.#replaceAfter(this.#deaths.failed())
  }

  /** The next generation keeps the worker. Of the slot only its name may differ. */
  keep(app: App, spec: SlotSpec): void {
    this.#app = app
    this.#spec = spec
  }

  /** The app has no such slot any more: peers leave its worker, which then drains. */
  async retire(timeout: number): Promise<void> {
    this.#end = 'retiring'
    const leaving = this.serving === undefined ? Promise.resolve() : this.#parts.leave(this.serving)
    await this.stop(await timeLeft(leaving, timeout), false)
  }

  /** Starts the configured spare. Called after the start of the app, which has precedence. */
  keepSpare(): void {
    if (this.spec.spare) this.prepareSpare()
  }

  /** The worker may have to be replaced soon. Does nothing while another worker drains. */
  prepareSpare(): void {
    const free = this.workers.length === 1 && !this.#changing && this.#end === 'none'
    if (free && this.serving !== undefined) this.#spare.prepare()
  }

  /** Ends a spare that `prepareSpare` started, if the config asks for none. */
  dropSpare(): void {
    if (!this.spec.spare) void this.#dismissSpare()
  }

  /** Ends the worker at once. Announces the spare first, so that calls always find an instance. */
  endServing(exit: WorkerExit): void {
    this.#spare.announce()
    void this.serving?.end(exit)
  }

  /**
   * Drains all workers within `timeout` milliseconds. `inOrder`: the app stops. Never rejects.
   */
  async stop(timeout: number, inOrder = true): Promise<void> {
    if (this.#end === 'none') this.#end = 'stopping'
    clearTimeout(this.#timer)
    const spare = this.#spare.take()
    if (this.#worker?.phase === 'serving') this.#enter({ state: 'draining', since: Date.now() })
    await Promise.all([
      ...[this.#worker, spare].map((one) =>
        one?.phase === 'booting' ? one.end(stopped) : one?.drain(timeout, inOrder),
      ),
      this.#succession.stop(timeout),
    ])
    if (this.#state.state !== 'givenUp') this.#enter({ state: 'stopped' })
  }

  /** `pause`: milliseconds before the next spare may start. */
  #begin(pause = 0): WorkerHandle {
    this.#isAwaited ||= this.#deaths.hasServed
    this.#deaths.starting()
    this.#enter({ state: 'starting', since: Date.now() })
    const spare = this.#spare.take(pause)
    if (spare !== undefined) this.#parts.announce(spare)
    return (this.#worker = spare ?? this.#parts.launch(this.spec, this.#app, undefined))
  }

  #serve(worker: WorkerHandle, services: readonly ServiceReport[]): void {
    this.#worker = worker
    this.#reports = services
    void worker.failing.then(() => this.#failing(worker))
    void worker.ended.then((exit) => this.#died(worker, exit))
    this.#deaths.serving()
    this.#isAwaited = true
    if (worker.serving) this.#enter({ state: 'serving', since: Date.now(), services })
  }

  async #dismissSpare(): Promise<void> {
    const spare = this.#spare.take()
    if (spare !== undefined) await this.#succession.dismiss(spare, this.#app.stopTimeout)
  }

  /** Announces the spare before peers learn of the exit: waiting calls then find an instance. */
  #failing(worker: WorkerHandle): void {
    if (worker === this.#worker) this.#spare.announce()
  }

  /** An exit that the slot did not ask for. */
  #died(worker: WorkerHandle, exit: WorkerExit): void {
    if (this.#end !== 'none' || worker !== this.#worker || exit.why === 'stop') return
    const isOverdue = exit.why === 'overdue'
    const line = `worker ${workerLabel(this.spec)} ${isOverdue ? 'was ended' : 'died'}: ${exit.text}`
    // Counted with the change of state: a reader of the log may look at the status at once.
    this.#parts.log(isOverdue ? 'warn' : 'error', line)
    this.#deaths.died(exit)
    // An overdue call says nothing about the next worker, and its deadline already limits how often
    // it happens.
    this.#replaceAfter(isOverdue ? 0 : this.#deaths.failed(), isOverdue)
  }

  /** If there is a spare, it starts to serve at once, and the next spare waits instead. */
  #replaceAfter(wait: number, isOverdue = false): void {
    const startsAtOnce = wait === 0 || this.#spare.worker !== undefined
    this.#isAwaited = startsAtOnce || (this.#deaths.hasServed && wait < this.#parts.timing.backlog)
    this.#enter({ state: 'waiting', until: Date.now() + (startsAtOnce ? 0 : wait) })
    if (isOverdue) return void this.#retry()
    const { maxRestarts } = this.#app
    if (this.#parts.mode === 'start' && maxRestarts !== undefined && this.#deaths.failures > maxRestarts)
      return this.#giveUp(maxRestarts)
    if (startsAtOnce) return void this.#retry(wait)
    this.#parts.log('warn', `worker ${workerLabel(this.spec)} restarts in ${wait} ms`)
    this.#timer = setTimeout(() => void this.#retry(), wait)
  }

  async #retry(pause = 0): Promise<void> {
    const worker = this.#begin(pause)
    try {
      const services = await worker.ready
      // The next generation may have taken over in the meantime.
      if (worker !== this.#worker) return
      this.#serve(worker, services)
      this.#parts.log('info', `worker ${workerLabel(this.spec)} serves again`)
      this.keepSpare()
    } catch {
      this.#died(worker, worker.logged(await worker.ended))
    }
  }

  #giveUp(maxRestarts: number): void {
    this.#isAwaited = false
    void this.#dismissSpare()
    this.#enter({ state: 'givenUp', error: restartLimit(workerLabel(this.spec), maxRestarts, this.#deaths.lastExit) })
  }

  #enter(state: WorkerState): void {
    this.#state = state
    this.#parts.changed(this)
  }
}
