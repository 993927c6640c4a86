import type { Endpoint } from './endpoint.ts'

const suffix = '.internal'

/** Knows which of the app's services answer in this thread, and by which name. */
export class Router {
  readonly #names: ReadonlySet<string>
  readonly #endpoints = new Map<string, Endpoint>()

  /** `names`: all services of the app, whether they have started or not. */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  /** The service that `hostname` calls, if it is one of the app's: `catalog.internal`, in any case. Others are the network's. */
  serviceOf(hostname: string): string | undefined {
    if (hostname.length <= suffix.length) return undefined
    const lower = hostname.toLowerCase()
    if (!lower.endsWith(suffix)) return undefined
    const name = lower.slice(0, -suffix.length)
    return this.#names.has(name) ? name : undefined
  }

  add(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.service, endpoint)
  }

  remove(endpoint: Endpoint): void {
    if (this.#endpoints.get(endpoint.service) === endpoint) this.#endpoints.delete(endpoint.service)
  }

  /** The instance a call goes to; undefined while none serves. */
  find(service: string): Endpoint | undefined {
    const endpoint = this.#endpoints.get(service)
    return endpoint?.state === 'serving' ? endpoint : undefined
  }
}
