import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { RequestListener, Server } from 'node:http'
import type { App, GatewayConfig, Limits, Route, Service } from '../../../src/config/app.ts'
import { createGateway, type Gateway } from '../../../src/gateway/gateway.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/instance/served-instance.ts'
import { WorkerCells, createCells } from '../../../src/shared/metrics/worker-cells.ts'
import type { TlsMaterial } from '../../../src/shared/control-messages.ts'
import { exchanges, handover, streams } from '../mesh/accelerators.ts'
import { way } from '../mesh/byte-mesh.ts'
import { TestEndpoint, type TypedProgram } from '../mesh/test-endpoint.ts'
import { linkedEndpoint } from '../mesh/linked-endpoint.ts'
import { NativeFront, PortableFront, type Front } from './test-fronts.ts'
import { isNative } from '../app/wanted-entrance.ts'

export interface GatewaySetup {
  /** Programs by name. By default each has the route `/<name>`. */
  services: Record<string, Server | RequestListener | TypedProgram>
  /** Services without an endpoint. */
  names?: string[]
  routes?: Record<string, string>
  entry?: string
  limits?: Partial<Limits>
  cors?: readonly string[]
  tls?: TlsMaterial
}

/** A gateway on a real port, behind the wanted entrance, with the environment of a worker. */
export class TestGateway implements AsyncDisposable {
  readonly gateway: Gateway
  readonly router: Router
  readonly endpoints = new Map<string, TestEndpoint>()
  readonly cells = new WorkerCells(createCells(1), 0)
  readonly logged: string[] = []
  readonly #front: Front
  readonly #links = new DisposableStack()
  readonly #scheme: 'http' | 'https'

  private constructor(setup: GatewaySetup) {
    this.router = new Router([...Object.keys(setup.services), ...(setup.names ?? [])])
    this.#links.use(servePrivateSockets({ router: this.router, maxHops: 8 }))
    for (const [name, program] of Object.entries(setup.services)) {
      const endpoint = new TestEndpoint(name, program)
      this.endpoints.set(name, endpoint)
      if (way.overLink) this.router.addRemote(this.#links.use(linkedEndpoint(endpoint)))
      else this.router.add(endpoint)
    }
    const app = appOf(setup)
    this.gateway = createGateway({
      app,
      router: this.router,
      tls: isNative ? undefined : setup.tls,
      log: (_level, line) => this.logged.push(line),
      cells: this.cells,
      exchanges,
      handover,
      streams,
    })
    this.#scheme = setup.tls === undefined ? 'http' : 'https'
    this.#front = isNative ? new NativeFront(this.gateway, app, setup.tls) : new PortableFront(this.gateway)
  }

  static async start(setup: GatewaySetup): Promise<TestGateway> {
    const gateway = new TestGateway(setup)
    await gateway.#front.listen()
    return gateway
  }

  get port(): number {
    return this.#front.port
  }

  /** Open connections of clients. */
  get connections(): number {
    return this.#front.connections
  }

  setTls(tls: TlsMaterial): void {
    this.#front.setTls(tls)
  }

  url(path: string): string {
    return `${this.#scheme}://127.0.0.1:${this.port}${path}`
  }

  /** A client with hand-written HTTP. */
  async raw(): Promise<RawClient> {
    const socket = connect({ port: this.port, host: '127.0.0.1', allowHalfOpen: false })
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  /**
   * Sends `text` on a new connection, and returns everything received until the gateway closes it.
   */
  async send(text: string): Promise<string> {
    const client = await this.raw()
    client.write(text)
    return client.closed()
  }

  /** Milliseconds, in the format of a worker's `timing`. */
  stop(timeout: number, quiet = 500): Promise<void> {
    return this.#front.stop({ timeout, quiet })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.destroy()
    this.#front.close()
    for (const endpoint of this.endpoints.values()) await endpoint[Symbol.asyncDispose]()
    this.#links.dispose()
  }
}

export class RawClient {
  readonly socket: Socket
  received = ''
  readonly #closed: Promise<unknown>

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text))
    socket.on('error', (error) => (this.received += `[${(error as NodeJS.ErrnoException).code}]`))
    this.#closed = new Promise((resolve) => socket.once('close', resolve))
  }

  write(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** Waits until the received text matches, and returns it. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`closed after ${JSON.stringify(this.received)}`)
      await Promise.race([once(this.socket, 'data'), this.#closed])
    }
    return this.received
  }

  async closed(): Promise<string> {
    await this.#closed
    return this.received
  }
}

export const generousLimits: Limits = {
  headerTimeout: 10_000,
  requestTimeout: 300_000,
  responseTimeout: 60_000,
  keepAliveTimeout: 60_000,
  maxHeaderSize: 16_384,
  maxBodySize: 1024 ** 3,
  maxInputSize: 4 * 1024 ** 2,
  maxInFlight: 10_000,
  webSocketDrain: 3000,
  maxHops: 16,
}

function appOf(setup: GatewaySetup): App {
  return {
    root: '/nowhere',
    name: 'test',
    configFile: undefined,
    workers: 1,
    accept: 'balanced',
    gateway: gatewayConfig(setup),
    services: Object.entries(setup.services).flatMap(([name, program]) =>
      'typed' in program ? [{ name, kind: 'typed' } as Service] : [],
    ),
    limits: { ...generousLimits, ...setup.limits },
    interceptors: undefined,
    validate: 'always',
    stopTimeout: 1000,
  }
}

function gatewayConfig({ services, routes, entry, cors }: GatewaySetup): GatewayConfig {
  const byName = Object.fromEntries(Object.keys(services).map((name) => [`/${name}`, name]))
  const all = Object.entries(routes ?? (entry === undefined ? byName : {})).map(([key, service]) =>
    toRoute(key, service),
  )
  return { host: '127.0.0.1', port: 0, tls: undefined, entry, routes: all, ...(cors !== undefined && { cors }) }
}

function toRoute(key: string, service: string): Route {
  const slash = key.indexOf('/')
  if (slash === -1) return { host: key, prefix: '', service }
  return { host: key.slice(0, slash) || undefined, prefix: key.slice(slash), service }
}
