import type { App } from '../config/app.ts'
import type { ServiceReport, TlsMaterial } from '../shared/control.ts'
import { within } from '../shared/within.ts'
import { restartLimit, stopped } from './exit.ts'
import { labelOf, type WorkerHandle } from './handle.ts'
import { rowsPerPlace } from './launcher.ts'
import type { Place } from './plan.ts'
import { RestartPolicy } from './restarts.ts'
import type { WorkerExit, WorkerState, WorkerStatus } from './running.ts'
import { Spare } from './spare.ts'
import type { Timing } from './timing.ts'

export interface SlotParts {
  readonly place: Place
  readonly mode: 'start' | 'dev'
  readonly timing: Timing
  /** Starts a worker; the slot says in which row. One that is held gets no calls before it is announced. */
  readonly launch: (place: Place, row: number, app: App, isHeld: boolean) => WorkerHandle
  readonly announce: (handle: WorkerHandle) => void
  /** It is to be drained: resolves when the other workers call it no more, or do not say so in time. */
  readonly leaves: (handle: WorkerHandle) => Promise<void>
  readonly say: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly changed: (slot: WorkerSlot) => void
}

/**
 * One of the app's places, which outlives the workers that fill it:
 *
 *     starting ─→ serving ─→ draining ─→ stopped          by stop()
 *         └──────────┴─→ waiting ─→ starting              the worker died
 *                          └──────→ givenUp               it died more than `maxRestarts` times in a row
 */
export class WorkerSlot {
  readonly place: Place
  readonly #parts: SlotParts
  readonly #policy: RestartPolicy
  #app: App
  #state: WorkerState = { state: 'stopped' }
  #worker: WorkerHandle | undefined
  /** While a restart is under way: the worker that is to take over. */
  #successor: WorkerHandle | undefined
  /** After a restart: the worker that finishes what it had in flight. */
  #predecessor: WorkerHandle | undefined
  #retired: Promise<void> = Promise.resolve()
  /** Always, where the place has one; else it starts when a call may hold the worker for good, and is called meanwhile. */
  readonly #spare: Spare
  #timer: NodeJS.Timeout | undefined
  #restarting = false
  #stopping = false
  /** When the worker began to serve; of `Date.now()`. */
  #servedAt: number | undefined
  /** What the last worker that served said of its services. */
  #reports: readonly ServiceReport[] = []
  /** The replacement started at once, or will: connections may wait for it. */
  #isComing = false
  #deaths = 0
  #lastExit: WorkerExit | undefined

  constructor(app: App, parts: SlotParts) {
    this.#app = app
    this.#parts = parts
    this.place = parts.place
    this.#policy = new RestartPolicy(parts.timing)
    this.#spare = new Spare({
      ...parts,
      label: labelOf(this.place),
      launch: () => this.#launch(this.#app, this.place.spare),
      mayStart: () => this.keepSpare(),
      changed: () => parts.changed(this),
    })
  }

  get status(): WorkerStatus {
    const { place, name, kind, hosts } = this.place
    return {
      ...this.#state,
      worker: place,
      name,
      kind,
      hosts,
      pid: this.#worker?.phase === 'ended' ? undefined : this.#worker?.pid,
      row: this.#worker?.row,
      deaths: this.#deaths,
      lastExit: this.#lastExit,
      connections: this.#worker?.connections ?? 0,
      spare: this.#spare.status,
    }
  }

  /** All workers that are alive, for the watchdog. */
  get workers(): readonly WorkerHandle[] {
    const all = [this.#worker, this.#successor, this.#spare.worker, this.#predecessor]
    return all.filter((worker) => worker !== undefined && worker.phase !== 'ended') as WorkerHandle[]
  }

  get reports(): readonly ServiceReport[] {
    return this.#reports
  }

  /** The worker that may get connections. */
  get serving(): WorkerHandle | undefined {
    return this.#worker?.serving === true ? this.#worker : undefined
  }

  /**
   * Nothing serves here, but a replacement is about to. False during backoff and for the attempts after it: whether these
   * succeed nobody knows.
   */
  get isComing(): boolean {
    return this.serving === undefined && !this.#stopping && (this.#restarting || this.#isComing)
  }

  /** Rejects with the service's own error; there is no second try. */
  async start(): Promise<void> {
    const worker = this.#begin()
    this.#serve(worker, await worker.ready)
  }

  /** A new worker takes over; the old one drains behind it. On failure the old one goes on. */
  async restart(app: App): Promise<void> {
    clearTimeout(this.#timer)
    this.#restarting = true
    try {
      await this.#dismissSpare()
      await this.#endPredecessor()
      if (this.serving === undefined) await this.#worker?.end(stopped)
      else if (this.#hasFixedPort(app)) await this.#vacate(app)
      await this.#succeed(app)
    } finally {
      this.#restarting = false
      if (this.serving === undefined && !this.#stopping) this.#replaceFailed()
      else this.keepSpare()
    }
  }

  /** From the app's start on: while others start, they come first. */
  keepSpare(): void {
    if (this.place.spare) this.prepareSpare()
  }

  /** There may be need of another worker soon. Only while a row is left for it. */
  prepareSpare(): void {
    const free = this.workers.length === 1 && !this.#restarting && !this.#stopping
    if (free && this.serving !== undefined) this.#spare.prepare()
  }

  /** There is no need of it after all. */
  dropSpare(): void {
    if (!this.place.spare) void this.#dismissSpare()
  }

  get isSpareStarting(): boolean {
    return this.#spare.status?.state === 'starting'
  }

  /** At once. The others know of the spare before they miss the worker: no call finds that there is none. */
  endServing(exit: WorkerExit): void {
    this.#spare.announce()
    void this.serving?.end(exit)
  }

  setTls(tls: TlsMaterial): void {
    for (const worker of this.workers) worker.setTls(tls)
  }

  /** Never rejects. */
  async stop(timeout: number): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const spare = this.#spare.take()
    if (this.#worker?.phase === 'serving') this.#enter({ state: 'draining', since: Date.now() })
    await Promise.all([
      ...[this.#worker, spare].map((one) => (one?.phase === 'booting' ? one.end(stopped) : one?.drain(timeout, true))),
      this.#successor?.end(stopped),
      this.#predecessor?.drain(timeout),
    ])
    this.#enter({ state: 'stopped' })
  }

  /** `pause`: before the next spare. */
  #begin(pause = 0): WorkerHandle {
    this.#servedAt = undefined
    this.#enter({ state: 'starting', since: Date.now() })
    const spare = this.#spare.take(pause)
    if (spare !== undefined) this.#parts.announce(spare)
    return (this.#worker = spare ?? this.#launch(this.#app))
  }

  #launch(app: App, isHeld = false): WorkerHandle {
    const first = this.place.place * rowsPerPlace
    const row = this.workers.some((worker) => worker.row === first) ? first + 1 : first
    return this.#parts.launch(this.place, row, app, isHeld)
  }

  #serve(worker: WorkerHandle, services: readonly ServiceReport[]): void {
    this.#worker = worker
    this.#reports = services
    void worker.failing.then(() => this.#foresee(worker))
    void worker.ended.then((exit) => this.#died(worker, exit))
    this.#servedAt = Date.now()
    this.#isComing = false
    if (worker.serving) this.#enter({ state: 'serving', since: Date.now(), services })
  }

  /** It may be answering calls. */
  async #dismissSpare(): Promise<void> {
    const spare = this.#spare.take()
    if (spare === undefined) return
    this.#predecessor = spare
    await this.#parts.leaves(spare)
    await (spare.serving ? spare.drain(this.#app.stopTimeout) : spare.end(stopped))
  }

  /** Two of a command cannot listen on the port that it always takes. */
  #hasFixedPort({ services }: App): boolean {
    const { kind, hosts } = this.place
    return kind === 'command' && services.find(({ name }) => name === hosts[0]!.name)?.port !== undefined
  }

  /** Three at once have no rows. Whoever edits and edits again need not wait for a page that is open somewhere. */
  async #endPredecessor(): Promise<void> {
    const { mode, timing } = this.#parts
    if (mode === 'start') await this.#retired
    else await within(timing.hurry, [this.#retired])
    await this.#predecessor?.end(stopped)
  }

  async #vacate({ stopTimeout }: App): Promise<void> {
    const worker = this.#worker!
    await this.#parts.leaves(worker)
    await worker.drain(stopTimeout)
  }

  async #succeed(app: App): Promise<void> {
    if (this.#stopping) return
    const successor = (this.#successor = this.#launch(app))
    const services = await successor.ready.finally(() => (this.#successor = undefined))
    const old = (this.#predecessor = this.#worker)
    this.#app = app
    this.#policy.forget()
    this.#serve(successor, services)
    if (old === undefined) return
    this.#retired = this.#retire(old, app.stopTimeout)
  }

  /** A call on its way to one that takes no more would be refused, and one with a streamed body cannot be made again. */
  async #retire(old: WorkerHandle, timeout: number): Promise<void> {
    await this.#parts.leaves(old)
    await old.drain(timeout)
    this.keepSpare()
  }

  /** Told of the spare in time, calls that wait have somewhere to go when they hear that the worker has ended. */
  #foresee(worker: WorkerHandle): void {
    if (worker === this.#worker) this.#spare.announce()
  }

  /** The slot's worker has ended, and nobody here ended it. A restart that is under way fills the place by itself. */
  #died(worker: WorkerHandle, exit: WorkerExit): void {
    if (this.#stopping || worker !== this.#worker || exit.why === 'stop') return
    this.#deaths++
    this.#lastExit = exit
    const isOverdue = exit.why === 'overdue'
    // A call that does not stop says nothing of how the next worker would do, and comes no faster than its time is up.
    const wait = this.#restarting || isOverdue ? 0 : this.#failed()
    this.#enterWaiting(wait)
    const line = `worker ${labelOf(this.place)} ${isOverdue ? 'was ended' : 'died'}: ${exit.text}`
    this.#parts.say(isOverdue ? 'warn' : 'error', line)
    if (this.#restarting) return
    if (isOverdue) void this.#retry()
    else this.#replace(wait)
  }

  /** Milliseconds until the next one may start. */
  #failed(): number {
    return this.#policy.failed(this.#servedAt === undefined ? 0 : Date.now() - this.#servedAt)
  }

  /** With a spare it is the next spare that waits. */
  #enterWaiting(wait: number): void {
    this.#isComing = wait === 0 || this.#spare.worker !== undefined
    this.#enter({ state: 'waiting', until: Date.now() + (this.#isComing ? 0 : wait) })
  }

  #replace(wait: number): void {
    const { maxRestarts } = this.#app
    if (this.#parts.mode === 'start' && maxRestarts !== undefined && this.#policy.failures > maxRestarts)
      return this.#giveUp(maxRestarts)
    if (this.#isComing) return void this.#retry(wait)
    this.#parts.say('warn', `worker ${labelOf(this.place)} starts again in ${wait} ms`)
    this.#timer = setTimeout(() => void this.#retry(), wait)
  }

  async #retry(pause = 0): Promise<void> {
    const worker = this.#begin(pause)
    try {
      this.#serve(worker, await worker.ready)
      this.#parts.say('info', `worker ${labelOf(this.place)} serves again`)
      this.keepSpare()
    } catch {
      this.#died(worker, await worker.ended)
    }
  }

  /** A restart that was asked for has failed, and nothing serves. */
  #replaceFailed(): void {
    const wait = this.#failed()
    this.#enterWaiting(wait)
    this.#replace(wait)
  }

  #giveUp(maxRestarts: number): void {
    void this.#dismissSpare()
    this.#enter({ state: 'givenUp', error: restartLimit(labelOf(this.place), maxRestarts, this.#lastExit) })
  }

  #enter(state: WorkerState): void {
    this.#state = state
    this.#parts.changed(this)
  }
}
