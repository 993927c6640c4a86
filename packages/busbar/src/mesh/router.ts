import { noLoads, type Loads } from './balance/loads.ts'
import type { LimitedService } from './balance/limited-service.ts'
import { type FindOptions, ServiceInstances } from './balance/service-instances.ts'
import { serviceNameIn } from './service-name.ts'
import type { Endpoint, EndpointState, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from './endpoint.ts'

export type { FindOptions } from './balance/service-instances.ts'

/** `starting` until a service's first instance was added. */
export type ServiceState = 'starting' | EndpointState

/** Knows which of the app's services answer, by which name and where. */
export class Router {
  readonly #services: ReadonlyMap<string, ServiceInstances>
  /** Services that had an instance once. */
  readonly #known = new Set<string>()
  readonly #watchers = new Set<(endpoint: LocalEndpoint) => void>()

  /**
   * `names`: all services of the app, whether they have started or not. `limited`: those of them whose instances answer only
   * so many calls at a time.
   */
  constructor(
    names: Iterable<string>,
    loads: Loads = noLoads,
    limited: ReadonlyMap<string, LimitedService> = new Map(),
  ) {
    this.#services = new Map([...names].map((name) => [name, new ServiceInstances(name, loads, limited.get(name))]))
  }

  get names(): readonly string[] {
    return [...this.#services.keys()]
  }

  /**
   * The service that `hostname` calls, if it is one of the app's: `catalog.internal`, in any case, with or without the
   * dot of a fully qualified name. Others are the network's.
   */
  serviceOf(hostname: string): string | undefined {
    const name = serviceNameIn(hostname)
    return name !== undefined && this.#services.has(name) ? name : undefined
  }

  /**
   * `index`: which of the service's instances it is. `byLink`: how it is called from here as well, where it must not be called
   * directly.
   */
  add(endpoint: LocalEndpoint, index = 0, byLink?: RemoteEndpoint): void {
    this.#of(endpoint.service).setLocal({ endpoint, index, byLink })
    for (const tell of this.#watchers) tell(endpoint)
  }

  /** Tells of each instance in this thread: of those that there are, and of those that are added before it is disposed. */
  watch(tell: (endpoint: LocalEndpoint) => void): Disposable {
    this.#watchers.add(tell)
    for (const { local } of this.#services.values()) if (local !== undefined) tell(local)
    return { [Symbol.dispose]: () => void this.#watchers.delete(tell) }
  }

  remove(endpoint: LocalEndpoint): void {
    const instances = this.#of(endpoint.service)
    if (instances.local === endpoint) instances.setLocal(undefined)
  }

  addRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    this.#of(endpoint.service).add(endpoint)
  }

  removeRemote(endpoint: RemoteEndpoint | TcpEndpoint): void {
    this.#of(endpoint.service).remove(endpoint)
  }

  /** The instance that a call goes to; undefined while none serves. Asked once per call: the next may go elsewhere. */
  find(service: string, options?: FindOptions): Endpoint | undefined {
    return this.#services.get(service)?.find(options)
  }

  /** Whether its instances have ports of their own. */
  isCommand(service: string): boolean {
    return this.#services.get(service)?.elsewhere.some(({ at }) => at === 'tcp') === true
  }

  /** Whether {@link find} would find one. */
  serves(service: string): boolean {
    return this.#services.get(service)?.serves === true
  }

  /** The instance in this thread, in whatever state: for calls that came here to be answered. */
  local(service: string): LocalEndpoint | undefined {
    return this.#services.get(service)?.local
  }

  /** Why {@link find} found none. */
  stateOf(service: string): ServiceState {
    const instances = this.#services.get(service)
    const known = instances?.local ?? instances?.elsewhere[0]
    return known?.state ?? (this.#known.has(service) ? 'stopped' : 'starting')
  }

  #of(service: string): ServiceInstances {
    const instances = this.#services.get(service)
    if (instances === undefined) throw new RangeError(`${service} is no service of the app`)
    this.#known.add(service)
    return instances
  }
}
