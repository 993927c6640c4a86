import type { ErrorRecord } from '../../contract/errors.ts'
import {
  addressText,
  type HostAddress,
  type HostReport,
  type Identity,
  type RemoteService,
} from '../../shared/hosts.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { shareOf } from '../routing/balance/version-shares.ts'
import type { Router } from '../routing/router.ts'
import { IncompletePackets } from '../transports/incomplete-packets.ts'
import type { HandshakeResult } from '../transports/socket.ts'
import type { ConnectionBridge } from './connection-bridge.ts'
import { dialHost } from './dial-host.ts'
import { HostConnection } from './host-connection.ts'
import type { HostHello } from './host-hello.ts'
import { LinkedHost } from './linked-host.ts'
import { ProvenPeers } from './export/proven-peers.ts'
import { RemoteAddress } from './remote-address.ts'

/** How many hosts of a cluster an error names, each with its fault. */
const namedFaults = 5
/** The most lines about hosts that are logged within so many milliseconds. */
const [mostLines, linesPeriod] = [100, 10_000]

export interface RemoteHostsParts {
  /** The name of this app. */
  readonly app: string
  readonly remotes: readonly RemoteService[]
  readonly router: Router
  /** Returns the current identity: its files may change. */
  readonly identity: () => Identity | undefined
  /** A new path for a private socket. */
  readonly socketPath: () => string
  readonly log: (level: 'info' | 'warn', line: string) => void
  /** For tests. */
  readonly keepAliveTimeout?: number
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

/** A host that the cluster has, rather than the config. */
export interface FoundHost {
  /** For people, and unique. */
  readonly name: string
  /** What it serves. */
  readonly services: readonly string[]
  readonly dial: (signal: AbortSignal) => Promise<HandshakeResult<HostHello>>
}

interface Found {
  readonly connection: HostConnection
  readonly services: readonly string[]
}

/**
 * The services of other apps that this worker can call: links to their hosts, instances in the
 * router.
 */
export class RemoteHosts {
  readonly #parts: RemoteHostsParts
  readonly #log: RemoteHostsParts['log']
  readonly #addresses = new Map<string, RemoteAddress>()
  /** By name. */
  readonly #found = new Map<string, Found>()
  readonly #bridges: ConnectionBridge[] = []
  readonly #incomplete = new IncompletePackets()
  readonly #peers = new ProvenPeers()
  /** Why the cluster has no hosts. Undefined: it may have some. */
  clusterFault: (() => string | undefined) | undefined
  #isClosed = false

  constructor(parts: RemoteHostsParts) {
    this.#parts = parts
    this.#log = limitLines(parts.log)
    for (const address of parts.remotes.flatMap(({ addresses }) => addresses)) {
      const text = addressText(address)
      if (!this.#addresses.has(text)) this.#addresses.set(text, this.#open(address, text))
    }
    if (parts.remotes.length > 0) parts.router.explain = (service) => this.#faultOf(service)
  }

  /** Every connection that it keeps. */
  get connections(): readonly HostConnection[] {
    const configured = [...this.#addresses.values()].flatMap(({ connections }) => connections)
    return [...configured, ...[...this.#found.values()].map(({ connection }) => connection)]
  }

  /** Every host, and every address whose name has no host yet. */
  get reports(): readonly HostReport[] {
    const configured = [...this.#addresses.values()].flatMap(({ reports }) => reports)
    return [...configured, ...[...this.#found.values()].map(({ connection }) => connection.report)]
  }

  /** Resolves when every host was dialled once, or after `limit` milliseconds. */
  async tried(limit: number): Promise<void> {
    if (this.#addresses.size === 0) return
    await settlesWithin(limit, [Promise.all([...this.#addresses.values()].map((address) => address.tried()))])
  }

  /** Resolves when it was dialled once. */
  async add({ name, services, dial }: FoundHost): Promise<void> {
    if (this.#isClosed || this.#found.has(name)) return
    const connection = this.#connect(name, services, dial)
    this.#found.set(name, { connection, services })
    await connection.tried
  }

  /** The host gets no new calls. Those in flight go on. */
  remove(name: string): void {
    this.#found.get(name)?.connection.retire()
    this.#found.delete(name)
  }

  /** Links stay open, unless the certificate of their host is revoked. */
  setIdentity(identity: Identity): void {
    this.#peers.setIdentity(identity)
  }

  /** Fails the calls in flight with `reason`. */
  close(reason: ErrorRecord): void {
    this.#isClosed = true
    for (const address of this.#addresses.values()) address.close(reason)
    for (const { connection } of this.#found.values()) connection.close(reason)
    for (const bridge of this.#bridges) bridge.close()
  }

  #open(address: HostAddress, text: string): RemoteAddress {
    const { app, identity, remotes, resolve } = this.#parts
    const services = remotes.filter((remote) => remote.addresses.some((one) => addressText(one) === text))
    const names = services.map(({ name }) => name)
    return new RemoteAddress({
      address,
      services: names,
      resolve,
      log: this.#log,
      connect: (ip) =>
        this.#connect(addressText({ ...address, host: ip }), names, (signal) =>
          dialHost({
            address,
            ip,
            app,
            identity: identity(),
            peers: this.#peers,
            incomplete: this.#incomplete,
            signal,
          }),
        ),
    })
  }

  #connect(name: string, services: readonly string[], dial: FoundHost['dial']): HostConnection {
    const { router, socketPath, keepAliveTimeout } = this.#parts
    const versions = (service: string): RemoteService['versions'] => this.#remote(service)?.versions
    const keep = (bridge: ConnectionBridge): void => this.#keep(bridge)
    const host = new LinkedHost({ services, versions, router, socketPath, log: this.#log, keep })
    return new HostConnection({
      name,
      services,
      takesVersion: (service, version) => {
        const weights = versions(service)
        return weights === undefined || shareOf(weights, version) !== undefined
      },
      dial,
      keepAliveTimeout,
      opened: (link, hello) => host.opened(link, hello, name),
      withdrawn: () => host.withdraw(),
      mayEject: () => this.#mayEject(services),
      ejected: (isEjected) => host.setEjected(isEjected),
      log: this.#log,
    })
  }

  #keep(bridge: ConnectionBridge): void {
    if (this.#isClosed) bridge.close()
    else this.#bridges.push(bridge)
  }

  /** True if at most half of the hosts that can get calls of each service would then be ejected. */
  #mayEject(services: readonly string[]): boolean {
    return services.every((service) => {
      const hosts = this.#hostsOf(service).filter((host) => host.offers(service))
      if (hosts.length === 0) return true
      const ejected = hosts.filter(({ isEjected }) => isEjected).length
      return ejected + 1 <= hosts.length / 2
    })
  }

  #hostsOf(service: string): HostConnection[] {
    const { addresses = [] } = this.#remote(service) ?? {}
    const configured = addresses.flatMap((address) => this.#addresses.get(addressText(address))?.connections ?? [])
    return [...configured, ...this.#foundFor(service)]
  }

  #foundFor(service: string): HostConnection[] {
    return [...this.#found.values()].flatMap(({ services, connection }) =>
      services.includes(service) ? [connection] : [],
    )
  }

  #remote(service: string): RemoteService | undefined {
    return this.#parts.remotes.find(({ name }) => name === service)
  }

  #faultOf(name: string): string | undefined {
    const service = this.#remote(name)
    if (service === undefined) return undefined
    const faults = service.addresses.flatMap((address) => this.#addresses.get(addressText(address))?.faults ?? [])
    if (service.inCluster === true) faults.push(...this.#clusterFaults(name))
    const { versions = {} } = service
    const other = `hosts that export it to this app have none of the versions ${Object.keys(versions).join(', ')}`
    // They could not when the call was made.
    if (faults.length === 0 && this.#parts.router.serves(name)) faults.push('its hosts can be called again by now')
    const isLinked = this.#hostsOf(name).some(({ fault }) => fault === undefined)
    const none = service.versions === undefined ? 'its hosts do not export it to this app' : other
    // A linked host that gets no calls is a reason, too.
    const isOther = isLinked && faults.length > 0 && !this.#parts.router.serves(name)
    const why = faults.length === 0 ? none : [...faults, ...(isOther ? [none] : [])].join('; ')
    return `service '${name}' of another app cannot be reached: ${why}`
  }

  #clusterFaults(service: string): string[] {
    const hosts = this.#foundFor(service)
    const fault = this.clusterFault?.()
    if (fault !== undefined) return [fault]
    if (hosts.length === 0) return ['no host of the cluster serves it']
    const faults = hosts.flatMap((host) => host.fault ?? [])
    const others = faults.length - namedFaults
    return others <= 0 ? faults : [...faults.slice(0, namedFaults), `${others} other hosts have faults, too`]
  }
}

/**
 * A log that leaves lines out when there are too many, and says how many. A cluster may announce
 * any number of hosts, and so cause any number of lines.
 */
function limitLines(log: RemoteHostsParts['log']): RemoteHostsParts['log'] {
  let began = -Infinity
  let lines = 0
  let leftOut = 0
  return (level, line) => {
    const now = performance.now()
    if (now - began >= linesPeriod) {
      if (leftOut > 0) log('warn', `${leftOut} more lines about hosts were left out`)
      began = now
      lines = 0
      leftOut = 0
    }
    if (++lines <= mostLines) log(level, line)
    else leftOut++
  }
}
