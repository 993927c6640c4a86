import { WorkerCluster } from '../mesh/cluster/worker-cluster.ts'
import { ExportListener } from '../mesh/hosts/export/export-listener.ts'
import { ExportedLinks } from '../mesh/hosts/export/exported-links.ts'
import type { ExportedService } from '../mesh/hosts/host-hello.ts'
import { RemoteHosts } from '../mesh/hosts/remote-hosts.ts'
import type { MeshContext } from '../mesh/mesh-context.ts'
import type { CallHandler } from '../mesh/links/link.ts'
import type { EventPublisher } from '../mesh/events/event-publisher.ts'
import type { ErrorRecord } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import { AppUse, type OneAppUse } from '../shared/calls/app-use.ts'
import { hostIdOf } from '../shared/cluster/subjects.ts'
import type { WorkerInit } from '../shared/control-messages.ts'
import type { Identity } from '../shared/hosts.ts'
import type { Metering } from './reporting/metering.ts'
import type { Outbox } from './reporting/outbox.ts'
import type { WorkerHosts } from './worker-hosts.ts'

export interface LinkedHostsParts {
  readonly init: WorkerInit
  readonly mesh: MeshContext
  /** Answers calls by the instances of this worker. */
  readonly answer: CallHandler
  readonly events: EventPublisher
  readonly metering: Metering
  readonly outbox: Outbox
  readonly socketPath: () => string
}

/**
 * Milliseconds that a worker waits, before it starts its services, until other apps have been
 * dialled: programs may call them while they start.
 */
const dialTime = 2_000
/** Milliseconds between two reports of the hosts that this worker calls. */
const reportInterval = 1_000

/** This worker's links to other apps: those that it calls, and those that call it. */
export class LinkedHosts implements WorkerHosts {
  /** Undefined if this worker exports nothing at a port. */
  readonly exported: ExportListener | undefined
  readonly #remote: RemoteHosts
  readonly #links: ExportedLinks
  readonly #cluster: WorkerCluster | undefined
  readonly #outbox: Outbox
  readonly #reports: NodeJS.Timeout | undefined
  #identity: Identity | undefined

  constructor(parts: LinkedHostsParts) {
    const { init, mesh, answer, metering, outbox, socketPath } = parts
    const { app, hosts, identity } = init
    const log = (level: 'info' | 'warn', line: string): void =>
      outbox.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line })
    this.#identity = identity
    const { router } = mesh
    const { name, version = '', remotes = [], export: config } = app
    const here = new Set(hosts.map((host) => host.name))
    const loadOf = (service: string): number => (here.has(service) ? metering.of(service).inFlight : 0)
    this.#remote = new RemoteHosts({ app: name, remotes, router, identity: () => this.#identity, socketPath, log })
    this.#links = new ExportedLinks({ mesh, answer, loadOf, useOf: useOfApps(init), log })
    this.#cluster = this.#openCluster(parts, log)
    parts.events.cluster = this.#cluster?.events
    this.#outbox = outbox
    if (remotes.length > 0) this.#reports = setInterval(() => this.#report(), reportInterval).unref()
    if (config === undefined) return
    const services = servicesOf(app)
    this.exported = new ExportListener({ links: this.#links, config, app: name, version, services, identity, log })
  }

  /** Resolves when every host was dialled once, or a while has passed. */
  async dialled(): Promise<void> {
    await Promise.all([this.#remote.tried(dialTime), this.#cluster?.tried(dialTime)])
    // A moment later the app is ready, and shows what it can call.
    if (this.#reports !== undefined) this.#report()
  }

  /**
   * The worker takes part in what the app serves from now on. Resolves when other apps can call it,
   * or a while has passed.
   */
  async announced(): Promise<void> {
    await this.#cluster?.accept(dialTime)
  }

  setIdentity(identity: Identity): void {
    this.#identity = identity
    this.exported?.setIdentity(identity)
    this.#remote.setIdentity(identity)
  }

  /** Waits until other apps call elsewhere, for at most `timeout` milliseconds. */
  async drain(timeout: number, appStops: boolean): Promise<void> {
    this.#cluster?.stopAccepting()
    await Promise.all([this.#cluster?.events?.stop(timeout), this.#links.drain(timeout, appStops)])
  }

  /** Waits until other apps have read their answers, for at most `timeout` milliseconds. */
  async finish(timeout: number): Promise<void> {
    await this.#links.finish(timeout)
  }

  /** Fails the calls in flight with `reason`. Resolves after `limit` milliseconds at the latest. */
  async close(reason: ErrorRecord, limit: number): Promise<void> {
    clearInterval(this.#reports)
    this.exported?.close()
    this.#links.close(reason)
    this.#remote.close(reason)
    await this.#cluster?.close(limit)
  }

  /** Reports the hosts: the supervisor shows them, and readiness depends on them. */
  #report(): void {
    this.#outbox.post({ type: 'hosts', hosts: this.#remote.reports })
  }

  /** Undefined without a cluster. Every worker may publish events. */
  #openCluster({ init, mesh, metering }: LinkedHostsParts, log: (level: 'info' | 'warn', line: string) => void) {
    const { app, hosts, kind, secret } = init
    const { cluster, remotes = [] } = app
    if (cluster === undefined) return undefined
    const calls = remotes.flatMap(({ name, inCluster }) => (inCluster === true ? [name] : []))
    const offered = servicesOf(app).filter(({ name }) => cluster.services.includes(name))
    // A shared worker forwards calls to commands, which have no links.
    const isOffering =
      offered.length > 0 && (kind === 'shared' || hosts.some(({ name }) => cluster.services.includes(name)))
    return new WorkerCluster({
      config: cluster,
      app: app.name,
      version: app.version ?? '',
      host: hostIdOf(secret),
      calls,
      hosts: this.#remote,
      events: { ...mesh, countDropped: (service) => metering.of(service).countEventDropped() },
      offers: isOffering ? { links: this.#links, services: offered } : undefined,
      log,
    })
  }
}

/** A process shares no memory with others, so it counts on its own. */
function useOfApps(init: WorkerInit): (app: string) => OneAppUse {
  const { secret, shape } = init
  const [use, row] = init.kind === 'process' ? [new AppUse(1), 0] : [new AppUse(shape.rows, init.appUse), init.row]
  return (app) => use.of(app, row, secret)
}

function servicesOf({ services }: App): ExportedService[] {
  return services.map(({ name, kind }) => ({ name, typed: kind === 'typed' }))
}
