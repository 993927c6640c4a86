import type { Endpoint, EndpointState, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from './endpoint.ts'

const suffix = '.internal'

/** `starting` until a service's first instance was added. */
export type ServiceState = 'starting' | EndpointState

/** Knows which of the app's services answer, by which name and where. */
export class Router {
  readonly #names: ReadonlySet<string>
  readonly #local = new Map<string, LocalEndpoint>()
  readonly #elsewhere = new Map<string, readonly (RemoteEndpoint | TcpEndpoint)[]>()
  readonly #removed = new Set<string>()

  /** `names`: all services of the app, whether they have started or not. */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  /**
   * The service that `hostname` calls, if it is one of the app's: `catalog.internal`, in any case, with or without the
   * dot of a fully qualified name. Others are the network's.
   */
  serviceOf(hostname: string): string | undefined {
    const end = hostname.endsWith('.') ? hostname.length - 1 : hostname.length
    if (end <= suffix.length || hostname.charCodeAt(end - suffix.length) !== 46) return undefined
    const lower = hostname.slice(0, end).toLowerCase()
    if (!lower.endsWith(suffix)) return undefined
    const name = lower.slice(0, -suffix.length)
    return this.#names.has(name) ? name : undefined
  }

  add(endpoint: LocalEndpoint): void {
    this.#local.set(endpoint.service, endpoint)
    this.#removed.delete(endpoint.service)
  }

  remove(endpoint: LocalEndpoint): void {
    if (this.#local.get(endpoint.service) !== endpoint) return
    this.#local.delete(endpoint.service)
    this.#removed.add(endpoint.service)
  }

  addRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    this.#elsewhere.set(endpoint.service, [...(this.#elsewhere.get(endpoint.service) ?? []), endpoint])
    this.#removed.delete(endpoint.service)
  }

  removeRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    const left = (this.#elsewhere.get(endpoint.service) ?? []).filter((other) => other !== endpoint)
    this.#elsewhere.set(endpoint.service, left)
    if (left.length === 0) this.#removed.add(endpoint.service)
  }

  /** The instance a call goes to; undefined while none serves. */
  find(service: string): Endpoint | undefined {
    const endpoint = this.#local.get(service)
    if (endpoint?.state === 'serving') return endpoint
    return this.#elsewhere.get(service)?.find(({ state }) => state === 'serving')
  }

  /** The instance in this thread, in whatever state: for calls that came here to be answered. */
  local(service: string): LocalEndpoint | undefined {
    return this.#local.get(service)
  }

  /** Why {@link find} found none. */
  stateOf(service: string): ServiceState {
    const known = this.#local.get(service) ?? this.#elsewhere.get(service)?.[0]
    return known?.state ?? (this.#removed.has(service) ? 'stopped' : 'starting')
  }
}
