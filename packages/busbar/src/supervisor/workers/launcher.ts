import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { App, Service } from '../../config/app.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import { CallTotals } from '../../observe/metrics/call-totals.ts'
import { acceleratorsText, type AcceleratorState, defaultAccelerators } from '../../shared/accelerators.ts'
import type { CallAccess } from '../../shared/calls/call-access.ts'
import { AppUse } from '../../shared/calls/app-use.ts'
import { createCells } from '../../shared/metrics/worker-cells.ts'
import type { FromWorker, ListenerSpec, Observation, TlsMaterial } from '../../shared/control-messages.ts'
import type { DirectInstance, EntranceAccess } from '../../shared/entrance/entrance.ts'
import { RemoteReports } from '../cluster/remote-reports.ts'
import type { HealthReport } from '../../shared/health/health-monitor.ts'
import { hostIdOf } from '../../shared/cluster/subjects.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import type { Identity } from '../../shared/hosts.ts'
import type { ServiceTemplates } from '../../shared/path-templates/known-templates.ts'
import { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { type Hold, type PeerAddress, type PeerInfo, PeerRegistry } from '../peers/peer-registry.ts'
import { Reconnector } from '../peers/reconnector.ts'
import { SocketFolder } from '../peers/socket-folder.ts'
import { mayBeEnded, type SlotSpec, workerLabel } from '../plan.ts'
import type { Pulse } from '../pulse.ts'
import type { StartOptions } from '../running-app.ts'
import { OrphanReaper } from '../runtimes/orphan-reaper.ts'
import { knownAccelerators } from '../runtimes/probe-results.ts'
import { RuntimeFactory } from '../runtimes/runtime-factory.ts'
import { StopSequence } from '../stop-sequence.ts'
import type { Timing } from '../timing.ts'
import { type AbandonedCall, AbandonedCalls } from '../watchdogs/abandoned-calls.ts'
import { Observations } from './observations.ts'
import { TemplateRegistry } from './template-registry.ts'
import { FreeRows, morePlaces, placesOf, rowsPerSlot } from './shared-rows.ts'
import type { WorkerExit } from './worker-exit.ts'
import { WorkerHandle } from './worker-handle.ts'

export interface LauncherParts {
  /** The app as it runs; the workers of a generation that starts get the next one. */
  readonly app: () => App
  /** The file descriptor limit of this process. */
  readonly descriptors: number
  /** How many slots there may be at a time. */
  readonly maxSlots: number
  readonly options: StartOptions
  readonly timing: Timing
  readonly pulse: Pulse
  readonly listeners: () => readonly ListenerSpec[]
  readonly tls: () => TlsMaterial | undefined
  readonly identity: () => Identity | undefined
  readonly entrance: () => EntranceAccess | undefined
  /** The instances that serve in processes and commands have changed. */
  readonly separate: (instances: readonly DirectInstance[]) => void
  /** Workers have found further path templates: all that they have found so far. */
  readonly templates: (all: readonly ServiceTemplates[]) => void
  readonly calls: () => CallAccess
  /** Other services of other apps can be reached than before. */
  readonly reachable: () => void
  readonly health: (handle: WorkerHandle, service: string, report: HealthReport) => void
  /** Receives a transferred connection that a worker did not take before it died. */
  readonly returned: (listenerId: string, socket: Socket) => unknown
}

/**
 * Starts workers of every kind, registers them with the peer registry, and cleans up after each
 * exit.
 */
export class Launcher {
  readonly peers: PeerRegistry
  /** The heartbeats and vitals of all workers. */
  readonly cells: SharedArrayBuffer
  /** The id of this app in its cluster. */
  readonly host: string
  /** The call counters of all workers. */
  readonly instances: InstanceTable
  /** What the calls of other apps take at the workers. */
  readonly #appUse: AppUse
  /** The counters of all workers, including those that have ended. */
  readonly totals: CallTotals
  /** Calls that a thread may still compute although nobody waits for them. */
  readonly abandoned = new AbandonedCalls()
  /** The hosts of other apps that workers call. */
  readonly remotes = new RemoteReports()
  readonly observations: Observations
  readonly #templates = new TemplateRegistry()
  readonly #parts: LauncherParts
  readonly #folder: SocketFolder
  readonly #reaper: OrphanReaper
  readonly #runtimes: RuntimeFactory
  /** All workers that are not gone. */
  readonly #alive = new Set<WorkerHandle>()
  readonly #rows: FreeRows
  #accelerators: readonly AcceleratorState[] = []
  #probed: readonly AcceleratorState[] = []
  #stopSequence: StopSequence | undefined
  #next = 0
  /** The services of both generations while one prepares to take over. */
  #interim: readonly Service[] | undefined

  constructor(parts: LauncherParts) {
    this.#parts = parts
    const { services } = parts.app()
    const rows = parts.maxSlots * rowsPerSlot
    this.#rows = new FreeRows(rows)
    this.cells = createCells(rows)
    this.instances = new InstanceTable({ rows, services: placesOf([], services), places: services.length + morePlaces })
    this.#appUse = new AppUse(rows)
    this.totals = new CallTotals(this.instances)
    this.observations = new Observations(parts.app, (level, line) => this.#log(level, line))
    const reconnector = new Reconnector(parts.timing, (level, line) => this.#log(level, line))
    this.peers = new PeerRegistry(reconnector, () => parts.separate(this.peers.separate))
    const secret = randomBytes(24).toString('base64url')
    this.host = hostIdOf(secret)
    this.#folder = new SocketFolder(secret)
    this.#reaper = new OrphanReaper(this.#folder.path)
    this.#runtimes = new RuntimeFactory({
      ...parts,
      probed: () => this.#probed,
      secret,
      folder: this.#folder,
      reaper: this.#reaper,
      cells: this.cells,
      instances: this.instances,
      appUse: this.#appUse,
      untilServed: (service, limit) => this.peers.until(service, limit),
    })
  }

  /** Workers that could not be ended. */
  get hung(): number {
    return [...this.#alive].filter(({ phase }) => phase === 'ended').length
  }

  /** Empty before {@link probeAccelerators}. */
  get accelerators(): readonly AcceleratorState[] {
    return this.#accelerators
  }

  /**
   * Before the first worker starts. A process whose Node has flags of its own probes for itself.
   */
  async probeAccelerators(): Promise<void> {
    const wanted = this.#parts.app().accelerators ?? defaultAccelerators
    this.#accelerators = await knownAccelerators(wanted, this.#parts.options.workerEntry)
    this.#probed = this.#accelerators.filter(({ name }) => wanted.includes(name))
    const failed = this.#probed.some(({ on }) => !on)
    this.#log(failed ? 'warn' : 'info', `accelerators ${acceleratorsText(this.#accelerators)}`)
  }

  /** `hold`: what peers do not call before the worker is announced. */
  launch(spec: SlotSpec, app: App, hold: Hold): WorkerHandle {
    const row = this.#rows.take()
    const worker = this.#next++
    this.totals.assign(row, { slot: spec.index })
    const { timing, options, health, returned } = this.#parts
    let address: PeerAddress =
      spec.kind === 'process' ? { kind: 'unix', path: this.#folder.socketOf(worker) } : { kind: 'thread' }
    const answers = (at: { host: string; port: number }): void => {
      address = { kind: 'tcp', ...at }
      this.#register(handle, address, hold)
    }
    const handle: WorkerHandle = new WorkerHandle({
      app,
      spec,
      worker,
      row,
      timing,
      log: options.log,
      launch: this.#runtimes.create({ spec, worker, row, app, isHeld: hold !== undefined, answers }),
      linkable: () => this.#register(handle, address, hold),
      serves: (_, started) => this.#serves(handle, started),
      accelerators: (states) => this.#compareAccelerators(handle, states),
      health: (_, service, report) => {
        this.peers.health(worker, service, report.healthy)
        health(handle, service, report)
      },
      hosts: (reports) => this.remotes.report(worker, reports) && this.#parts.reachable(),
      observed: (message) => this.#observed(handle, message),
      unlinked: (lost) => this.peers.unlinked(worker, lost),
      left: (peer) => this.peers.left(worker, peer),
      abandoned: (call) => this.#abandoned(call),
      ending: (_, exit) => this.peers.remove(worker, reasonOf(spec, exit)),
      closed: (_, service) => this.#stopSequence?.closed(worker, service),
      returned,
    })
    this.#alive.add(handle)
    void handle.ended.then((exit) => {
      this.peers.remove(worker, reasonOf(spec, exit))
      this.abandoned.forget(worker)
      this.remotes.forget(worker)
      this.observations.ended(worker)
      this.#stopSequence?.ended(worker)
      this.totals.retire(row)
      this.#appUse.clear(row)
      this.#rows.free(row)
    })
    void handle.gone.then(() => this.#alive.delete(handle))
    for (const order of this.#templates.orders) handle.send(order)
    if (this.#interim !== undefined) this.announceServices(this.#interim, [handle], 'for now')
    if (spec.kind === 'shared' || spec.kind === 'thread') this.#register(handle, address, hold)
    return handle
  }

  /** From now on, workers that drain with `inOrder` learn when each of their services may stop. */
  stopInOrder(app: App): void {
    const workers = [...this.#alive].filter(({ phase }) => phase === 'serving' || phase === 'draining')
    this.#stopSequence = new StopSequence(app, workers, (service) => {
      for (const worker of workers) worker.send({ type: 'released', service })
    })
  }

  /**
   * Services that are new get a place in the shared memory, and new limits their slots. Returns a
   * function that restores the limits.
   */
  place(services: readonly Service[]): () => void {
    const before = this.instances.shape.services
    this.instances.update(placesOf(before, services))
    this.totals.update()
    return () => this.instances.update([...before, ...this.instances.shape.services.slice(before.length)])
  }

  /**
   * Tells running workers of the services that the app has from now on. `for now`: of those of two
   * generations. Workers that start in the meantime learn of them, too.
   */
  announceServices(services: readonly Service[], workers: readonly WorkerHandle[], lasts?: 'for now'): void {
    this.#interim = lasts && services
    const places = this.instances.shape.services
    const withoutSlots = places.map(({ name, concurrency }) => ({ name, concurrency }))
    for (const worker of workers)
      worker.send({ type: 'services', services, places: worker.spec.kind === 'process' ? withoutSlots : places })
  }

  /** After the last worker has ended. One that was left behind may only be late, and ends now. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const clear = startRunningTimeout(this.#parts.timing.terminate, late.resolve)
    await Promise.race([Promise.all([...this.#alive].map(({ gone }) => gone)), late.promise])
    clear()
    await this.#reaper.close()
    this.#folder.remove()
  }

  #register(handle: WorkerHandle, address: PeerAddress, hold: Hold): void {
    const { worker, row, spec } = handle
    const label = workerLabel(spec)
    const send: PeerInfo['send'] = (order, transfer) => handle.send(order, transfer)
    this.peers.enter({ worker, slot: spec.index, row, address, label, send }, hold)
  }

  #serves(
    { worker, row, spec }: WorkerHandle,
    { service, path, topics, queued }: Extract<FromWorker, { type: 'started' }>,
  ): void {
    // Not earlier: a peer that does not know yet that the row's previous worker has ended would
    // take the freed slots.
    this.instances.freeAbandoned(row)
    const hosted = spec.hosts.find(({ name }) => name === service)
    // A program that forges messages of its worker must not direct peers to the sockets of another
    // one.
    const own = path?.startsWith(this.#folder.socketOf(worker)) === true ? path : undefined
    if (hosted !== undefined) this.peers.serves(worker, { ...hosted, path: own, topics, queued })
  }

  #observed(handle: WorkerHandle, message: Observation): void {
    if (message.type !== 'pathTemplates') return this.observations.receive(handle, message)
    // A program that forges messages of its worker must not name the calls of other services.
    const order = handle.spec.hosts.some(({ name }) => name === message.service) && this.#templates.report(message)
    if (!order) return
    for (const worker of this.#alive) worker.send(order)
    this.#parts.templates(this.#templates.all)
  }

  /** Modules that the flags of a process load can change what its own probes find. */
  #compareAccelerators({ spec }: WorkerHandle, states: readonly AcceleratorState[]): void {
    const text = acceleratorsText(states)
    if (text !== acceleratorsText(this.#accelerators))
      this.#log('warn', `accelerators of worker ${workerLabel(spec)} ${text}`)
  }

  #abandoned(call: AbandonedCall): void {
    const callee = [...this.#alive].find(({ worker }) => worker === call.peer)
    if (callee !== undefined && mayBeEnded(callee.spec, this.#parts.app().services)) this.abandoned.add(call)
  }

  #log(level: 'info' | 'warn', line: string): void {
    this.#parts.options.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line, worker: undefined })
  }
}

/** Why peers can no longer call a worker. */
function reasonOf(spec: SlotSpec, { why, text, service }: WorkerExit): ErrorRecord {
  const code = why === 'stop' ? 'SERVICE_UNAVAILABLE' : 'WORKER_DIED'
  return { code, message: `worker ${workerLabel(spec)} ended: ${text}`, ...(service !== undefined && { service }) }
}
