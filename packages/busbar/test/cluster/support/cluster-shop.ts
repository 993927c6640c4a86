/**
 * Hosts of one cluster with the typed service `shop`, and a caller, without supervisor and workers.
 */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from '../../../src/config/app.ts'
import { client } from '../../../src/contract/client-entry.ts'
import { WorkerCluster } from '../../../src/mesh/cluster/worker-cluster.ts'
import type { ExportedLinks } from '../../../src/mesh/hosts/export/exported-links.ts'
import { RemoteHosts } from '../../../src/mesh/hosts/remote-hosts.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { offerTypedCalls } from '../../../src/mesh/typed/mesh-transport.ts'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import type { ClusterConfig } from '../../../src/shared/hosts.ts'
import { AppCluster } from '../../../src/supervisor/cluster/app-cluster.ts'
import { type Shop, shop } from '../../hosts/support/shop.ts'

const stopped = { code: 'SERVICE_UNAVAILABLE', message: 'it has stopped' } as const

/** A host of the cluster, with one worker. */
export class ClusterShop implements AsyncDisposable {
  readonly shop: Shop
  readonly links: ExportedLinks
  /** Its id in the cluster. */
  readonly host = randomBytes(8).toString('hex')
  readonly #cluster: WorkerCluster
  readonly #app: AppCluster
  readonly #close: () => Promise<void>

  private constructor(own: Shop, links: ExportedLinks, config: ClusterConfig, accepts: boolean) {
    this.shop = own
    this.links = links
    const { name } = own
    const { host } = this
    const log = (_: unknown, line: string): unknown => own.log.push(line)
    const hosts = remoteHosts(new Router([]), (line) => own.log.push(line))
    const offers = { links, services: [{ name: 'shop', typed: true }] }
    this.#cluster = new WorkerCluster({ config, app: name, version: '', host, calls: [], hosts, offers, log })
    const app = { name, cluster: { ...config, services: ['shop'] }, services: [{ name: 'shop', kind: 'typed' }] }
    const status = { app: { startedAt: 0 }, instances: [], calls: [] } as unknown as AppStatus
    const parts = { app: () => app as unknown as App, slots: { current: [] }, status: () => status, host, log }
    this.#app = new AppCluster(parts)
    this.#close = this.#app.open()
    if (accepts) void this.accept()
    this.#app.entered('running')
  }

  /** `accepts`: false if it announces itself, and its worker takes no links before `accept`. */
  static async start(own: Shop, config: ClusterConfig, keepAlive?: number, accepts = true): Promise<ClusterShop> {
    return new ClusterShop(own, await own.openLinks(keepAlive), config, accepts)
  }

  /** Its worker takes links from now on. Resolves when NATS knows that. */
  async accept(): Promise<void> {
    await this.#cluster.accept(5_000)
  }

  /** As when its app stops: callers go elsewhere, and what they have asked is answered. */
  async drain(): Promise<void> {
    this.#app.entered('stopping')
    this.#cluster.stopAccepting()
    await this.links.drain(5_000, true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#app.entered('stopping')
    this.#cluster.stopAccepting()
    this.links.close(stopped)
    await this.#cluster.close()
    await this.#close()
  }
}

/** An app that calls the shop, by `client(shop)` in this thread. */
export class ClusterCaller implements AsyncDisposable {
  readonly router = new Router(['shop'])
  readonly log: string[] = []
  readonly hosts: RemoteHosts
  readonly shop = client(shop)
  readonly #cluster: WorkerCluster
  readonly #withdraw: Disposable

  private constructor(config: ClusterConfig, keepAlive: number | undefined) {
    const log = (_: unknown, line: string): unknown => this.log.push(line)
    this.hosts = remoteHosts(this.router, (line) => this.log.push(line), keepAlive)
    const host = randomBytes(8).toString('hex')
    const calls = ['shop']
    this.#cluster = new WorkerCluster({
      config,
      app: 'caller',
      version: '',
      host,
      calls,
      hosts: this.hosts,
      offers: undefined,
      log,
    })
    this.#withdraw = offerTypedCalls({ router: this.router, maxHops: 16, validate: 'edge' })
  }

  /** Resolves when so many hosts can be called. */
  static async open(config: ClusterConfig, hosts = 1, keepAlive?: number): Promise<ClusterCaller> {
    const caller = new ClusterCaller(config, keepAlive)
    await caller.linked(hosts)
    return caller
  }

  async linked(least = 1, most = Infinity): Promise<void> {
    const open = (): number => this.hosts.connections.filter(({ fault }) => fault === undefined).length
    while (open() < least || open() > most || !this.router.serves('shop'))
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hosts.close(stopped)
    await this.#cluster.close()
    this.#withdraw[Symbol.dispose]()
  }
}

let next = 0

function remoteHosts(router: Router, log: (line: string) => void, keepAliveTimeout?: number): RemoteHosts {
  const prefix = join(tmpdir(), `busbar-cluster-${process.pid}-${next++}`)
  let sockets = 0
  return new RemoteHosts({
    app: 'caller',
    remotes: router.names.map((name) => ({ name, addresses: [], inCluster: true })),
    router,
    identity: () => undefined,
    socketPath: () => `${prefix}-${sockets++}`,
    log: (_, line) => log(line),
    ...(keepAliveTimeout !== undefined && { keepAliveTimeout }),
  })
}
