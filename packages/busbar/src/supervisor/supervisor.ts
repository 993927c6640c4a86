import type { App } from '../config/app.ts'
import type { AppStatus } from '../observe/app-status.ts'
import type { CallAccess } from '../shared/calls/call-access.ts'
import type { Readiness } from '../shared/control-messages.ts'
import { descriptorLimit, reserveDescriptors } from '../shared/process/descriptors.ts'
import { enterFolder } from '../shared/process/program-environment.ts'
import { AppCertificates } from './accept/app-certificates.ts'
import { CallPorts } from './accept/call-ports.ts'
import { PublicPorts } from './accept/public-ports.ts'
import { openAdmin } from './admin/admin.ts'
import { StatusCollector } from './admin/status/status-collector.ts'
import { AppCluster } from './cluster/app-cluster.ts'
import { Generations } from './generations/generations.ts'
import type { Change, InstanceCount, Outdated } from './generations/changes.ts'
import { Operations } from './generations/operations.ts'
import { SlotTable } from './generations/slot-table.ts'
import { pauseQueue } from './app-queue.ts'
import { openAutoscaler } from './scaling/autoscaler.ts'
import { mostAdded } from './scaling/scalables.ts'
import { Lifetime, openOrStop } from './lifetime.ts'
import { leaveCallers } from './peers/leave-callers.ts'
import { type Plan, planApp, type SlotSpec } from './plan.ts'
import { Pulse } from './pulse.ts'
import { AppReadiness } from './readiness.ts'
import { Caretaker } from './renewals/caretaker.ts'
import type { EndReason, OpenAddress, RunningApp, StartOptions } from './running-app.ts'
import { AppSchedule } from './schedule/app-schedule.ts'
import { startSlots } from './start-slots.ts'
import { leaveLimit, timingOf, type Timing } from './timing.ts'
import { watchOverdueCalls } from './watchdogs/overdue-calls.ts'
import { watchStuckWorkers } from './watchdogs/stuck-workers.ts'
import { Launcher } from './workers/launcher.ts'
import { moreSlots } from './workers/shared-rows.ts'
import { WorkerSlot } from './workers/worker-slot.ts'
import type { WorkerStatus } from './workers/worker-status.ts'

/**
 * Starts the app. Resolves when every service of every worker answers and the ports are open.
 * Rejects with the first error, a service's own if there is one, after everything that had started
 * has closed.
 */
export async function startSupervisor(app: App, options: StartOptions): Promise<RunningApp> {
  const supervisor = new Supervisor(app, options)
  await supervisor.start()
  return supervisor
}

class Supervisor implements RunningApp {
  readonly #options: StartOptions
  readonly #timing: Timing
  readonly #pulse = new Pulse()
  readonly #launcher: Launcher
  readonly #slots: SlotTable
  readonly #generations: Generations
  readonly #openAutoscaler: () => () => void
  readonly #operations: Operations
  readonly #callPorts: CallPorts
  readonly #ports: PublicPorts
  readonly #status: StatusCollector
  readonly #schedule: AppSchedule
  readonly #readiness: AppReadiness
  readonly #caretaker: Caretaker
  readonly #cluster: AppCluster
  readonly #lifetime = new Lifetime()
  #app: App
  adminUrls: readonly string[] = []
  pageUrl: string | undefined
  readonly #certificates = new AppCertificates()
  #plan: Plan

  constructor(app: App, options: StartOptions) {
    this.#app = app
    this.#options = options
    this.#timing = timingOf(() => this.#app, options.timing)
    this.#plan = planApp(app)
    const maxSlots = this.#plan.slots.length + moreSlots + mostAdded(app)
    const descriptors = descriptorLimit()
    reserveDescriptors(descriptors)
    const common = { app: () => this.#app, timing: this.#timing, pulse: this.#pulse, log: this.#log.bind(this) }
    this.#launcher = new Launcher({
      ...common,
      descriptors,
      maxSlots,
      options,
      listeners: () => this.#ports.specs,
      tls: () => (this.#ports.entrance === undefined ? this.#certificates.tls : undefined),
      identity: () => this.#certificates.identity,
      entrance: () => this.#ports.entrance?.access,
      separate: (instances) => this.#ports.entrance?.setInstances(instances),
      templates: (all) => this.#ports.entrance?.setTemplates(all),
      calls: () => this.#callPorts.access,
      reachable: () => this.#readiness.review(),
      health: (...report) => this.#caretaker.health(...report),
      returned: (id, handle) => this.#callPorts.retry(id, handle) || this.#ports.retry(id, handle),
    })
    this.#lifetime.own(() => this.#launcher.close()) // It already has a folder for sockets.
    this.#slots = new SlotTable(this.#plan.slots.map((spec) => this.#createSlot(spec, app)))
    this.#ports = new PublicPorts({
      ...common,
      plan: this.#plan,
      slots: () => this.#slots.all,
      hasCertificates: () => this.#certificates.tls !== undefined,
      entrance: options.entrance,
    })
    this.#callPorts = new CallPorts({ ...common, app, workers: () => this.#slots.workers })
    const parts = { ...common, slots: this.#slots, launcher: this.#launcher, host: this.#launcher.host }
    this.#generations = new Generations({
      ...parts,
      ports: this.#ports,
      callPorts: this.#callPorts,
      maxSlots,
      createSlot: (spec, next) => this.#createSlot(spec, next),
      activate: (next) => {
        ;[this.#app, this.#plan] = [next, planApp(next)]
        this.#schedule.use(next)
        this.#caretaker.update()
      },
      stopping: this.#lifetime.ending,
      sideBySide: options.mode === 'start',
    })
    this.#operations = new Operations(options.load, this.#generations)
    this.#openAutoscaler = () => openAutoscaler({ ...parts, generations: this.#generations })
    this.#cluster = new AppCluster({ ...parts, status: () => this.status() })
    this.#schedule = new AppSchedule({ ...parts, options, callPorts: this.#callPorts, cluster: this.#cluster })
    this.#readiness = new AppReadiness({ ...parts, entered: (phase) => this.#cluster.entered(phase) })
    this.#caretaker = new Caretaker({ ...parts, generations: this.#generations, changed: () => this.#review() })
    this.#status = new StatusCollector({
      ...parts,
      cluster: this.#cluster,
      workers: () => this.workers,
      ports: () => this.#ports,
      schedule: () => this.#schedule.stats,
      readiness: () => this.readiness,
    })
  }

  get app(): App {
    return this.#app
  }

  get plan(): Plan {
    return this.#plan
  }

  get addresses(): readonly OpenAddress[] {
    return this.#ports.addresses
  }

  get workers(): readonly WorkerStatus[] {
    return this.#slots.current.map((slot) => slot.status)
  }

  get readiness(): Readiness {
    return this.#readiness.current
  }

  status(): AppStatus {
    return this.#status.read()
  }

  get calls(): CallAccess {
    return this.#callPorts.access
  }

  get hung(): number {
    return this.#launcher.hung
  }

  get ended(): Promise<EndReason> {
    return this.#lifetime.ended
  }

  async start(): Promise<void> {
    await openOrStop(this.#options.signal, this.#open.bind(this), () => this.stop())
  }

  stop(): Promise<void> {
    return this.#end({ why: 'stopped' })
  }

  replace(next: App = this.#app, outdated: Outdated = 'all'): Promise<Change> {
    return this.#generations.change(() => next, outdated)
  }

  reload(service?: string): Promise<Change> {
    return this.#operations.reload(service)
  }

  scale(service: string, instances: InstanceCount): Promise<Change> {
    return this.#operations.scale(service, instances)
  }

  readonly move: RunningApp['move'] = (service, to) => this.#operations.move(service, to)
  readonly moveTogether: RunningApp['moveTogether'] = (moves) => this.#operations.moveTogether(moves)

  /** Each step registers its close before it opens, so that a stop during the start finds it. */
  async #open(): Promise<void> {
    const { folder } = this.#plan
    if (folder !== undefined && this.#options.staysInFolder !== true) this.#lifetime.use(() => enterFolder(folder))
    const probes = this.#launcher.probeAccelerators()
    const probed = probes.catch(() => {})
    this.#lifetime.own(() => probed)
    await this.#certificates.read(this.#app)
    await this.#openAdmin()
    this.#lifetime.own(await this.#launcher.observations.export(() => this.status()))
    this.#lifetime.use(() => this.#cluster.open())
    // Before the first worker: services may call each other while they start.
    this.#lifetime.own(() => this.#callPorts.close())
    await this.#callPorts.open()
    this.#lifetime.own(() => this.#ports.closeEntrance())
    this.#ports.openEntrance(this.#certificates.tls)
    const { release } = await this.#ports.reserve()
    try {
      await probes
      await this.#startWorkers()
    } finally {
      await release()
    }
    this.#lifetime.own(() => this.#ports.close())
    await this.#ports.open()
    this.#watchCertificates()
    this.#lifetime.own(() => pauseQueue({ app: () => this.#app, workers: () => this.#slots.workers }))
    this.#lifetime.use(() => this.#schedule.open())
    this.#lifetime.use(() => this.#caretaker.open())
    this.#lifetime.use(this.#openAutoscaler)
    this.#readiness.enter('running')
    this.#generations.begin()
  }

  /** First, so that `busbar ps` can show a start that hangs. */
  async #openAdmin(): Promise<void> {
    this.#lifetime.use(() => this.#status.watch())
    const { command, mode, requestStop = () => void this.stop() } = this.#options
    const { observations, totals } = this.#launcher
    const own = { running: this, observations, edges: () => totals.edges, requestStop }
    const opening = openAdmin(this.#app, {
      ...this.#options,
      ...own,
      workers: () => this.#slots.workers,
      command: command && { ...command, mode },
      warn: (line) => this.#log('warn', line),
    })
    this.#lifetime.own(() => opening.then((admin) => admin.close()).catch(() => {}))
    ;({ urls: this.adminUrls, pageUrl: this.pageUrl } = await opening)
  }

  async #startWorkers(): Promise<void> {
    this.#lifetime.use(() => watchStuckWorkers(this.#slots, this.#pulse, this.#timing))
    const parts = { slots: () => this.#slots.current, app: () => this.#app, interval: this.#timing.overdue }
    this.#lifetime.use(() => watchOverdueCalls({ ...parts, launcher: this.#launcher }))
    this.#lifetime.own(() => {
      this.#launcher.stopInOrder(this.#app)
      return Promise.all(this.#slots.all.map((slot) => slot.stop(this.#app.stopTimeout)))
    })
    await startSlots(this.#slots.current, this.#app, () => this.#lifetime.ending.aborted)
    for (const slot of this.#slots.current) slot.keepSpare()
  }

  #watchCertificates(): void {
    this.#lifetime.own(() => this.#certificates.close())
    const parts = { slots: () => this.#slots.all, log: this.#log.bind(this), on: this.#options.on }
    this.#certificates.watch(this.#timing.certificates, { ...parts, entrance: () => this.#ports.entrance })
  }

  /** Probes fail first. An app that serves continues to serve for `stopDelay`. */
  #end(reason: EndReason): Promise<void> {
    const delay = this.#readiness.stopDelay(reason, this.#options.mode)
    return this.#lifetime.end(reason, delay, () => this.#readiness.enter('stopping'))
  }

  #createSlot(spec: SlotSpec, app: App): WorkerSlot {
    return new WorkerSlot(app, {
      spec,
      mode: this.#options.mode,
      timing: this.#timing,
      launch: (...start) => this.#launcher.launch(...start),
      announce: ({ worker }, slowStart) => this.#launcher.peers.announce(worker, slowStart),
      leave: ({ worker, spec }) =>
        leaveCallers(worker, this.#launcher.peers, this.#ports.entrance, leaveLimit(spec, this.#app, this.#timing)),
      log: (level, line) => this.#log(level, line),
      changed: (slot) => this.#changed(slot),
    })
  }

  #changed({ status: worker }: WorkerSlot): void {
    this.#review()
    if (worker.state === 'givenUp') void this.#end({ why: 'failed', error: worker.error })
    this.#options.on?.({ type: 'worker', worker })
  }

  #review(): void {
    this.#callPorts.review()
    this.#ports.review()
    this.#readiness.review()
  }

  #log(level: 'info' | 'warn' | 'error', line: string): void {
    this.#options.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line, worker: undefined })
  }
}
