import type { Transferable } from 'node:worker_threads'
import type { Socket } from 'node:net'
import type { App } from '../../config/app.ts'
import type { AcceleratorState } from '../../shared/accelerators.ts'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import type { HealthReport } from '../../shared/health/health-monitor.ts'
import type { FromWorker, Observation, ServiceReport, ToWorker } from '../../shared/control-messages.ts'
import type { HostReport } from '../../shared/hosts.ts'
import type { OutputLine } from '../../shared/output/log-levels.ts'
import type { WorkerTask } from '../../shared/worker-tasks.ts'
import type { SlowStart } from '../../shared/slow-start.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { type SlotSpec, workerLabel } from '../plan.ts'
import type { AppLogRecord } from '../running-app.ts'
import { launchRuntime } from '../runtimes/launch.ts'
import type { StartRuntime, TransferResult, WorkerRuntime } from '../runtimes/runtime.ts'
import { bootLimit, type Timing } from '../timing.ts'
import { PendingTasks } from './pending-tasks.ts'
import { serviceInStack } from '../watchdogs/stack/service-in-stack.ts'
import { ending, faulted, startFailed, stopped, stuck, stuckAtStart, type WorkerExit } from './worker-exit.ts'

export interface WorkerHandleParts {
  readonly app: App
  readonly spec: SlotSpec
  /** Unique among all workers that ever run in the app. */
  readonly worker: number
  /** Its row in the shared memory. */
  readonly row: number
  readonly timing: Timing
  readonly launch: StartRuntime
  readonly log: (record: AppLogRecord) => void
  /** Peers can be linked with it from now on. A command is linkable once it answers. */
  readonly linkable: (handle: WorkerHandle) => void
  readonly accelerators: (states: readonly AcceleratorState[]) => void
  /** `path`: the private socket of the service, if it has one. */
  readonly serves: (handle: WorkerHandle, started: Extract<FromWorker, { type: 'started' }>) => void
  readonly health: (handle: WorkerHandle, service: string, report: HealthReport) => void
  readonly hosts: (reports: readonly HostReport[]) => void
  readonly observed: (message: Observation) => void
  readonly unlinked: (lost: Extract<FromWorker, { type: 'unlinked' }>) => void
  /** It sends no more calls to this peer, which drains. */
  readonly left: (peer: number) => void
  readonly abandoned: (call: Extract<FromWorker, { type: 'callAbandoned' }>) => void
  /** It has stopped running. `ended` resolves later if the cause is not known yet. */
  readonly ending: (handle: WorkerHandle, exit: WorkerExit) => void
  /** While it stops: the service has stopped; undefined: the gateway has. */
  readonly closed: (handle: WorkerHandle, service: string | undefined) => void
  /** A connection that was transferred to it and came back. */
  readonly returned: (listenerId: string, socket: Socket) => void
}

type Phase = 'booting' | 'serving' | 'draining' | 'ended'

/** The supervisor's end of one worker. The {@link WorkerSlot} decides what follows its exit. */
export class WorkerHandle {
  readonly worker: number
  readonly spec: SlotSpec
  readonly row: number
  readonly startedAt = Date.now()
  /** Rejects with the service's error when the worker ends before it serves. */
  readonly ready: Promise<readonly ServiceReport[]>
  /** Set if it serves beside the worker that it replaces. */
  slowStart: SlowStart | undefined
  /** The services whose health checks fail, and why. */
  readonly unhealthy = new Map<string, string>()
  /** Resolves when the exit is certain, if possible some milliseconds before `ended`. */
  readonly failing: Promise<void>
  /** Never rejects. */
  readonly ended: Promise<WorkerExit>
  /** As `ended`, but for a thread that hangs in a system call: resolves when that call returns. */
  readonly gone: Promise<void>
  readonly #parts: WorkerHandleParts
  readonly #runtime: WorkerRuntime
  readonly #ready = Promise.withResolvers<readonly ServiceReport[]>()
  readonly #failing = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<WorkerExit>()
  readonly #gone = Promise.withResolvers<void>()
  readonly #drained = Promise.withResolvers<void>()
  /** Services that have begun to load and do not serve yet. */
  readonly #loading = new Set<string>()
  readonly #tasks = new PendingTasks((order) => this.send(order))
  /** The first explanation of the exit; later ones are its consequences. */
  #cause: WorkerExit | undefined
  #phase: Phase = 'booting'
  #isStuck = false
  #transferred = 0

  constructor(parts: WorkerHandleParts) {
    this.#parts = parts
    this.worker = parts.worker
    this.spec = parts.spec
    this.row = parts.row
    this.ready = this.#ready.promise
    this.failing = this.#failing.promise
    this.ended = this.#ended.promise
    this.gone = this.#gone.promise
    // The slot awaits `ready`, except for a worker that dies while it is being replaced.
    this.ready.catch(() => {})
    this.#runtime = launchRuntime(parts.launch, {
      message: (message) => this.#receive(message),
      failing: (exit) => this.#fail(exit),
      ending: () => this.#end(),
      exited: (exit) => this.#gone.resolve(this.#finish(exit)),
      line: (line, service) => this.#log(service, line),
      returned: (listenerId, socket) => this.#returned(listenerId, socket),
    })
  }

  get phase(): Phase {
    return this.#phase
  }

  get serving(): boolean {
    return this.#phase === 'serving'
  }

  get pid(): number | undefined {
    return this.#runtime.pid
  }

  /** Open connections that were transferred to it. */
  get connections(): number {
    return this.#phase === 'ended' ? 0 : (this.#transferred - this.#runtime.closed) >>> 0
  }

  /** Milliseconds since its last heartbeat. */
  age(now: number): number {
    return this.#runtime.age(now)
  }

  /** Milliseconds; a worker with an older heartbeat is stuck. */
  get heartbeatLimit(): number {
    const { app, timing } = this.#parts
    return this.#phase === 'booting' ? bootLimit(timing, app.services, this.#loading) : timing.stuck
  }

  /**
   * The caller keeps a connection that is not taken. A failed transfer does not change the phase:
   * the exit does. Between its fault and its exit a worker would read none.
   */
  transfer(listenerId: string, socket: Socket): TransferResult {
    const result = this.#cause === undefined ? this.#runtime.transfer(listenerId, socket) : 'lost'
    if (result === 'taken') this.#transferred++
    return result
  }

  send(order: ToWorker, transfer?: readonly Transferable[]): void {
    if (this.#phase !== 'ended') this.#runtime.send(order, transfer)
  }

  /** Rejects with the task's error, or when the worker ends. */
  async perform(task: WorkerTask): Promise<unknown> {
    return await this.#tasks.perform(task)
  }

  /**
   * Finishes what is in flight, then ends the worker, within `timeout` milliseconds in total.
   * `inOrder`: the whole app stops, in reverse order of `needs`.
   */
  async drain(timeout: number, inOrder = false): Promise<void> {
    if (this.#phase === 'ended') return
    this.#phase = 'draining'
    this.#cause ??= stopped
    const reserve = Math.min(1000, timeout / 4)
    this.send({ type: 'stop', timeout: timeout - reserve, quiet: this.#parts.timing.quiet, inOrder })
    // A drained worker exits by itself, so that `process.on('exit')` of its programs runs.
    if (await settlesWithin(timeout - reserve / 2, [this.#drained.promise, this.ended]))
      await settlesWithin(reserve / 4, [this.ended])
    await this.end(stopped, reserve / 4)
  }

  /** Ends it because its event loop is blocked, after a look at the stack that blocks it. */
  async endStuck(age: number): Promise<void> {
    if (this.#isStuck) return
    this.#isStuck = true
    const stack = await this.#runtime.stack()
    const service = stack && serviceInStack(stack, this.#parts.app.services, this.spec)
    if (stack !== undefined) this.#log(service, `it blocks the event loop ${stack.join('\n    ')}`)
    const isBooting = this.#phase === 'booting'
    await this.end(isBooting ? stuckAtStart([...this.#loading], age, stack) : stuck(age, stack, service))
  }

  /**
   * Ends the worker at once. Leaves a thread behind that hangs in a system call for `limit`
   * milliseconds.
   */
  async end(exit: WorkerExit, limit = this.#parts.timing.terminate): Promise<void> {
    if (this.#phase === 'ended') return
    this.#cause ??= exit
    if (!(await settlesWithin(limit, [this.#runtime.kill()]))) this.#finish(exit)
    await this.ended
  }

  /** Logs the stack of a program that did not start again: nobody else shows it. */
  logged(exit: WorkerExit): WorkerExit {
    if (exit.why === 'start' && exit.stack && !this.#isStuck) this.#log(exit.service, exit.stack.join('\n'))
    return exit
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'listening':
        return this.#parts.linkable(this)
      case 'starting':
        return void this.#loading.add(message.service)
      case 'started':
        this.#loading.delete(message.service)
        return this.#parts.serves(this, message)
      case 'health':
        return this.#setHealth(message)
      case 'hosts':
        return this.#parts.hosts(message.hosts)
      case 'accelerators':
        return this.#parts.accelerators(message.states)
      case 'ready':
        if (this.#phase === 'booting') this.#phase = 'serving'
        return this.#ready.resolve(message.services)
      case 'failed':
        return void this.end(startFailed(restoreError(message.error)))
      case 'fault':
        this.#fail(faulted(message))
        return this.#log(message.service, message.error.stack ?? message.error.message)
      case 'log':
        for (const record of message.records) this.#parts.log({ ...record, worker: this.spec.index })
        return
      case 'spans':
      case 'metrics':
      case 'pathTemplates':
        return this.#parts.observed(message)
      case 'taskDone':
        return this.#tasks.done(message)
      case 'unlinked':
        return this.#parts.unlinked(message)
      case 'callsDrained':
        return this.#parts.left(message.peer)
      case 'callAbandoned':
        return this.#parts.abandoned(message)
      case 'closed':
        return this.#parts.closed(this, message.service)
      case 'stopped':
        return this.#drained.resolve()
      case 'heartbeat':
      case 'counters':
      case 'taken':
      case 'declined':
        return
    }
  }

  #setHealth({ service, healthy, failures, why }: Extract<FromWorker, { type: 'health' }>): void {
    if (healthy) this.unhealthy.delete(service)
    else this.unhealthy.set(service, why)
    this.#parts.health(this, service, { healthy, failures, why })
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

  /** The exit of a worker may hang. */
  async #endAfter(limit: number): Promise<void> {
    if (!(await settlesWithin(limit, [this.ended]))) await this.end(ending)
  }

  /**
   * A connection that comes back from an ended worker waits until the slot has handled the exit:
   * only then is it known whether a replacement starts.
   */
  #returned(listenerId: string, socket: Socket): void {
    this.#transferred--
    if (this.#phase !== 'ended') this.#parts.returned(listenerId, socket)
    else void this.ended.then(() => this.#parts.returned(listenerId, socket))
  }

  #log(service: string | undefined, line: string | OutputLine): void {
    const output = typeof line === 'string' ? { line, stream: 'busbar' as const, level: 'error' as const } : line
    this.#parts.log({ time: Date.now(), service, worker: this.spec.index, ...output })
  }

  #finish(seen: WorkerExit): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    const exit = this.#cause ?? seen
    const message = `worker ${workerLabel(this.spec)} died: ${exit.text}`
    this.#tasks.end(exit.text)
    const hint = `See its output in the log; after startApp, log: 'pretty' shows it.`
    this.#ready.reject(exit.error ?? new BusbarError('WORKER_DIED', { message, hint }))
    this.#ended.resolve(exit)
  }
}
