import type { Transferable } from 'node:worker_threads'
import type { Socket } from 'node:net'
import type { App } from '../config/app.ts'
import type { AcceleratorState } from '../shared/accelerators.ts'
import { BusbarError } from '../contract/errors.ts'
import type { FromWorker, LogRecord, ServiceReport, TlsMaterial, ToWorker } from '../shared/control.ts'
import { within } from '../shared/within.ts'
import { ending, faulted, startFailed, stopped, stuck, stuckAtStart } from './exit.ts'
import type { Place } from './plan.ts'
import type { AppLogRecord, WorkerExit } from './running.ts'
import type { Timing } from './timing.ts'
import { launchVessel } from './vessels/launch.ts'
import type { Handed, Launch, Vessel } from './vessels/vessel.ts'

export interface HandleParts {
  readonly app: App
  readonly place: Place
  /** Its number among all that ever live in the app. */
  readonly worker: number
  /** Its row in the memory of all. */
  readonly row: number
  readonly timing: Timing
  readonly launch: Launch
  readonly log: (record: AppLogRecord) => void
  /** It can be linked with the others from now on; a command is, once it answers. */
  readonly linkable: (handle: WorkerHandle) => void
  readonly accelerators: (states: readonly AcceleratorState[]) => void
  readonly serves: (handle: WorkerHandle, service: string, path: string | undefined) => void
  readonly unlinked: (lost: LostLink) => void
  /** It calls this one, which leaves, no more. */
  readonly left: (peer: number) => void
  readonly gaveUp: (call: GivenUpCall) => void
  /** It runs no more; its `exit` comes later, where it is not known yet. */
  readonly ending: (handle: WorkerHandle, exit: WorkerExit) => void
  readonly closed: (handle: WorkerHandle, service: string | undefined) => void
  /** A connection that it was handed and did not take. */
  readonly returned: (listener: string, socket: Socket) => void
}

export type LostLink = Extract<FromWorker, { type: 'unlinked' }>

/** A call that a worker gave up, and `peer` may be busy with. */
export type GivenUpCall = Extract<FromWorker, { type: 'gaveUp' }>

type Phase = 'booting' | 'serving' | 'draining' | 'ended'

/** One worker, from its start to its end, whatever it runs in; what comes after it is the {@link WorkerSlot}'s affair. */
export class WorkerHandle {
  readonly worker: number
  readonly place: Place
  readonly row: number
  /** Rejects with the service's error when the worker ends before it serves. */
  readonly ready: Promise<readonly ServiceReport[]>
  /** Resolves some milliseconds before `ended`, where it shows so early that it will end by itself. */
  readonly failing: Promise<void>
  /** Never rejects. */
  readonly ended: Promise<WorkerExit>
  /** Like `ended`, but a thread that was left behind in a system call is gone only when that returns. */
  readonly gone: Promise<void>
  readonly #parts: HandleParts
  readonly #vessel: Vessel
  readonly #ready = Promise.withResolvers<readonly ServiceReport[]>()
  readonly #failing = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<WorkerExit>()
  readonly #gone = Promise.withResolvers<void>()
  readonly #drained = Promise.withResolvers<void>()
  /** Services that have begun to load and do not serve yet. */
  readonly #loading = new Set<string>()
  /** The first thing seen that explains the end; what follows is its consequence. */
  #cause: WorkerExit | undefined
  #phase: Phase = 'booting'
  #handed = 0

  constructor(parts: HandleParts) {
    this.#parts = parts
    this.worker = parts.worker
    this.place = parts.place
    this.row = parts.row
    this.ready = this.#ready.promise
    this.failing = this.#failing.promise
    this.ended = this.#ended.promise
    this.gone = this.#gone.promise
    // Whoever starts the worker awaits it; one that dies while it is being replaced has nobody who does.
    this.ready.catch(() => {})
    this.#vessel = launchVessel(parts.launch, {
      message: (message) => this.#heard(message),
      failing: (exit) => this.#fail(exit),
      ending: () => this.#end(),
      exited: (exit) => {
        this.#finish(exit)
        this.#gone.resolve()
      },
      line: (line, stream, level, service) => this.#log(level, line, service, stream),
      returned: (listener, socket) => this.#returned(listener, socket),
    })
  }

  get phase(): Phase {
    return this.#phase
  }

  get serving(): boolean {
    return this.#phase === 'serving'
  }

  get pid(): number | undefined {
    return this.#vessel.pid
  }

  /** Connections that it was handed and has not closed. */
  get connections(): number {
    return this.#phase === 'ended' ? 0 : (this.#handed - this.#vessel.closed) >>> 0
  }

  /** Milliseconds since its event loop last turned. */
  age(now: number): number {
    return this.#vessel.age(now)
  }

  /** How old its heartbeat may be before it counts as stuck. */
  get patience(): number {
    if (this.#phase !== 'booting') return this.#parts.timing.stuck
    const loading = this.#parts.app.services.filter(({ name }) => this.#loading.has(name))
    return loading.length === 0 ? this.#parts.timing.boot : Math.min(...loading.map((one) => one.startTimeout))
  }

  /** What is not taken is still the caller's. It says nothing of the worker's life: that is only seen when it ends. */
  take(listener: string, socket: Socket): Handed {
    const handed = this.#vessel.hand(listener, socket)
    if (handed === 'taken') this.#handed++
    return handed
  }

  setTls(tls: TlsMaterial): void {
    this.tell({ type: 'tls', tls })
  }

  tell(order: ToWorker, transfer?: readonly Transferable[]): void {
    if (this.#phase !== 'ended') this.#vessel.send(order, transfer)
  }

  /** Lets it finish what it does and ends it, all within `timeout` milliseconds. `inOrder`: all of the app stops. */
  async drain(timeout: number, inOrder = false): Promise<void> {
    if (this.#phase === 'ended') return
    this.#phase = 'draining'
    this.#cause ??= stopped
    const reserve = Math.min(1000, timeout / 4)
    this.tell({ type: 'stop', timeout: timeout - reserve, quiet: this.#parts.timing.quiet, inOrder })
    // Once stopped it exits by itself, so that `process.on('exit')` of its programs runs.
    if (await within(timeout - reserve / 2, [this.#drained.promise, this.ended]))
      await within(reserve / 4, [this.ended])
    await this.end(stopped, reserve / 4)
  }

  endStuck(age: number): Promise<void> {
    return this.end(this.#phase === 'booting' ? stuckAtStart([...this.#loading], age) : stuck(age))
  }

  /** Ends the worker at once. A thread that hangs in a system call is left behind after `limit` milliseconds. */
  async end(exit: WorkerExit, limit = this.#parts.timing.terminate): Promise<void> {
    if (this.#phase === 'ended') return
    this.#cause ??= exit
    if (!(await within(limit, [this.#vessel.kill()]))) this.#finish(exit)
    await this.ended
  }

  #heard(message: FromWorker): void {
    switch (message.type) {
      case 'listening':
        return this.#parts.linkable(this)
      case 'starting':
        return void this.#loading.add(message.service)
      case 'started':
        this.#loading.delete(message.service)
        return this.#parts.serves(this, message.service, message.path)
      case 'accelerators':
        return this.#parts.accelerators(message.states)
      case 'ready':
        if (this.#phase === 'booting') this.#phase = 'serving'
        return this.#ready.resolve(message.services)
      case 'failed':
        return void this.end(startFailed(BusbarError.fromRecord(message.error)))
      case 'fault':
        this.#fail(faulted(message))
        return this.#log('error', message.error.stack ?? message.error.message, message.service)
      case 'log':
        for (const record of message.records) this.#parts.log({ ...record, worker: this.place.place })
        return
      case 'unlinked':
        return this.#parts.unlinked(message)
      case 'left':
        return this.#parts.left(message.peer)
      case 'gaveUp':
        return this.#parts.gaveUp(message)
      case 'closed':
        return this.#parts.closed(this, message.service)
      case 'stopped':
        return this.#drained.resolve()
      case 'beat':
      case 'taken':
      case 'declined':
        return
    }
  }

  #fail(cause: WorkerExit): void {
    this.#cause ??= cause
    this.#failing.resolve()
  }

  #end(): void {
    if (this.#phase === 'ended') return
    if (this.#phase === 'serving') this.#phase = 'draining'
    this.#failing.resolve()
    this.#parts.ending(this, this.#cause ?? ending)
    void this.#endAfter(this.#parts.timing.stuck)
  }

  /** Its own end may hang. */
  async #endAfter(limit: number): Promise<void> {
    if (!(await within(limit, [this.ended]))) await this.end(ending)
  }

  /** What comes back of an ended worker waits until its slot has heard of the end: before, nobody knows of the replacement. */
  #returned(listener: string, socket: Socket): void {
    this.#handed--
    if (this.#phase !== 'ended') this.#parts.returned(listener, socket)
    else void this.ended.then(() => this.#parts.returned(listener, socket))
  }

  #log(level: LogRecord['level'], line: string, service?: string, stream: LogRecord['stream'] = 'busbar'): void {
    this.#parts.log({ time: Date.now(), level, service, stream, line, worker: this.place.place })
  }

  #finish(seen: WorkerExit): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    const exit = this.#cause ?? seen
    const message = `worker ${labelOf(this.place)} died: ${exit.text}`
    this.#ready.reject(exit.error ?? new BusbarError('WORKER_DIED', { message }))
    this.#ended.resolve(exit)
  }
}

/** How a line of the log calls it: `0` for a shared one, `3 (render 1)` for others. */
export function labelOf({ place, name, kind }: Place): string {
  return kind === 'shared' ? `${place}` : `${place} (${name})`
}
