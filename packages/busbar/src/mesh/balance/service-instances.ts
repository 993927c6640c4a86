import type { Endpoint, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from '../endpoint.ts'
import { leastLoaded } from './least-loaded.ts'
import type { Instance, LimitedService } from './limited-service.ts'
import type { Loads } from './loads.ts'
import { rendezvous } from './rendezvous.ts'
import { Reservation } from './reservation.ts'
import { Underway } from './underway.ts'

export interface FindOptions {
  /** Calls with the same key go to the same instance, as long as it serves. */
  readonly key?: string | undefined
  /** Not this one: it was asked already. */
  readonly not?: Endpoint | undefined
}

type Elsewhere = RemoteEndpoint | TcpEndpoint

/** The instance in this thread. */
interface Local {
  readonly endpoint: LocalEndpoint
  /** Which of the service's instances it is. */
  readonly index: number
  /** How it is called like those elsewhere, and not directly. */
  readonly byLink: RemoteEndpoint | undefined
}

/** Above this the event loop of this worker has no time left for what others could do. */
const busyLoop = 0.9
/** So many times the calls of the least loaded other instance, and at least so many, make the local one overloaded. */
const overload = 4
const overloadFloor = 8

/** The instances of one service that this worker can reach, and the choice among them. */
export class ServiceInstances {
  readonly service: string
  readonly #loads: Loads
  readonly #limited: LimitedService | undefined
  #local: Local | undefined
  #elsewhere: readonly Elsewhere[] = []
  readonly #underway = new Map<Elsewhere, Underway>()

  /** `limited`: where its instances answer only so many calls at a time, and this worker sees how many. */
  constructor(service: string, loads: Loads, limited?: LimitedService) {
    this.service = service
    this.#loads = loads
    this.#limited = limited
  }

  get local(): LocalEndpoint | undefined {
    return this.#local?.endpoint
  }

  get elsewhere(): readonly Elsewhere[] {
    return this.#elsewhere
  }

  setLocal(local: Local | undefined): void {
    if (this.#local?.byLink !== undefined) this.remove(this.#local.byLink)
    this.#local = local
    if (local?.byLink !== undefined) this.add(local.byLink)
  }

  add(endpoint: Elsewhere): void {
    this.#elsewhere = [...this.#elsewhere, endpoint]
    this.#underway.set(endpoint, new Underway())
  }

  remove(endpoint: Elsewhere): void {
    this.#elsewhere = this.#elsewhere.filter((other) => other !== endpoint)
    this.#underway.delete(endpoint)
  }

  /** Whether {@link find} would find one. Reserves nothing. */
  get serves(): boolean {
    return this.local?.state === 'serving' || this.#elsewhere.some(isCallable)
  }

  /** Only one that serves; a call within the thread costs so much less that the local one is left for little else. */
  find(options: FindOptions | undefined): Endpoint | undefined {
    const found = this.#find(options?.key, targetOf(options?.not))
    if (this.#limited === undefined || found?.at !== 'link') return found
    return new Reservation(this.#limited, found, () => this.#candidates(options?.key, targetOf(options?.not)))
  }

  #find(key: string | undefined, not: Endpoint | undefined): Endpoint | undefined {
    const local = this.#local?.byLink === undefined ? this.local : undefined
    const here = local?.state === 'serving' && not !== local ? local : undefined
    if (this.#elsewhere.length === 0) return here
    if (key !== undefined) return this.#homeOf(key, here, not)
    if (here !== undefined && !this.#maybeOverloaded()) return here
    const there = this.#leastElsewhere(not)
    if (there === undefined || (here !== undefined && !this.#isOverloaded(there))) return here
    this.#underway.get(there)!.add()
    return there
  }

  /** Those that a call which waits may go to, as they are now. */
  #candidates(key: string | undefined, not: Endpoint | undefined): Instance[] {
    const home = key === undefined ? undefined : this.#homeOf(key, undefined, not)
    const serving = this.#elsewhere.filter(
      (one) => isCallable(one) && one !== not && (home === undefined || one === home),
    )
    const fresh = serving.filter((one) => !this.#loads.isStale(rowOf(one)))
    return (fresh.length > 0 ? fresh : serving).flatMap((one) =>
      one.at === 'link' && one.row !== undefined ? [{ endpoint: one, row: one.row }] : [],
    )
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

  /** What the instance says it answers, and what this worker has on its way there. Of a command nothing is known. */
  #loadOf(endpoint: Elsewhere): number {
    if (endpoint.at === 'tcp') return 0
    const { row, load, link } = endpoint
    const { ownBeat } = this.#loads
    const underway = this.#underway.get(endpoint)!
    const sent =
      load === undefined
        ? underway.notBegun(this.#loads.begun(row, this.service), ownBeat)
        : underway.sinceTold(load, ownBeat)
    return (load ?? this.#loads.inFlight(row, this.service)) + Math.min(sent, link.inFlight)
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
    return endpoint.at === 'here' ? this.#local!.index : endpoint.index
  }
}

/** What was reserved is some instance. */
function targetOf(endpoint: Endpoint | undefined): Endpoint | undefined {
  return endpoint instanceof Reservation ? endpoint.target : endpoint
}

/** One whose link is closing is about to leave. */
function isCallable(endpoint: Elsewhere): boolean {
  return endpoint.state === 'serving' && (endpoint.at === 'tcp' || endpoint.link.state === 'open')
}

function rowOf(endpoint: Elsewhere): number | undefined {
  return endpoint.at === 'link' ? endpoint.row : undefined
}
