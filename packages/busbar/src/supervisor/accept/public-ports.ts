import type { Socket } from 'node:net'
import { type App, gatewayOpensConnections, isRawEntry, prefersEntrance, usesEntrance } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { ListenerSpec, TlsMaterial } from '../../shared/control-messages.ts'
import type { EntranceLibrary } from '../../shared/entrance/entrance.ts'
import { hasDescriptors, pairsOfDescriptors } from '../../shared/process/descriptors.ts'
import type { RefusalCount } from '../../shared/metrics/refusals.ts'
import { type Plan, servesPort } from '../plan.ts'
import type { OpenAddress } from '../running-app.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'
import type { Timing } from '../timing.ts'
import { Acceptor } from './acceptor.ts'
import { GatewayEntrance } from './gateway-entrance.ts'
import { logRefusals } from './refusal-log.ts'
import { reservePorts } from './reserve-ports.ts'
import { FallbackListener } from './fallback-listener.ts'

export interface PublicPortsParts {
  readonly app: () => App
  readonly plan: Pick<Plan, 'accept' | 'listeners'>
  readonly slots: () => readonly WorkerSlot[]
  readonly hasCertificates: () => boolean
  /** Loads the native entrance. Undefined if this process has no loader for it. */
  readonly entrance: (() => EntranceLibrary) | undefined
  readonly timing: Timing
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
}

/**
 * The gateway's port and the ports that services expose: which workers accept their connections.
 */
export class PublicPorts {
  readonly #parts: PublicPortsParts
  readonly #acceptor: Acceptor
  readonly #fallback: FallbackListener | undefined
  /** Undefined if the acceptor, or each worker, accepts the gateway's connections. */
  #entrance: GatewayEntrance | undefined
  #stopLogging: () => void = () => {}
  #specs: readonly ListenerSpec[]
  #maxConnectionsAtGateway = Infinity
  #isOpen = false

  constructor(parts: PublicPortsParts) {
    const { timing, log, plan } = parts
    this.#parts = parts
    this.#specs = plan.listeners
    this.#acceptor = new Acceptor({
      serving: (listenerId) => this.#servingAt(listenerId),
      isReplacing: (listenerId) => this.#slotsAt(listenerId).some(({ isReplacing }) => isReplacing),
      isTls: (listenerId) => this.#isTls(listenerId),
      maxConnectionsAt: (listenerId) => (listenerId === 'gateway' ? this.#maxConnectionsAtGateway : Infinity),
      timing,
      log,
    })
    const isServed = (listenerId: string): boolean =>
      this.#slotsAt(listenerId).some(({ serving }) => serving !== undefined)
    if (plan.accept === 'reusePort')
      this.#fallback = new FallbackListener({ acceptor: this.#acceptor, listeners: () => this.#specs, isServed, log })
  }

  /** With the real port numbers once the ports are open. */
  get specs(): readonly ListenerSpec[] {
    return this.#specs
  }

  /** The open ports; empty before. */
  get addresses(): readonly OpenAddress[] {
    if (!this.#isOpen) return []
    return this.#specs.map((spec) => toOpenAddress(spec, this.#parts.hasCertificates(), this.#parts.app()))
  }

  get entrance(): GatewayEntrance | undefined {
    return this.#entrance
  }

  /** Connections that no worker got, by reason. */
  get refusals(): readonly RefusalCount[] {
    return this.#acceptor.refusals
  }

  /** Before the first worker, which registers with it. `tls`: undefined serves plain HTTP. */
  openEntrance(tls: TlsMaterial | undefined): void {
    const { app, entrance, log } = this.#parts
    if (usesEntrance(app())) return this.#useEntrance(tls)
    if (entrance === undefined || !prefersEntrance(app())) return
    try {
      this.#useEntrance(tls)
    } catch (error) {
      const { code, message, cause, hint = '' } = BusbarError.from(error)
      // Without a binary this is what is expected. One that cannot be loaded is a fault.
      const isMissing = code === 'ENTRANCE_UNAVAILABLE' && cause === undefined
      log(isMissing ? 'info' : 'warn', `the portable gateway serves: ${message}. ${hint}`.trim())
    }
  }

  /**
   * True if the portable gateway serves only because the running config does not prefer the native
   * entrance: a start with `next` would open it. Where it cannot be used, a restart is of no use.
   */
  wouldOpenEntrance(next: App): boolean {
    const { app, entrance } = this.#parts
    if (this.#entrance !== undefined || entrance === undefined) return false
    if (prefersEntrance(app()) || !prefersEntrance(next)) return false
    try {
      return entrance().mismatch === undefined
    } catch {
      return false
    }
  }

  #useEntrance(tls: TlsMaterial | undefined): void {
    const { app, entrance, timing, log } = this.#parts
    const opened = GatewayEntrance.open(app(), entrance, timing, tls)
    if (typeof opened === 'string') return log('warn', opened)
    this.#entrance = opened
    this.#stopLogging = logRefusals(() => opened.stats, log)
  }

  /** Rejects if a port cannot be opened. Reserved ports are held until `release`. */
  async reserve(): Promise<{ release: () => Promise<void> }> {
    const { specs, release } = await reservePorts(this.#specs, this.#fallback !== undefined)
    this.#specs = specs
    return { release }
  }

  /**
   * Called when every worker serves. Under `accept: 'reusePort'` the workers have opened the ports
   * themselves.
   */
  async open(): Promise<void> {
    // Only now: everything that starts has taken the descriptors that it needs.
    this.#limitConnections()
    if (!hasDescriptors()) throw tooFewDescriptors()
    if (this.#fallback === undefined) this.#specs = await Promise.all(this.#specs.map((spec) => this.#open(spec)))
    this.#isOpen = true
    this.#warn()
    this.review()
  }

  #warn(): void {
    const { export: exported } = this.#parts.app()
    if (exported?.protocol === 'tcp')
      this.#parts.log(
        'warn',
        `export.tcp has no TLS: every client that reaches port ${exported.port} may call ${exported.services.join(', ')}`,
      )
  }

  /**
   * Opens the ports of a generation that starts. Connections wait for its workers. Rejects if one
   * cannot be opened.
   */
  async add(listeners: readonly ListenerSpec[]): Promise<void> {
    for (const spec of listeners) {
      if (this.#specs.some(({ id }) => id === spec.id)) continue
      this.#specs = [...this.#specs, await this.#acceptor.open(spec)]
    }
  }

  /** Closes all other ports, and gives the native entrance the routes of the running generation. */
  async keep(listeners: readonly ListenerSpec[]): Promise<void> {
    this.#entrance?.route(this.#parts.app())
    const closing = this.#specs.filter((spec) => !listeners.some(({ id }) => id === spec.id))
    this.#specs = this.#specs.filter((spec) => !closing.includes(spec))
    this.#limitConnections()
    await Promise.all(closing.map(({ id }) => this.#acceptor.closePort(id)))
  }

  /** A worker has begun to serve or has ended, or its health has changed. */
  review(): void {
    if (!this.#isOpen) return
    this.#acceptor.review()
    this.#fallback?.review()
    const isReplacing = this.#slotsAt('gateway').some((slot) => slot.isReplacing)
    this.#entrance?.expectWorker(isReplacing || this.#servingAt('gateway').length > 0)
  }

  /** A connection that was transferred to a worker and came back. */
  retry(listenerId: string, socket: Socket): void {
    this.#acceptor.retry(listenerId, socket)
  }

  /** The connections of the entrance stay open: the workers answer what is in flight. */
  async close(): Promise<void> {
    this.#entrance?.drain()
    await this.#fallback?.close()
    await this.#acceptor.close()
  }

  #limitConnections(): void {
    const isLimited = gatewayOpensConnections(this.#parts.app())
    this.#maxConnectionsAtGateway = isLimited ? Math.max(1, pairsOfDescriptors()) : Infinity
  }

  /** When no worker runs any more. */
  closeEntrance(): void {
    this.#stopLogging()
    this.#entrance?.close()
  }

  async #open(spec: ListenerSpec): Promise<ListenerSpec> {
    const isGateways = spec.serves.kind === 'gateway' || spec.serves.kind === 'redirect'
    return isGateways && this.#entrance !== undefined ? this.#entrance.listen(spec) : await this.#acceptor.open(spec)
  }

  /** The slots whose workers accept the connections of a port. */
  #slotsAt(listenerId: string): readonly WorkerSlot[] {
    const { app, slots } = this.#parts
    const spec = this.#specs.find(({ id }) => id === listenerId)
    return spec === undefined ? [] : slots().filter((slot) => servesPort(slot.spec, spec, app()))
  }

  /** A port leads to healthy instances only. The gateway itself has no health checks. */
  #servingAt(listenerId: string): WorkerHandle[] {
    const service = this.#serviceAt(listenerId)
    return this.#slotsAt(listenerId)
      .flatMap(({ accepting }) => accepting)
      .filter(({ unhealthy }) => service === undefined || !unhealthy.has(service))
  }

  /** The service whose own server gets the connections; undefined: the gateway gets them. */
  #serviceAt(listenerId: string): string | undefined {
    const serves = this.#specs.find(({ id }) => id === listenerId)?.serves
    const app = this.#parts.app()
    if (serves?.kind === 'service') return serves.service
    if (serves?.kind === 'export') return undefined
    return isRawEntry(app) ? app.gateway.entry : undefined
  }

  /** A program that gets raw connections may terminate TLS in its own server. */
  #isTls(listenerId: string): boolean {
    if (listenerId === 'redirect') return false
    const service = this.#serviceAt(listenerId)
    if (service === undefined) return this.#parts.hasCertificates()
    const reports = this.#slotsAt(listenerId).flatMap((slot) => slot.reports)
    return reports.some(({ name, tls }) => name === service && tls === true)
  }
}

/** The app would serve, and refuse every connection. */
function tooFewDescriptors(): BusbarError {
  return new BusbarError('RESOURCE_EXHAUSTED', {
    message: 'the app itself takes all file descriptors that the limit allows: none is left for a connection',
    hint: 'Raise the limit: ulimit -n, or LimitNOFILE of a systemd unit. busbar doctor shows it.',
  })
}

/** `hasCertificates`: the gateway terminates TLS. */
function toOpenAddress(spec: ListenerSpec, hasCertificates: boolean, { export: exported }: App): OpenAddress {
  const { kind } = spec.serves
  const protocol = kind === 'export' ? exported!.protocol : kind === 'gateway' && hasCertificates ? 'https' : 'http'
  const host = spec.host.includes(':') ? `[${spec.host}]` : spec.host
  return { ...spec, protocol, url: `${protocol}://${host}:${spec.port}` }
}
