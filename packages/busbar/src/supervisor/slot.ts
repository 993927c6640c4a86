import { BusbarError } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { ServiceReport, TlsMaterial } from '../shared/control.ts'
import { stopped } from './exit.ts'
import { RestartPolicy } from './restarts.ts'
import type { WorkerExit, WorkerState, WorkerStatus } from './running.ts'
import type { WorkerThread } from './thread.ts'
import { restartLimit, type Timing } from './timing.ts'

/** Rows that a slot needs in the cells: its thread's, and its successor's while one takes over from the other. */
export const rowsPerSlot = 2

export interface SlotParts {
  readonly worker: number
  readonly mode: 'start' | 'dev'
  readonly timing: Timing
  /** Starts a thread; the slot says with which number and row. */
  readonly launch: (worker: number, row: number, app: App) => WorkerThread
  readonly say: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly changed: (slot: WorkerSlot) => void
}

/**
 * One of the app's workers by its number, which outlives the threads that fill it:
 *
 *     starting ─→ serving ─→ draining ─→ stopped          by stop()
 *         └──────────┴─→ waiting ─→ starting              the thread died
 *                          └──────→ givenUp               it died too often
 */
export class WorkerSlot {
  readonly worker: number
  readonly #parts: SlotParts
  readonly #policy: RestartPolicy
  #app: App
  #state: WorkerState = { state: 'stopped' }
  #thread: WorkerThread | undefined
  /** While a restart is under way: the thread that is to take over. */
  #successor: WorkerThread | undefined
  /** After a restart: the thread that finishes what it had in flight. */
  #predecessor: WorkerThread | undefined
  #timer: NodeJS.Timeout | undefined
  #restarting = false
  #stopping = false
  #deaths = 0
  #lastExit: WorkerExit | undefined

  constructor(app: App, parts: SlotParts) {
    this.#app = app
    this.#parts = parts
    this.worker = parts.worker
    this.#policy = new RestartPolicy(parts.timing, parts.mode === 'start')
  }

  get status(): WorkerStatus {
    return {
      ...this.#state,
      worker: this.worker,
      deaths: this.#deaths,
      lastExit: this.#lastExit,
      connections: this.#thread?.connections ?? 0,
    }
  }

  /** All threads that are alive, for the watchdog. */
  get threads(): readonly WorkerThread[] {
    const all = [this.#thread, this.#successor, this.#predecessor]
    return all.filter((thread) => thread !== undefined && thread.phase !== 'ended') as WorkerThread[]
  }

  /** The thread that may get connections. */
  get serving(): WorkerThread | undefined {
    return this.#thread?.serving === true ? this.#thread : undefined
  }

  /** Rejects with the service's own error; there is no second try. */
  async start(): Promise<void> {
    const thread = this.#begin()
    this.#serve(thread, await thread.ready)
  }

  /** A new thread takes over; the old one drains behind it. On failure the old one goes on. */
  async restart(app: App): Promise<void> {
    clearTimeout(this.#timer)
    this.#restarting = true
    try {
      await this.#predecessor?.end(stopped)
      if (this.serving === undefined) await this.#thread?.end(stopped)
      await this.#succeed(app)
    } finally {
      this.#restarting = false
      if (this.serving === undefined && !this.#stopping) this.#replace()
    }
  }

  setTls(tls: TlsMaterial): void {
    for (const thread of this.threads) thread.setTls(tls)
  }

  /** Never rejects. */
  async stop(timeout: number): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    if (this.#thread?.phase === 'serving') this.#enter({ state: 'draining', since: Date.now() })
    await Promise.all([
      this.#thread?.phase === 'booting' ? this.#thread.end(stopped) : this.#thread?.drain(timeout),
      this.#successor?.end(stopped),
      this.#predecessor?.drain(timeout),
    ])
    this.#enter({ state: 'stopped' })
  }

  #begin(): WorkerThread {
    this.#enter({ state: 'starting', since: Date.now() })
    return (this.#thread = this.#launch(this.#app))
  }

  #launch(app: App): WorkerThread {
    const first = this.worker * rowsPerSlot
    const row = this.threads.some((thread) => thread.row === first) ? first + 1 : first
    return this.#parts.launch(this.worker, row, app)
  }

  #serve(thread: WorkerThread, services: readonly ServiceReport[]): void {
    this.#thread = thread
    void thread.ended.then((exit) => this.#died(thread, exit))
    if (thread.serving) this.#enter({ state: 'serving', since: Date.now(), services })
  }

  async #succeed(app: App): Promise<void> {
    if (this.#stopping) return
    const successor = (this.#successor = this.#launch(app))
    const services = await successor.ready.finally(() => (this.#successor = undefined))
    const old = (this.#predecessor = this.#thread)
    this.#app = app
    this.#policy.forget()
    this.#serve(successor, services)
    void old?.drain(app.stopTimeout)
  }

  /** The slot's thread has ended, and nobody here ended it. A restart that is under way fills the place by itself. */
  #died(thread: WorkerThread, exit: WorkerExit): void {
    if (this.#stopping || thread !== this.#thread || exit.why === 'stop') return
    this.#deaths++
    this.#lastExit = exit
    this.#enter({ state: 'waiting', until: Date.now() })
    this.#parts.say('error', `worker ${this.worker} died: ${exit.text}`)
    if (!this.#restarting) this.#replace()
  }

  #replace(): void {
    const wait = this.#policy.died(Date.now())
    if (wait === undefined) return this.#giveUp()
    this.#enter({ state: 'waiting', until: Date.now() + wait })
    if (wait > 0) this.#parts.say('warn', `worker ${this.worker} starts again in ${wait} ms`)
    this.#timer = setTimeout(() => void this.#retry(), wait)
  }

  async #retry(): Promise<void> {
    const thread = this.#begin()
    try {
      this.#serve(thread, await thread.ready)
      this.#parts.say('info', `worker ${this.worker} serves again`)
    } catch {
      this.#died(thread, await thread.ended)
    }
  }

  #giveUp(): void {
    const { restartWindow } = this.#parts.timing
    const error = new BusbarError('WORKER_RESTART_LIMIT', {
      message: `worker ${this.worker} died more than ${restartLimit} times within ${restartWindow / 1000} s; the last time, ${this.#lastExit?.text ?? 'unknown'}`,
      hint: 'see its log above for what ended it',
      ...(this.#lastExit?.service !== undefined && { service: this.#lastExit.service }),
      cause: this.#lastExit?.error,
    })
    this.#enter({ state: 'givenUp', error })
  }

  #enter(state: WorkerState): void {
    this.#state = state
    this.#parts.changed(this)
  }
}
