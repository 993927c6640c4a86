import type { Endpoint, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from '../endpoint.ts'
import { leastLoaded } from './least-loaded.ts'
import type { Loads } from './loads.ts'
import { rendezvous } from './rendezvous.ts'

export interface FindOptions {
  /** Calls with the same key go to the same instance, as long as it serves. */
  readonly key?: string | undefined
  /** Not this one: it was asked already. */
  readonly not?: Endpoint | undefined
}

type Elsewhere = RemoteEndpoint | TcpEndpoint

/** Above this the event loop of this worker has no time left for what others could do. */
const busyLoop = 0.9
/** So many times the calls of the least loaded other instance, and at least so many, make the local one overloaded. */
const overload = 4
const overloadFloor = 8

/** The instances of one service that this worker can reach, and the choice among them. */
export class ServiceInstances {
  readonly service: string
  readonly #loads: Loads
  #local: LocalEndpoint | undefined
  #localIndex = 0
  #elsewhere: readonly Elsewhere[] = []

  constructor(service: string, loads: Loads) {
    this.service = service
    this.#loads = loads
  }

  get local(): LocalEndpoint | undefined {
    return this.#local
  }

  get elsewhere(): readonly Elsewhere[] {
    return this.#elsewhere
  }

  get isEmpty(): boolean {
    return this.#local === undefined && this.#elsewhere.length === 0
  }

  setLocal(endpoint: LocalEndpoint | undefined, index: number): void {
    this.#local = endpoint
    this.#localIndex = index
  }

  add(endpoint: Elsewhere): void {
    this.#elsewhere = [...this.#elsewhere, endpoint]
  }

  remove(endpoint: Elsewhere): void {
    this.#elsewhere = this.#elsewhere.filter((other) => other !== endpoint)
  }

  /** Only one that serves; a call within the thread costs so much less that the local one is left for little else. */
  find(options: FindOptions | undefined): Endpoint | undefined {
    const local = this.#local
    const here = local?.state === 'serving' && options?.not !== local ? local : undefined
    if (this.#elsewhere.length === 0) return here
    if (options?.key !== undefined) return this.#homeOf(options.key, here, options.not)
    if (here !== undefined && !this.#maybeOverloaded()) return here
    const there = this.#leastElsewhere(options?.not)
    if (here === undefined || there === undefined) return here ?? there
    return this.#isOverloaded(there) ? there : here
  }

  /** A heartbeat that is late does not re-home a key: what is kept for it there is worth the wait. */
  #homeOf(key: string, here: LocalEndpoint | undefined, not: Endpoint | undefined): Endpoint | undefined {
    const serving: Endpoint[] = this.#elsewhere.filter((one) => isCallable(one) && one !== not)
    if (here !== undefined) serving.push(here)
    return rendezvous(key, serving, (one) => this.#indexOf(one))
  }

  #leastElsewhere(not: Endpoint | undefined): Elsewhere | undefined {
    const loadOf = (one: Elsewhere): number => (isCallable(one) && one !== not ? this.#loadOf(one) : Infinity)
    const fresh = (one: Elsewhere): number => (this.#loads.isStale(rowOf(one)) ? Infinity : loadOf(one))
    // When all are late, this machine is: then any is as good.
    return leastLoaded(this.#elsewhere, fresh) ?? leastLoaded(this.#elsewhere, loadOf)
  }

  /**
   * What the instance says it answers, and what this worker has on its way there: calls that have arrived count twice,
   * for all instances alike; left out, a burst would all go to the one that has not heard of it yet.
   */
  #loadOf(endpoint: Elsewhere): number {
    if (endpoint.at === 'tcp') return 0
    return this.#loads.inFlight(endpoint.row, this.service) + (endpoint.load ?? 0) + endpoint.link.inFlight
  }

  /** Without a look at the others. */
  #maybeOverloaded(): boolean {
    return this.#loads.ownInFlight(this.service) >= overloadFloor && this.#loads.ownUtilization >= busyLoop
  }

  #isOverloaded(there: Elsewhere): boolean {
    return (
      !this.#loads.isStale(rowOf(there)) && this.#loads.ownInFlight(this.service) > overload * (this.#loadOf(there) + 1)
    )
  }

  #indexOf(endpoint: Endpoint): number {
    return endpoint.at === 'here' ? this.#localIndex : endpoint.index
  }
}

/** One whose link is closing is about to leave. */
function isCallable(endpoint: Elsewhere): boolean {
  return endpoint.state === 'serving' && (endpoint.at === 'tcp' || endpoint.link.state === 'open')
}

function rowOf(endpoint: Elsewhere): number | undefined {
  return endpoint.at === 'link' ? endpoint.row : undefined
}
