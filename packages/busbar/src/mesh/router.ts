import type { Endpoint } from './endpoint.ts'

const suffix = '.internal'

/** Of a service in this thread; `starting` until its first instance was added. */
export type ServiceState = 'starting' | Endpoint['state']

/** Knows which of the app's services answer in this thread, and by which name. */
export class Router {
  readonly #names: ReadonlySet<string>
  readonly #endpoints = new Map<string, Endpoint>()
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

  add(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.service, endpoint)
    this.#removed.delete(endpoint.service)
  }

  remove(endpoint: Endpoint): void {
    if (this.#endpoints.get(endpoint.service) !== endpoint) return
    this.#endpoints.delete(endpoint.service)
    this.#removed.add(endpoint.service)
  }

  /** The instance a call goes to; undefined while none serves. */
  find(service: string): Endpoint | undefined {
    const endpoint = this.#endpoints.get(service)
    return endpoint?.state === 'serving' ? endpoint : undefined
  }

  /** Why {@link find} found none. */
  stateOf(service: string): ServiceState {
    return this.#endpoints.get(service)?.state ?? (this.#removed.has(service) ? 'stopped' : 'starting')
  }
}
