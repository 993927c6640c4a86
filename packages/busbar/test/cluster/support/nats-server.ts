/** A NATS server on a free port of this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { ClusterConfig } from '../../../src/shared/hosts.ts'
import { Subscriptions } from '../../../src/shared/cluster/subscriptions.ts'
import { FaultProxy } from '../../hosts/support/fault-proxy.ts'
import { hasCommand } from '../../support/has-command.ts'
import { freePorts } from '../../support/http/free-ports.ts'

/** Debian puts it where only administrators look. */
const folders = ['', '/usr/sbin/', '/usr/local/sbin/']
const command = folders.map((folder) => `${folder}nats-server`).find((path) => hasCommand(path))

/** A reason to skip a suite, as `node:test` takes it. CI installs the server. */
export const withoutNats = command === undefined && process.env['CI'] === undefined ? 'there is no nats-server' : false

/** Those by a connection of a test. */
export function subscriptionsOf(connection: NatsConnection, lines: string[] = []): Subscriptions {
  return new Subscriptions({ connection, servers: 'test', log: (_, line) => lines.push(line) })
}

export class NatsServer implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'busbar-nats-'))
  #settings: string
  #jetstream = ''
  #port = -1
  #process: ChildProcess | undefined
  #reloaded = Promise.withResolvers<void>()

  private constructor(settings: string) {
    this.#settings = settings
  }

  /** `settings`: lines of its config. */
  static async start(settings = ''): Promise<NatsServer> {
    const server = new NatsServer(settings)
    await server.start()
    return server
  }

  get port(): number {
    return this.#port
  }

  /** Keeps what it has in its folder, over restarts too. `folder`: another one. */
  static async startWithJetStream(settings = '', folder?: string): Promise<NatsServer> {
    const server = new NatsServer(settings)
    server.#jetstream = `jetstream: { store_dir: "${folder ?? server.#folder}", max_file: 1Tb, max_mem: 64Mb }`
    await server.start()
    return server
  }

  /** The config of an app. `port`: of a proxy in between. */
  config(rest: Partial<ClusterConfig> = {}, port = this.#port): ClusterConfig {
    return NatsServer.configOf(port, rest)
  }

  static configOf(port: number, rest: Partial<ClusterConfig> = {}): ClusterConfig {
    const [client, jetstream, kv] = ['transport-node', 'jetstream', 'kv'].map((name) =>
      createRequire(import.meta.url).resolve(`@nats-io/${name}`),
    ) as [string, string, string]
    const servers = [`127.0.0.1:${port}`]
    const none = { credentials: undefined, user: undefined, password: undefined, tls: undefined }
    return { name: 'test', servers, ...none, services: [], client, jetstream, kv, replicas: 1, ...rest }
  }

  /** A client of its own, as tools of NATS have one. */
  async connect(): Promise<NatsConnection> {
    return await connect({ servers: `127.0.0.1:${this.#port}` })
  }

  /** Again at the same port, if it was there before. */
  async start(): Promise<void> {
    const child = spawn(command ?? 'nats-server', ['-c', this.#configure()], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    const lines = createInterface({ input: child.stderr })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let said = ''
    lines.on('line', (line) => {
      said += `${line}\n`
      const port = /Listening for client connections on .*:(\d+)$/.exec(line)?.[1]
      if (port !== undefined) this.#port = Number(port)
      if (line.includes('Server is ready')) resolve()
      if (line.includes('Reloaded server configuration')) this.#reloaded.resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`nats-server has ended with ${code}: ${said}`)))
    await promise
  }

  /** With other lines in its config, while its connections stay. */
  async reload(settings: string): Promise<void> {
    this.#settings = settings
    this.#configure()
    this.#reloaded = Promise.withResolvers()
    this.#process!.kill('SIGHUP')
    await this.#reloaded.promise
  }

  /** As {@link reload}. Nobody answers for JetStream from now on, until it is started again. */
  async reloadWithoutJetStream(settings = ''): Promise<void> {
    const kept = this.#jetstream
    this.#jetstream = ''
    await this.reload(settings)
    this.#jetstream = kept
  }

  /** With other lines in its config. */
  async restart(settings: string): Promise<void> {
    await this.kill()
    this.#settings = settings
    await this.start()
  }

  /** Cuts it off from everybody: all see open connections on which nothing comes. */
  freeze(): void {
    this.#process!.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process!.kill('SIGCONT')
  }

  /** What it has kept is gone, as with a new disk. It must not run. */
  loseData(): void {
    rmSync(join(this.#folder, 'jetstream'), { recursive: true })
  }

  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Returns the file. */
  #configure(): string {
    const file = join(this.#folder, 'server.conf')
    writeFileSync(file, `listen: "127.0.0.1:${this.#port}"\n${this.#settings}\n${this.#jetstream}\n`)
    return file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Servers that form one cluster of NATS, with JetStream. Their routes lead through proxies. */
export class NatsCluster implements AsyncDisposable {
  readonly servers: readonly NatsServer[]
  readonly #routes: readonly FaultProxy[]
  readonly #ports: readonly number[]

  private constructor(servers: readonly NatsServer[], routes: readonly FaultProxy[], ports: readonly number[]) {
    this.servers = servers
    this.#routes = routes
    this.#ports = ports
  }

  static async start(count = 3): Promise<NatsCluster> {
    const ports = await freePorts(count)
    const proxies = await Promise.all(ports.map((port) => FaultProxy.open(port)))
    const settings = (at: number): string => {
      const address = (one: FaultProxy | undefined): string => `127.0.0.1:${one!.port}`
      const others = proxies.filter((_, other) => other !== at).map((one) => `"nats-route://${address(one)}"`)
      // Servers tell each other where they are, which would lead past the proxies.
      const own = `listen: "127.0.0.1:${ports[at]}", advertise: "${address(proxies[at])}"`
      return `server_name: s${at}\ncluster: { name: servers, ${own}, routes: [${others.join(', ')}] }`
    }
    const servers = await Promise.all(ports.map((_, at) => NatsServer.startWithJetStream(settings(at))))
    return new NatsCluster(servers, proxies, ports)
  }

  get addresses(): string[] {
    return this.servers.map(({ port }) => `nats://127.0.0.1:${port}`)
  }

  /** No server reaches another one. `silently`: their connections stay open. */
  partition(silently: boolean): void {
    for (const route of this.#routes) {
      if (silently) route.freeze()
      else {
        route.retarget(nowhere)
        route.cut()
      }
    }
  }

  heal(): void {
    for (const [at, route] of this.#routes.entries()) {
      route.retarget(this.#ports[at]!)
      route.thaw()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.servers, ...this.#routes].map((one) => one[Symbol.asyncDispose]()))
  }
}

/** A port that refuses connections. */
const nowhere = 1
