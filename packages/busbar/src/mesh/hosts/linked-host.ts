import type { RemoteService } from '../../shared/hosts.ts'
import { shareOf, type VersionShare } from '../routing/balance/version-shares.ts'
import type { EndpointState, RemoteEndpoint } from '../routing/endpoint.ts'
import type { Router } from '../routing/router.ts'
import { ConnectionBridge } from './connection-bridge.ts'
import type { ExportedService, HostHello } from './host-hello.ts'
import type { ObservedLink } from './observed-link.ts'

export interface LinkedHostParts {
  /** The services that this app may call there. */
  readonly services: readonly string[]
  /** By service: the weights of its versions. */
  readonly versions: (service: string) => RemoteService['versions']
  readonly router: Router
  /** A new path for a private socket. */
  readonly socketPath: () => string
  readonly log: (level: 'info' | 'warn', line: string) => void
  /** Owns the bridge from now on. */
  readonly keep: (bridge: ConnectionBridge) => void
}

/** The instances that one host has, as the router sees them. */
export class LinkedHost {
  readonly #parts: LinkedHostParts
  readonly #bridges = new Map<string, Promise<ConnectionBridge | undefined>>()
  #endpoints: HostEndpoint[] = []
  #link: ObservedLink | undefined
  #isEjected = false

  constructor(parts: LinkedHostParts) {
    this.#parts = parts
  }

  async opened(link: ObservedLink, { services, version }: HostHello, name: string): Promise<void> {
    const { services: known, versions } = this.#parts
    for (const service of known)
      if (!services.some((one) => one.name === service))
        this.#parts.log('warn', `${name} does not export service '${service}' to this app`)
    const shares = new Map<string, VersionShare | undefined>()
    const mayCall = ({ name: service }: ExportedService): boolean => {
      const weights = versions(service)
      if (weights !== undefined) shares.set(service, shareOf(weights, version))
      return known.includes(service) && (weights === undefined || shares.get(service) !== undefined)
    }
    const callable = services.filter(mayCall)
    const bridges = await Promise.all(callable.map((one) => this.#bridge(one.name)))
    // It may have been lost meanwhile.
    if (link.state !== 'open') return
    const common = { link, host: name, isEjected: this.#isEjected }
    const next = callable.map(
      (one, at) =>
        new HostEndpoint({
          ...common,
          service: one.name,
          typed: one.typed,
          path: bridges[at]?.path,
          share: shares.get(one.name),
        }),
    )
    this.#link = link
    // The new endpoints are added first, so that calls always find one.
    const previous = this.#endpoints
    this.#endpoints = next
    for (const endpoint of next) this.#parts.router.addRemote(endpoint)
    this.#remove(previous)
  }

  withdraw(): void {
    this.#link = undefined
    this.#remove(this.#endpoints.splice(0))
  }

  setEjected(isEjected: boolean): void {
    this.#isEjected = isEjected
    for (const endpoint of this.#endpoints) endpoint.isEjected = isEjected
  }

  #remove(endpoints: readonly HostEndpoint[]): void {
    for (const endpoint of endpoints) {
      endpoint.state = 'stopped'
      this.#parts.router.removeRemote(endpoint)
    }
  }

  /**
   * Undefined if this worker cannot have one: clients that need a system socket are then refused.
   */
  #bridge(service: string): Promise<ConnectionBridge | undefined> {
    const { socketPath, log } = this.#parts
    let bridge = this.#bridges.get(service)
    if (bridge !== undefined) return bridge
    bridge = ConnectionBridge.open(socketPath(), service, () => this.#link).then(
      (opened) => {
        this.#parts.keep(opened)
        return opened
      },
      (error: unknown) => {
        log('warn', `connections to service '${service}' are refused: ${(error as Error).message}`)
        return undefined
      },
    )
    this.#bridges.set(service, bridge)
    return bridge
  }
}

/**
 * Milliseconds until a host that had another contract is called again: it may have been updated.
 */
const rejectionTime = 30_000

/** The instance of a service at one host of another app. */
class HostEndpoint implements RemoteEndpoint {
  readonly at = 'link'
  /** Other apps have no workers of ours. */
  readonly worker = -1
  readonly service: string
  readonly typed: boolean
  readonly path: string | undefined
  readonly link: ObservedLink
  readonly host: string
  readonly share: VersionShare | undefined
  state: EndpointState = 'serving'
  isEjected: boolean
  /** Contracts of methods that the host does not have, and until when they are not called there. */
  #rejected: Map<string, number> | undefined

  constructor(parts: Pick<HostEndpoint, 'service' | 'typed' | 'path' | 'link' | 'host' | 'share' | 'isEjected'>) {
    this.service = parts.service
    this.typed = parts.typed
    this.path = parts.path
    this.link = parts.link
    this.host = parts.host
    this.share = parts.share
    this.isEjected = parts.isEjected
  }

  /** The same at every caller, so that all agree where a key belongs. */
  get index(): number {
    let hash = 0
    for (let at = 0; at < this.host.length; at++) hash = (Math.imul(hash, 31) + this.host.charCodeAt(at)) | 0
    return hash >>> 1
  }

  /** A slow host reports late: what this worker still waits for counts as well. */
  get load(): number {
    return Math.max(this.link.loadOf(this.service), this.link.running(this.service))
  }

  reject(contract: string): void {
    this.#rejected ??= new Map()
    this.#rejected.set(contract, performance.now() + rejectionTime)
  }

  rejects(contract: string): boolean {
    return this.#rejected !== undefined && (this.#rejected.get(contract) ?? 0) > performance.now()
  }
}
