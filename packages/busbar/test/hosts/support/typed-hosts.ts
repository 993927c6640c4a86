/**
 * Apps that export the typed service `shop`, and one that calls it, without supervisor and workers.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { client } from '../../../src/contract/client-entry.ts'
import { ExportListener } from '../../../src/mesh/hosts/export/export-listener.ts'
import type { ExportedLinks } from '../../../src/mesh/hosts/export/exported-links.ts'
import type { IncompletePackets } from '../../../src/mesh/transports/incomplete-packets.ts'
import { RemoteHosts, type RemoteHostsParts } from '../../../src/mesh/hosts/remote-hosts.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { offerTypedCalls } from '../../../src/mesh/typed/mesh-transport.ts'
import type { ExportConfig, HostAddress, Identity } from '../../../src/shared/hosts.ts'
import { Shop, shop } from './shop.ts'

export { shop } from './shop.ts'

export interface ShopHostOptions {
  readonly identity?: Identity
  readonly allow?: ExportConfig['allow']
  readonly keepAliveTimeout?: number
  readonly version?: string
  readonly incomplete?: IncompletePackets
}

/** An app with the shop, at a port. */
export class ShopHost extends Shop implements AsyncDisposable {
  listener!: ExportListener
  links!: ExportedLinks
  readonly #server: Server
  readonly #protocol: 'tcp' | 'tls'
  readonly #options: ShopHostOptions

  private constructor(name: string, options: ShopHostOptions) {
    super(name)
    this.#options = options
    this.#protocol = options.identity === undefined ? 'tcp' : 'tls'
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) =>
      this.listener.accept(socket),
    )
  }

  static async start(name: string, options: ShopHostOptions = {}, port = 0): Promise<ShopHost> {
    const host = new ShopHost(name, options)
    await host.replace()
    host.#server.listen(port, '0.0.0.0')
    await once(host.#server, 'listening')
    return host
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get address(): HostAddress {
    return { protocol: this.#protocol, host: '127.0.0.1', port: this.port }
  }

  /** New connections go to another listener, as when a worker is replaced. */
  async replace(): Promise<void> {
    const { identity, allow, keepAliveTimeout, version = '', incomplete } = this.#options
    this.links = await this.openLinks(keepAliveTimeout)
    this.listener = new ExportListener({
      links: this.links,
      config: { protocol: this.#protocol, host: '127.0.0.1', port: 0, services: ['shop'], allow },
      app: this.name,
      version,
      services: [{ name: 'shop', typed: true }],
      identity,
      ...(incomplete !== undefined && { incomplete }),
      log: (_, line) => this.log.push(line),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.listener.close()
    this.links.close({ code: 'SERVICE_UNAVAILABLE', message: `${this.name} has stopped` })
    if (this.#server.listening) await once(this.#server, 'close')
  }
}

export interface CallerOptions extends Partial<RemoteHostsParts> {
  readonly own?: Identity
}

/** An app that calls the shop, by `client(shop)` in this thread. */
export class ShopCaller implements Disposable {
  readonly router: Router
  readonly log: string[] = []
  readonly hosts: RemoteHosts
  readonly shop = client(shop)
  readonly #withdraw: Disposable
  static #next = 0

  private constructor(addresses: readonly HostAddress[], { own, ...options }: CallerOptions) {
    this.router = options.router ?? new Router(['shop'])
    const prefix = join(tmpdir(), `busbar-hosts-${process.pid}-${ShopCaller.#next++}`)
    let next = 0
    this.hosts = new RemoteHosts({
      app: 'caller',
      remotes: [{ name: 'shop', addresses }],
      router: this.router,
      identity: () => own,
      socketPath: () => `${prefix}-${next++}`,
      log: (_, line) => this.log.push(line),
      ...options,
    })
    this.#withdraw = offerTypedCalls({ router: this.router, maxHops: 16, validate: 'edge' })
  }

  /** Resolves when every address was dialled once. */
  static async open(addresses: readonly HostAddress[], options: CallerOptions = {}): Promise<ShopCaller> {
    const caller = new ShopCaller(addresses, options)
    await caller.hosts.tried(10_000)
    return caller
  }

  /** Resolves when calls can go somewhere. */
  async linked(): Promise<void> {
    while (!this.router.serves('shop')) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  [Symbol.dispose](): void {
    this.hosts.close({ code: 'SERVICE_UNAVAILABLE', message: 'the caller has stopped' })
    this.#withdraw[Symbol.dispose]()
  }
}
