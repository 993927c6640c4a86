import { BusbarError, type ErrorRecord } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { AppStatus } from '../observe/status.ts'
import type { CallAccess } from '../shared/call-access.ts'
import type { ListenerSpec } from '../shared/control.ts'
import { CallPorts } from './accept/call-ports.ts'
import { descriptorLimit, reserveDescriptors } from '../shared/descriptors.ts'
import { PublicPorts } from './accept/public-ports.ts'
import { openAdmin } from './admin/admin.ts'
import { Certificates } from './accept/certificates.ts'
import { Figures } from './admin/figures.ts'
import { Launcher } from './launcher.ts'
import { unmetNeed } from './needs.ts'
import { canRestartInto, type Place, type Plan, planApp } from './plan.ts'
import type { AppEvent, EndReason, OpenAddress, RunningApp, StartOptions, WorkerStatus } from './running.ts'
import { WorkerSlot } from './slot.ts'
import { defaultTiming, type Timing } from './timing.ts'
import { watch } from './watchdog.ts'
import { watchOverdue } from './overdue.ts'

/**
 * Starts the app and resolves when every service of every worker answers and the ports are open. Rejects with the
 * first error, the service's own, after closing whatever had started.
 */
export async function startApp(app: App, options: StartOptions): Promise<RunningApp> {
  const supervisor = new Supervisor(app, options)
  await supervisor.start()
  return supervisor
}

/** Why a worker that hands over to its successor takes no more calls. */
const replaced: ErrorRecord = { code: 'SERVICE_UNAVAILABLE', message: 'the worker is being replaced' }

class Supervisor implements RunningApp {
  readonly plan: Plan
  readonly #options: StartOptions
  readonly #timing: Timing
  readonly #launcher: Launcher
  readonly #slots: readonly WorkerSlot[]
  readonly #callPorts: CallPorts
  readonly #ports: PublicPorts
  readonly #figures: Figures
  readonly #ended = Promise.withResolvers<EndReason>()
  /** Closed in reverse order of opening. */
  readonly #owned = new AsyncDisposableStack()
  #app: App
  #addresses: readonly OpenAddress[] = []
  #adminUrls: readonly string[] = []
  #certificates: Certificates | undefined
  #stopping: Promise<void> | undefined
  #restarting: Promise<void> = Promise.resolve()

  constructor(app: App, options: StartOptions) {
    this.#app = app
    this.#options = options
    this.#timing = { ...defaultTiming, ...options.timing }
    this.plan = planApp(app)
    const descriptors = descriptorLimit()
    reserveDescriptors(descriptors)
    this.#launcher = new Launcher({
      app,
      descriptors,
      places: this.plan.places,
      options,
      timing: this.#timing,
      listeners: () => this.#ports.specs,
      tls: () => this.#certificates?.current,
      calls: () => this.#callPorts.access,
      returned: (listener, handle) => {
        if (!this.#callPorts.again(listener, handle)) this.#ports.again(listener, handle)
      },
    })
    this.#slots = this.plan.places.map((place) => this.#createSlot(place))
    this.#ports = new PublicPorts({
      app: () => this.#app,
      plan: this.plan,
      slots: () => this.#slots,
      hasCertificates: () => this.#certificates !== undefined,
      timing: this.#timing,
      say: (level, line) => this.#say(level, line),
    })
    this.#callPorts = new CallPorts({
      app,
      workers: () => this.#slots.flatMap((slot) => slot.workers),
      timing: this.#timing,
      say: (level, line) => this.#say(level, line),
    })
    const { cells, instances, ledger } = this.#launcher
    this.#figures = new Figures({
      app,
      cells,
      instances,
      ledger,
      accelerators: () => this.#launcher.accelerators ?? [],
      workers: () => this.workers,
    })
  }

  get app(): App {
    return this.#app
  }

  get addresses(): readonly OpenAddress[] {
    return this.#addresses
  }

  get workers(): readonly WorkerStatus[] {
    return this.#slots.map((slot) => slot.status)
  }

  get adminUrls(): readonly string[] {
    return this.#adminUrls
  }

  status(): AppStatus {
    return this.#figures.read()
  }

  get calls(): CallAccess {
    return this.#callPorts.access
  }

  get hung(): number {
    return this.#launcher.hung
  }

  get ended(): Promise<EndReason> {
    return this.#ended.promise
  }

  async start(): Promise<void> {
    const { signal } = this.#options
    const abort = (): void => void this.stop()
    signal?.addEventListener('abort', abort)
    try {
      signal?.throwIfAborted()
      await this.#open()
    } catch (error) {
      await this.stop()
      throw signal?.aborted === true ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  stop(): Promise<void> {
    return this.#end({ why: 'stopped' })
  }

  restart(next: App = this.#app, services?: readonly string[]): Promise<void> {
    const before = this.#restarting
    const done = (async () => {
      await before
      await this.#restart(next, services)
    })()
    this.#restarting = done.catch(() => {})
    return done
  }

  /** Each step's closing is registered before it opens, so that a stop in the middle finds it. */
  async #open(): Promise<void> {
    this.#enterFolder()
    await this.#readCertificates()
    await this.#openAdmin()
    await this.#openCallPorts()
    const { release } = await this.#ports.reserve()
    try {
      await this.#startWorkers()
    } finally {
      await release()
    }
    this.#own(() => this.#ports.close())
    await this.#ports.open()
    this.#addresses = this.#ports.specs.map((spec) => this.#toAddress(spec))
    this.#watchCertificates()
  }

  /** A thread has no working directory of its own: it sees the process's, which one service can have for itself. */
  #enterFolder(): void {
    if (this.plan.folder === undefined || this.#options.staysInFolder === true) return
    const before = process.cwd()
    this.#own(() => process.chdir(before))
    process.chdir(this.plan.folder)
  }

  async #readCertificates(): Promise<void> {
    const { tls } = this.#app.gateway
    if (tls !== undefined) this.#certificates = await Certificates.read(tls)
  }

  /** First, so that a start that does not come to its end can be looked at. */
  async #openAdmin(): Promise<void> {
    this.#own(this.#figures.watch())
    const { adminFolder } = this.#options
    const opening = openAdmin(this.#app, adminFolder, {
      status: () => this.status(),
      warn: (line) => this.#say('warn', line),
    })
    this.#own(() => opening.then((admin) => admin.close()).catch(() => {}))
    this.#adminUrls = (await opening).urls
  }

  /** Before there is a worker: services may call each other while they start. */
  async #openCallPorts(): Promise<void> {
    this.#own(() => this.#callPorts.close())
    await this.#callPorts.open()
  }

  async #startWorkers(): Promise<void> {
    this.#own(() => this.#launcher.close())
    this.#own(watch(() => this.#slots.flatMap((slot) => slot.workers), this.#timing.watch))
    this.#watchOverdue()
    this.#own(() => {
      this.#launcher.stopInOrder(this.#app)
      return Promise.all(this.#slots.map((slot) => slot.stop(this.#app.stopTimeout)))
    })
    await Promise.all(this.#slots.map((slot) => slot.start()))
    for (const slot of this.#slots) slot.keepSpare()
  }

  #watchOverdue(): void {
    const { instances, givenUp } = this.#launcher
    const { overdue: interval } = this.#timing
    this.#own(watchOverdue({ slots: this.#slots, app: () => this.#app, instances, givenUp, interval }))
  }

  #watchCertificates(): void {
    const certificates = this.#certificates
    if (certificates === undefined) return
    this.#own(() => certificates.close())
    certificates.watch(this.#timing.certificates, {
      changed: (tls) => {
        for (const slot of this.#slots) slot.setTls(tls)
        this.#say('info', 'the new certificate is in use')
        this.#tell({ type: 'tls', outcome: 'reloaded' })
      },
      refused: (error) => {
        this.#say('error', `the certificate stays as it was: ${error.message}`)
        this.#tell({ type: 'tls', outcome: 'refused' })
      },
    })
  }

  async #restart(next: App, services?: readonly string[]): Promise<void> {
    if (this.#stopping !== undefined) return
    if (!canRestartInto(this.#app, next))
      throw new BusbarError('INTERNAL', { message: 'ports, workers or the order of services changed: stop and start' })
    const hosts = ({ place }: WorkerSlot): boolean => place.hosts.some(({ name }) => services!.includes(name))
    const slots = this.#slots.filter((slot) => services === undefined || hosts(slot))
    const down = slots.filter(({ serving }) => serving === undefined)
    // Those that do not serve first, and side by side: others may need them, and they each other.
    await allDone(down.map((slot) => this.#restartSlot(slot, next, down)))
    for (const slot of slots) if (!down.includes(slot)) await this.#restartSlot(slot, next)
    this.#app = next
  }

  /** `meanwhile`: those that are brought back at the same time. */
  async #restartSlot(slot: WorkerSlot, next: App, meanwhile: readonly WorkerSlot[] = []): Promise<void> {
    const others = this.#slots.filter((other) => !meanwhile.includes(other)).map(({ status }) => status)
    const unmet = unmetNeed(slot.place.hosts, next.services, others)
    if (unmet !== undefined) throw unmet
    await slot.restart(next)
  }

  #end(reason: EndReason): Promise<void> {
    this.#stopping ??= this.#owned.disposeAsync().then(() => this.#ended.resolve(reason))
    return this.#stopping
  }

  #own(close: () => unknown): void {
    if (this.#stopping !== undefined) throw new BusbarError('INTERNAL', { message: 'stopped while it started' })
    this.#owned.defer(async () => void (await close()))
  }

  #createSlot(place: Place): WorkerSlot {
    return new WorkerSlot(this.#app, {
      place,
      mode: this.#options.mode,
      timing: this.#timing,
      launch: (place, row, app, isHeld) => this.#launcher.launch(place, row, app, isHeld),
      announce: ({ worker }) => this.#launcher.introductions.announce(worker),
      leaves: ({ worker }) => this.#launcher.introductions.leave(worker, replaced, this.#timing.parting),
      say: (level, line) => this.#say(level, line),
      changed: (slot) => this.#changed(slot),
    })
  }

  #changed(slot: WorkerSlot): void {
    const { status } = slot
    this.#callPorts.review()
    this.#ports.review()
    if (status.state === 'givenUp') void this.#end({ why: 'failed', error: status.error })
    this.#tell({ type: 'worker', worker: status })
  }

  #toAddress(spec: ListenerSpec): OpenAddress {
    const protocol = spec.serves.kind === 'gateway' && this.#certificates !== undefined ? 'https' : 'http'
    const host = spec.host.includes(':') ? `[${spec.host}]` : spec.host
    return { ...spec, protocol, url: `${protocol}://${host}:${spec.port}` }
  }

  #tell(event: AppEvent): void {
    this.#options.on?.(event)
  }

  #say(level: 'info' | 'warn' | 'error', line: string): void {
    this.#options.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line, worker: undefined })
  }
}

/** Rejects with the first failure, but not before all have come to their end. */
async function allDone(all: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(all)
  await Promise.all(all)
}
