import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { BusbarError } from '../contract/errors.ts'
import { WorkerCells, threadsNow } from '../shared/cells.ts'
import type { FromWorker, LogRecord, ServiceReport, TlsMaterial, ThreadInit, ToWorker } from '../shared/control.ts'
import type { TcpHandle } from '../shared/port.ts'
import { exited, faulted, startFailed, stopped, stuck, stuckAtStart, threw } from './exit.ts'
import { handOver } from './handover.ts'
import { splitLines } from './lines.ts'
import type { AppLogRecord, WorkerExit } from './running.ts'
import type { Timing } from './timing.ts'

export interface ThreadParts {
  readonly init: ThreadInit
  readonly timing: Timing
  readonly log: (record: AppLogRecord) => void
  readonly entry: URL | undefined
  readonly resourceLimits: ResourceLimits | undefined
}

type Phase = 'booting' | 'serving' | 'draining' | 'ended'

/** The module has the extension of this one: `.ts` from the sources, `.js` from what was built. */
const workerMain = new URL(`../worker/main${extname(import.meta.url)}`, import.meta.url)

/** One thread, from its start to its end; what comes after it is the {@link WorkerSlot}'s affair. */
export class WorkerThread {
  readonly row: number
  /** Rejects with the service's error when the thread ends before it serves. */
  readonly ready: Promise<readonly ServiceReport[]>
  /** Never rejects. */
  readonly ended: Promise<WorkerExit>
  /** Like `ended`, but a thread that was left behind in a system call is gone only when that returns. */
  readonly gone: Promise<void>
  readonly #parts: ThreadParts
  readonly #worker: Worker
  readonly #cells: WorkerCells
  readonly #ready = Promise.withResolvers<readonly ServiceReport[]>()
  readonly #ended = Promise.withResolvers<WorkerExit>()
  readonly #gone = Promise.withResolvers<void>()
  readonly #drained = Promise.withResolvers<void>()
  /** Services that have begun to load and do not serve yet. */
  readonly #loading = new Set<string>()
  /** The first thing seen that explains the end; what follows is its consequence. */
  #cause: WorkerExit | undefined
  #phase: Phase = 'booting'
  #handed = 0

  constructor(parts: ThreadParts) {
    const { init } = parts
    this.#parts = parts
    this.row = init.row
    this.#cells = new WorkerCells(init.cells, init.row)
    this.#cells.clear()
    this.#cells.beat(threadsNow())
    this.ready = this.#ready.promise
    this.ended = this.#ended.promise
    this.gone = this.#gone.promise
    // Whoever starts the thread awaits it; a thread that dies while it is being replaced has nobody who does.
    this.ready.catch(() => {})
    this.#worker = new Worker(parts.entry ?? workerMain, {
      name: `busbar worker ${init.worker}`,
      workerData: init,
      stdout: true,
      stderr: true,
      ...(parts.resourceLimits !== undefined && { resourceLimits: parts.resourceLimits }),
    })
    this.#listen()
  }

  get phase(): Phase {
    return this.#phase
  }

  get serving(): boolean {
    return this.#phase === 'serving'
  }

  /** Connections that it was handed and has not closed. */
  get connections(): number {
    return this.#phase === 'ended' ? 0 : (this.#handed - this.#cells.closed) >>> 0
  }

  /** Milliseconds since its event loop last turned. */
  age(now: number): number {
    return this.#cells.age(now)
  }

  /** How old its heartbeat may be before it counts as stuck. */
  get patience(): number {
    if (this.#phase !== 'booting') return this.#parts.timing.stuck
    const loading = this.#parts.init.app.services.filter(({ name }) => this.#loading.has(name))
    return loading.length === 0 ? this.#parts.timing.boot : Math.min(...loading.map((one) => one.startTimeout))
  }

  /** False: it was not taken and is still the caller's. */
  take(listener: string, handle: TcpHandle): boolean {
    if (!handOver(this.#worker, listener, handle)) {
      this.#phase = 'draining'
      return false
    }
    this.#handed++
    return true
  }

  setTls(tls: TlsMaterial): void {
    this.#tell({ type: 'tls', tls })
  }

  /** Lets it finish what it does and ends it, all within `timeout` milliseconds. */
  async drain(timeout: number): Promise<void> {
    if (this.#phase === 'ended') return
    this.#phase = 'draining'
    this.#cause ??= stopped
    const reserve = Math.min(1000, timeout / 4)
    this.#tell({ type: 'stop', timeout: timeout - reserve })
    // Once stopped it exits by itself, so that `process.on('exit')` of its programs runs.
    if (await within(timeout - reserve / 2, [this.#drained.promise, this.ended]))
      await within(reserve / 4, [this.ended])
    await this.end(stopped, reserve / 4)
  }

  endStuck(age: number): Promise<void> {
    return this.end(this.#phase === 'booting' ? stuckAtStart([...this.#loading], age) : stuck(age))
  }

  /** Ends the thread at once. One that hangs in a system call is left behind after `limit` milliseconds. */
  async end(exit: WorkerExit, limit = this.#parts.timing.terminate): Promise<void> {
    if (this.#phase === 'ended') return
    this.#cause ??= exit
    if (!(await within(limit, [this.#worker.terminate()]))) this.#finish(1)
    await this.ended
  }

  #listen(): void {
    this.#worker
      .on('message', (message: FromWorker) => this.#heard(message))
      .on('error', (thrown: unknown) => void (this.#cause ??= threw(thrown)))
      .on('exit', (code) => {
        this.#finish(code)
        this.#gone.resolve()
      })
    this.#forward(this.#worker.stdout, 'stdout')
    this.#forward(this.#worker.stderr, 'stderr')
  }

  #heard(message: FromWorker): void {
    switch (message.type) {
      case 'starting':
        return void this.#loading.add(message.service)
      case 'started':
        return void this.#loading.delete(message.service)
      case 'ready':
        if (this.#phase === 'booting') this.#phase = 'serving'
        return this.#ready.resolve(message.services)
      case 'failed':
        return void this.end(startFailed(BusbarError.fromRecord(message.error)))
      case 'fault':
        this.#cause ??= faulted(message)
        return this.#log('error', message.error.stack ?? message.error.message, message.service)
      case 'log':
        for (const record of message.records) this.#parts.log({ ...record, worker: this.#parts.init.worker })
        return
      case 'stopped':
        return this.#drained.resolve()
      case 'beat':
      case 'listening':
        return
    }
  }

  /** What reaches a thread's own streams was written past every service's scope. */
  #forward(stream: Readable, name: 'stdout' | 'stderr'): void {
    splitLines(stream, (line) => this.#log(name === 'stdout' ? 'info' : 'error', line, undefined, name))
  }

  #log(level: LogRecord['level'], line: string, service?: string, stream: LogRecord['stream'] = 'busbar'): void {
    this.#parts.log({ time: Date.now(), level, service, stream, line, worker: this.#parts.init.worker })
  }

  #finish(code: number): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    const exit = this.#cause ?? exited(code)
    const message = `worker ${this.#parts.init.worker} died: ${exit.text}`
    this.#ready.reject(exit.error ?? new BusbarError('WORKER_DIED', { message }))
    this.#ended.resolve(exit)
  }

  #tell(order: ToWorker): void {
    this.#worker.postMessage(order)
  }
}

/** True when one of `events` came in time. */
async function within(timeout: number, events: readonly Promise<unknown>[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, timeout, false)
  const inTime = await Promise.race([promise, Promise.race(events).then(() => true)])
  clearTimeout(timer)
  return inTime
}
