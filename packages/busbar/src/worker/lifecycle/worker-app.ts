import type { Socket } from 'node:net'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import { isRawEntry, type Service } from '../../config/app.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { ConnectionForwarder } from '../../mesh/forwarding/connection-forwarder.ts'
import type { Peers } from '../../mesh/peers.ts'
import type { WorkerCells } from '../../shared/metrics/worker-cells.ts'
import type { ListenerSpec, Order, Readiness, ServiceReport, TlsMaterial } from '../../shared/control-messages.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import { callableNames } from '../../shared/hosts.ts'
import { needsUnmet, notServedIn, timeToServe } from '../../shared/service-needs.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { Attachments } from '../accelerators.ts'
import type { EntranceRegistration } from '../entrance-registration.ts'
import { Listeners } from '../listeners.ts'
import type { ConnectionSink } from '../../mesh/sockets/instance/connection-sink.ts'
import { drain, Releases } from './drain.ts'
import type { HostedService } from '../hosted-service.ts'
import type { ProgramProcess } from '../sandbox/process/program-process.ts'
import { startInOrder } from './dependency-order.ts'
import type { openGateway } from './open-gateway.ts'
import type { ServiceHealth } from './service-health.ts'
import { startService, type StartServiceParts } from './start-service.ts'
import { ReusePortListeners } from '../reuse-port.ts'
import type { Metering } from '../reporting/metering.ts'
import type { PeerServices } from './peer-services.ts'
import type { Outbox } from '../reporting/outbox.ts'
import type { WorkerHosts } from '../worker-hosts.ts'
import type { SlowStartSpec } from '../../shared/slow-start.ts'

/** Milliseconds in which links close if there is time. A NATS server may not answer any more. */
const longestClose = 1_000

/**
 * Links end after services: one in another worker may answer until the same moment, and this worker
 * passes its answer on. `answers` and `close`: milliseconds after the `timeout` of the stop.
 * Together they fit into those after which the supervisor ends the worker: a sixth of `timeout`, at
 * most 500 (`drain` in supervisor/workers/worker-handle.ts).
 */
function lastOfLinks(timeout: number): { readonly answers: number; readonly close: number } {
  return { answers: Math.min(300, timeout / 10), close: Math.min(150, timeout / 20) }
}

/** The parts of a worker that exist before its app is assembled. */
export interface WorkerParts {
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly outbox: Outbox
}

export interface WorkerAppParts extends WorkerParts, StartServiceParts {
  /** The services that this worker hosts. */
  readonly services: readonly Service[]
  readonly peerServices: PeerServices
  readonly peers: Peers
  readonly hosts: WorkerHosts
  readonly forwarder: ConnectionForwarder
  readonly attachments: Attachments
  /** Undefined if this worker has no gateway. */
  readonly openGateway?: typeof openGateway
}

type StopOrder = Extract<Order, { type: 'stop' }>

/** The part of the app that this worker hosts. */
export class WorkerApp {
  readonly peerServices: PeerServices
  readonly hosts: WorkerHosts
  readonly #parts: WorkerAppParts
  #hosted: ReadonlyMap<string, HostedService> = new Map()
  readonly #health = new Map<string, ServiceHealth>()
  #readiness: Readiness
  #gateway: Gateway | undefined
  #listeners: Listeners | undefined
  /**
   * The private ports for callers outside the workers. They accept for the worker's whole life: a
   * service may be called while others start, and may call while it stops.
   */
  readonly #callListeners: Listeners
  #reusePort: ReusePortListeners | undefined
  #entrance: EntranceRegistration | undefined
  #joinEntrance: (() => EntranceRegistration) | undefined
  #tls: TlsMaterial | undefined
  readonly #releases = new Releases()
  #stopping: Promise<void> | undefined

  constructor(parts: WorkerAppParts) {
    this.#parts = parts
    this.peerServices = parts.peerServices
    this.hosts = parts.hosts
    this.#tls = parts.init.tls
    // A held worker is a successor in an app that serves. Under `accept: 'reusePort'` it answers
    // probes before the supervisor has said so.
    this.#readiness = { phase: parts.init.isHeld ? 'running' : 'starting', unready: [], unhealthy: [] }
    this.#callListeners = new Listeners(parts.forwarder.listeners, parts.cells)
  }

  /** Rejects with the error of the first service that does not start. */
  async start(): Promise<ServiceReport[]> {
    const { init, services, cells, attachments } = this.#parts
    this.#hosted = await startInOrder(
      services,
      (service) => this.#startService(service),
      (needed, by) => this.#waitForPeer(needed, by),
    )
    this.#gateway = await this.#openGateway()
    this.#listeners = new Listeners(this.#connectionSinks(), cells, attachments['batch-writes'])
    if (init.app.accept === 'reusePort') this.#reusePort = await this.#openReusePort(this.#listeners)
    this.#joinEntrance = await this.#openEntrance()
    if (!init.isHeld) await this.announced()
    return services.map(({ name }) => this.#hosted.get(name)!.report)
  }

  /** The worker takes part in what the app serves from now on. */
  async announced(slowStart?: SlowStartSpec): Promise<void> {
    this.#entrance ??= this.#joinEntrance?.()
    if (slowStart !== undefined) this.#entrance?.startSlowly(slowStart.window)
    await this.hosts.announced()
  }

  /** Undefined for a worker that gets no requests from the native entrance. */
  async #openEntrance(): Promise<(() => EntranceRegistration) | undefined> {
    const { app, entrance } = this.#parts.init
    const gateway = this.#gateway
    const entry = isRawEntry(app) ? this.#hosted.get(app.gateway.entry!) : undefined
    const accept = gateway?.acceptVirtual.bind(gateway) ?? entry?.accept.bind(entry)
    if (entrance === undefined || accept === undefined) return undefined
    const { joinerOf } = await import('../entrance-registration.ts')
    return joinerOf(
      entrance,
      { accept, serveCall: gateway?.serveCall, serveRequest: gateway?.serveRequest },
      entry,
      entry && this.#health.get(entry.service),
    )
  }

  async #startService(service: Service): Promise<HostedService> {
    const { hosted, health } = await startService(service, this.#parts)
    if (health !== undefined) this.#health.set(service.name, health)
    return hosted
  }

  async #openReusePort(listeners: Listeners): Promise<ReusePortListeners> {
    const { app, listeners: all } = this.#parts.init
    const specs = all.filter(({ id }) => listeners.has(id))
    const counts = this.#parts.metering.refusals
    return await ReusePortListeners.open({ app, specs, listeners, isTls: (spec) => this.#isTls(spec), counts })
  }

  async #openGateway(): Promise<Gateway | undefined> {
    return await this.#parts.openGateway?.(this.#parts, { tls: this.#tls, readiness: () => this.#readiness })
  }

  #isTls({ serves }: ListenerSpec): boolean {
    const { app } = this.#parts.init
    if (serves.kind === 'export') return app.export?.protocol === 'tls'
    if (serves.kind !== 'service' && !isRawEntry(app)) return serves.kind === 'gateway' && this.#tls !== undefined
    const service = serves.kind === 'service' ? serves.service : app.gateway.entry
    return this.#hosted.get(service!)?.report.tls === true
  }

  /** Rejects with NEEDS_UNMET if no peer serves `needed` in time. */
  async #waitForPeer(needed: string, by: Service): Promise<void> {
    const limit = timeToServe(by, this.#parts.init.app.services)
    if (await this.peerServices.waitFor(needed, limit)) return
    throw restoreError(needsUnmet(by.name, needed, notServedIn(limit)))
  }

  /** A service that runs in this worker. Throws SERVICE_UNAVAILABLE before it serves. */
  hosted(service: string): HostedService {
    const hosted = this.#hosted.get(service)
    if (hosted !== undefined) return hosted
    throw new BusbarError('SERVICE_UNAVAILABLE', { message: `service '${service}' does not serve yet`, service })
  }

  /** The view of `process` that the service's code has. */
  programOf(service: string): ProgramProcess | undefined {
    return this.#parts.sandbox.programs.of(service)
  }

  /** A successor serves, too: half of the clients connect again, some of them to it. */
  shareConnections(): void {
    this.#gateway?.shareConnections()
    for (const service of this.#hosted.values()) service.shareConnections?.()
  }

  /** Accepts a connection that the supervisor transferred. */
  accept(listenerId: string, socket: Socket): void {
    const listeners = this.#callListeners.has(listenerId) ? this.#callListeners : this.#listeners
    if (listeners === undefined) socket.destroy()
    else listeners.acceptTransferred(listenerId, socket)
  }

  setTls(tls: TlsMaterial): void {
    this.#tls = tls
    this.#gateway?.setTls(tls)
  }

  /** Other services of the app have appeared, changed their limits or gone. */
  updateServices({ services, places }: Extract<Order, { type: 'services' }>): void {
    const { metering, limits, router } = this.#parts
    metering.update(services, places)
    limits.update(services)
    router.update(callableNames({ services, remotes: this.#parts.init.app.remotes }), limits.limited)
  }

  setReadiness(readiness: Readiness): void {
    this.#readiness = readiness
  }

  /** The thread is about to end. Answers of this turn are still sent, as they have been counted. */
  fail(error: BusbarError): void {
    this.#entrance?.abandon()
    this.#gateway?.fail(error, this.#entrance !== undefined)
  }

  /** Lets the service stop: no service that needs it runs any more. */
  release(service: string): void {
    this.#releases.set(service)
  }

  /** Drains and stops the services in time. A second call returns the promise of the first. */
  stop(order: StopOrder): Promise<void> {
    this.#stopping ??= this.#stop(order)
    return this.#stopping
  }

  /**
   * Links close last: requests in flight may still call other workers and are answered over links.
   */
  async #stop({ timeout, quiet, inOrder }: StopOrder): Promise<void> {
    const { init, services, peers, hosts, limits, metering, outbox } = this.#parts
    const deadline = performance.now() + timeout
    await hosts.drain(timeout / 2, inOrder)
    await drain({
      services,
      all: init.app.services,
      hosted: this.#hosted,
      gateway: this.#gateway,
      entrance: this.#entrance,
      inOrder,
      ports: this.#reusePort?.ports ?? [],
      timeout: Math.max(0, deadline - performance.now()),
      quiet,
      webSockets: {
        after: Math.min(init.app.limits.webSocketDrain, timeout / 2),
        code: inOrder ? 1001 : 1012,
        quiet,
      },
      released: async (service) => (inOrder ? await this.#releases.until(service) : undefined),
      draining: (service) => {
        this.#health.get(service)?.stop()
        metering.of(service).state = 'draining'
      },
      closed: (service) => outbox.post({ type: 'closed', service }),
    })
    await this.#stopForwarder({ timeout: deadline - performance.now(), quiet }, inOrder)
    limits.close()
    this.#reusePort?.closeRefused()
    const stopped = { code: 'SERVICE_UNAVAILABLE', message: `worker ${init.slot} has stopped` } as const
    const last = lastOfLinks(timeout)
    const left = deadline + last.answers - performance.now()
    await Promise.all([hosts.finish(left), peers.finish(Math.min(longestClose, left))])
    await hosts.close(stopped, Math.max(last.close, Math.min(longestClose, deadline - performance.now())))
    await peers.close(stopped)
  }

  /**
   * When the whole app stops, waits until all services are released: a command may call others
   * while it stops.
   */
  async #stopForwarder({ timeout, quiet }: StopTimes, inOrder: boolean): Promise<void> {
    const { init, forwarder } = this.#parts
    const deadline = performance.now() + timeout
    const released = init.app.services.map(({ name }) => this.#releases.until(name))
    if (inOrder && (init.kind === 'shared' || forwarder.isBusy))
      await settlesWithin(Math.max(0, timeout / 2), [Promise.all(released)])
    const left = Math.max(0, deadline - performance.now())
    // If only this worker is replaced, callers go on calling.
    await forwarder.stop({ timeout: left, quiet: inOrder ? quiet : Math.max(quiet, left / 2) })
  }

  /** The sinks of this worker's public ports, by the id of the listener. */
  #connectionSinks(): Map<string, ConnectionSink> {
    const { listeners, app } = this.#parts.init
    return new Map(
      listeners.flatMap(({ id, port, serves }): [string, ConnectionSink][] => {
        const { exported } = this.#parts.hosts
        if (serves.kind === 'export') return exported === undefined ? [] : [[id, exported]]
        const service = serves.kind === 'service' ? serves.service : app.gateway.entry
        const hosted = serves.kind === 'gateway' && !isRawEntry(app) ? undefined : this.#hosted.get(service!)
        const ofGateway = serves.kind === 'redirect' ? this.#gateway?.redirect : (hosted ?? this.#gateway)
        const sink = serves.kind === 'service' ? hosted?.sinkFor(port) : ofGateway
        return sink === undefined ? [] : [[id, sink]]
      }),
    )
  }
}
