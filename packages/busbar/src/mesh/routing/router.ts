import type { Fit, MethodVersion } from '../../contract/queues/method-version.ts'
import { type LocalPorts, noLocalPorts, serviceAtPort } from '../../shared/calls/local-ports.ts'
import { noLoads, type Loads } from './balance/loads.ts'
import { type FindOptions, ServiceInstances } from './balance/service-instances.ts'
import type { Endpoint, EndpointState, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from './endpoint.ts'
import type { LimitedService } from './limits/limited-service.ts'
import { serviceNameOf } from './service-names.ts'

export type { FindOptions } from './balance/service-instances.ts'

/** `starting` until the service's first instance is added. */
export type ServiceState = 'starting' | EndpointState

/** Knows the app's services, their names and their instances. */
export class Router {
  /** Why a service of another app cannot be reached. Undefined for services of this app. */
  explain: ((service: string) => string | undefined) | undefined
  readonly #services: Map<string, ServiceInstances>
  readonly #loads: Loads
  readonly #localPorts: LocalPorts
  /** Services that have had an instance. */
  readonly #known = new Set<string>()
  readonly #watchers = new Set<(endpoint: LocalEndpoint) => void>()

  /**
   * `names`: all services of the app, started or not. `limited`: those with a concurrency limit.
   */
  constructor(
    names: Iterable<string>,
    loads: Loads = noLoads,
    limited: ReadonlyMap<string, LimitedService> = new Map(),
    localPorts: LocalPorts = noLocalPorts,
  ) {
    this.#localPorts = localPorts
    this.#services = new Map([...names].map((name) => [name, new ServiceInstances(name, loads, limited.get(name))]))
    this.#loads = loads
  }

  /**
   * The app has other services, or other limits, from now on. Calls that are on their way keep the
   * previous ones. A service that is gone is no longer known by its name.
   */
  update(names: readonly string[], limited: ReadonlyMap<string, LimitedService>): void {
    for (const name of names) {
      const instances = this.#services.get(name)
      if (instances === undefined) this.#services.set(name, new ServiceInstances(name, this.#loads, limited.get(name)))
      else instances.limited = limited.get(name)
    }
    for (const name of [...this.#services.keys()].filter((name) => !names.includes(name))) {
      this.#services.delete(name)
      this.#known.delete(name)
    }
  }

  get names(): readonly string[] {
    return [...this.#services.keys()]
  }

  /**
   * The service that `hostname` names, such as `catalog.internal`: in any case, with or without the
   * trailing dot of a fully qualified name. Undefined for names that go to the network.
   */
  serviceOf(hostname: string): string | undefined {
    const name = serviceNameOf(hostname)
    return name !== undefined && this.#services.has(name) ? name : undefined
  }

  /** As `serviceOf`; also for an address of this machine that stands for a service. */
  serviceAt(hostname: string, port: number): string | undefined {
    return this.serviceOf(hostname) ?? serviceAtPort(this.#localPorts, hostname, port)
  }

  /**
   * `index`: the position among the service's instances. `byLink`: set if calls from this thread
   * must go over a link too.
   */
  add(endpoint: LocalEndpoint, index = 0, byLink?: RemoteEndpoint): void {
    this.#of(endpoint.service).setLocal({ endpoint, index, byLink })
    for (const onLocal of this.#watchers) onLocal(endpoint)
  }

  /**
   * Calls `onLocal` for each instance in this thread: now, and when one is added until this is
   * disposed.
   */
  watch(onLocal: (endpoint: LocalEndpoint) => void): Disposable {
    this.#watchers.add(onLocal)
    for (const { local } of this.#services.values()) if (local !== undefined) onLocal(local)
    return { [Symbol.dispose]: () => void this.#watchers.delete(onLocal) }
  }

  /** Whether the instance in this thread gets new calls. May be set before it is added. */
  setLocalHealth(service: string, healthy: boolean): void {
    this.#of(service).setLocalHealth(healthy)
  }

  remove(endpoint: LocalEndpoint): void {
    const instances = this.#services.get(endpoint.service)
    if (instances?.local === endpoint) instances.setLocal(undefined)
  }

  addRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    this.#of(endpoint.service).add(endpoint)
  }

  /** The service may be gone already. */
  removeRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    this.#services.get(endpoint.service)?.remove(endpoint)
  }

  /** The instance for one call, or undefined if none serves. Ask for every call. */
  find(service: string, options?: FindOptions): Endpoint | undefined {
    return this.#services.get(service)?.find(options)
  }

  /** The instances of a service to which an event can be passed. */
  subscribers(service: string, topic: string): (LocalEndpoint | RemoteEndpoint)[] {
    return this.#services.get(service)?.subscribers(topic) ?? []
  }

  /** True if its instances have ports of their own. */
  isCommand(service: string): boolean {
    return this.#services.get(service)?.remote.some(({ at }) => at === 'tcp') === true
  }

  /** True if {@link find} would return an instance. */
  serves(service: string): boolean {
    return this.#services.get(service)?.serves === true
  }

  /** What the instance that serves and suits a version best has of it. */
  fitOf(service: string, version: MethodVersion): Fit {
    return this.#services.get(service)?.fitOf(version) ?? 'none'
  }

  /** The versions of methods that its serving instances name. */
  versions(service: string): readonly string[] {
    return this.#services.get(service)?.versions ?? []
  }

  /** The instance in this thread, in any state. For calls that have arrived here. */
  local(service: string): LocalEndpoint | undefined {
    return this.#services.get(service)?.local
  }

  /** Explains why {@link find} returned none. */
  stateOf(service: string): ServiceState {
    const instances = this.#services.get(service)
    const known = instances?.local ?? instances?.remote[0]
    if (known?.state === 'serving' && instances?.isLocalHealthy === false) return 'unhealthy'
    return known?.state ?? (this.#known.has(service) ? 'stopped' : 'starting')
  }

  #of(service: string): ServiceInstances {
    const instances = this.#services.get(service)
    if (instances === undefined) throw new RangeError(`the app has no service '${service}'`)
    this.#known.add(service)
    return instances
  }
}
