import { bestFit, type Fit, type MethodVersion } from '../../../contract/queues/method-version.ts'
import type { Endpoint, LocalEndpoint, RemoteEndpoint, TcpEndpoint } from '../endpoint.ts'
import type { LimitedInstance, LimitedService } from '../limits/limited-service.ts'
import { admitted } from '../../../shared/slow-start.ts'
import { fitAt, noFittingInstance, queuedAt, type VersionChoice } from './instance-fit.ts'
import type { Loads } from './loads.ts'
import { fractionOf, pickByKey, pickLeastLoaded, pickOfTwo } from './pickers.ts'
import { Reservation } from './reservation.ts'
import { chooseVersion } from './version-shares.ts'
import { CallsInTransit } from './calls-in-transit.ts'

export interface FindOptions {
  /** Calls with the same key go to the same instance while it serves. */
  readonly key?: string | undefined
  /** Excludes an instance that was tried already. */
  readonly not?: Endpoint | undefined
  /** Excludes hosts of other apps that have another contract of the method. */
  readonly contract?: string | undefined
  readonly version?: VersionChoice | undefined
}

type RemoteInstance = RemoteEndpoint | TcpEndpoint

/** The instance in this thread. */
interface Local {
  readonly endpoint: LocalEndpoint
  /** The position among the service's instances. */
  readonly index: number
  /** Set if it must be called over a link, like remote ones. */
  readonly byLink: RemoteEndpoint | undefined
}

/** The utilization from which this worker's event loop counts as busy. */
const busyLoop = 0.9
/**
 * The local instance is overloaded with at least `overloadFloor` calls, and `overloadFactor` times
 * the calls of the least loaded remote one.
 */
const overloadFactor = 4
const overloadFloor = 8

/** The instances of one service that this worker can reach. Picks one for each call. */
export class ServiceInstances {
  readonly service: string
  readonly #loads: Loads
  /**
   * Set if the service has a concurrency limit and this worker shares memory with its instances.
   */
  limited: LimitedService | undefined
  #local: Local | undefined
  #isLocalHealthy = true
  #remote: readonly RemoteInstance[] = []
  /** Some of them have just started, and get a growing share of the calls. */
  #areSomeStarting = false
  readonly #inTransit = new Map<RemoteInstance, CallsInTransit>()

  constructor(service: string, loads: Loads, limited?: LimitedService) {
    this.service = service
    this.#loads = loads
    this.limited = limited
  }

  get local(): LocalEndpoint | undefined {
    return this.#local?.endpoint
  }

  get remote(): readonly RemoteInstance[] {
    return this.#remote
  }

  setLocal(local: Local | undefined): void {
    if (this.#local?.byLink !== undefined) this.remove(this.#local.byLink)
    this.#local = local
    if (local?.byLink !== undefined && this.#isLocalHealthy) this.add(local.byLink)
  }

  get isLocalHealthy(): boolean {
    return this.#isLocalHealthy
  }

  /** An unhealthy local instance gets no new calls. May be set before there is one. */
  setLocalHealth(healthy: boolean): void {
    if (healthy === this.#isLocalHealthy) return
    this.#isLocalHealthy = healthy
    const byLink = this.#local?.byLink
    if (byLink === undefined) return
    if (healthy) this.add(byLink)
    else this.remove(byLink)
  }

  add(endpoint: RemoteInstance): void {
    this.#remote = [...this.#remote, endpoint]
    this.#areSomeStarting ||= endpoint.slowStart !== undefined
    this.#inTransit.set(endpoint, new CallsInTransit())
  }

  remove(endpoint: RemoteInstance): void {
    this.#remote = this.#remote.filter((other) => other !== endpoint)
    this.#inTransit.delete(endpoint)
  }

  /** True if {@link find} would return an instance. Reserves nothing. */
  get serves(): boolean {
    return (this.local?.state === 'serving' && this.#isLocalHealthy) || this.#remote.some(isCallable)
  }

  /** What the instance that serves and suits a version best has of it. */
  fitOf(version: MethodVersion): Fit {
    return bestFit(this.#serving.map((one) => fitAt(one, version)))
  }

  /** The versions of methods that the instances which serve name. */
  get versions(): readonly string[] {
    return [...new Set(this.#serving.flatMap((one) => queuedAt(one) ?? []))]
  }

  get #serving(): readonly Endpoint[] {
    const { local } = this
    const here = local?.state === 'serving' && this.#isLocalHealthy ? [local] : []
    return [...here, ...this.#remote.filter(isCallable)]
  }

  /** All instances that serve and subscribe to the topic, the one in this thread first. */
  subscribers(topic: string): (LocalEndpoint | RemoteEndpoint)[] {
    const here = this.local
    const isHere = here?.state === 'serving' && this.#isLocalHealthy && here.typed?.events?.topics.includes(topic)
    const there = this.#remote.filter(
      (one): one is RemoteEndpoint => one.at === 'link' && isCallable(one) && one.topics?.includes(topic) === true,
    )
    return isHere === true ? [here, ...there] : there
  }

  /**
   * An instance that serves. A local call costs so much less that only overload makes a remote
   * instance the better choice.
   */
  find(options: FindOptions | undefined): Endpoint | undefined {
    if (options?.contract !== undefined) return this.#findWith(options.contract, options)
    const versioned = options?.version && this.#findVersion(options.version, targetOf(options.not))
    if (versioned !== undefined) return versioned
    const found = this.#find(options?.key, targetOf(options?.not))
    if (this.limited === undefined || found?.at !== 'link') return found
    return new Reservation(this.limited, found, () => this.#candidates(options?.key, targetOf(options?.not)))
  }

  /** Only remote instances are candidates: a service of another app has no others. */
  #findWith(contract: string, { key, not }: FindOptions): Endpoint | undefined {
    const target = targetOf(not)
    const fitting = this.#remote.filter(
      (one) => isCallable(one) && one !== target && !(one.at === 'link' && one.rejects?.(contract) === true),
    )
    if (key === undefined) return this.#pickHost(fitting)
    return pickByKey(key, chooseVersion(preferred(fitting), fractionOf(key)), (one) => this.#indexOf(one))
  }

  /** Undefined: all are as good, and remain so. */
  #findVersion(version: VersionChoice, not: Endpoint | undefined): Endpoint | undefined {
    const serving = this.#serving.filter((one) => one !== not)
    const best = bestFit(serving.map((one) => fitAt(one, version)))
    const fits = (one: Endpoint): boolean => one !== not && [best, 'same'].includes(fitAt(one, version))
    const fitting = serving.filter(fits)
    if (fitting.length === 0 || (fitting.length === serving.length && this.limited === undefined)) return undefined
    const remote = fitting.filter((one) => one.at !== 'here')
    const found = pickLeastLoaded(remote, (one) => this.#loadOf(one)) ?? fitting[0]!
    if (this.limited === undefined || found.at !== 'link') return found
    return new Reservation(this.limited, found, () => {
      const callable = this.#remote.filter(isCallable)
      const some = callable.filter(fits)
      // The slow start of a new generation sends others elsewhere, which these cannot go to.
      if (some.length > 0 && some.length < callable.length) return this.#limitedOf(some)
      if (some.length === 0 && callable.length > 0 && version.mustFit) throw noFittingInstance(this.service, version)
      return this.#candidates(undefined, not)
    })
  }

  #find(key: string | undefined, not: Endpoint | undefined): Endpoint | undefined {
    const local = this.#local?.byLink === undefined && this.#isLocalHealthy ? this.local : undefined
    const here = local?.state === 'serving' && not !== local ? local : undefined
    if (this.#remote.length === 0) return here
    if (key !== undefined) return this.#instanceForKey(key, here, not)
    if (here !== undefined && !this.#maybeOverloaded()) return here
    const there = this.#leastLoadedRemote(not)
    if (there === undefined || (here !== undefined && !this.#isOverloaded(there))) return here
    this.#inTransit.get(there)!.add()
    return there
  }

  /** The instances that a waiting call may go to, at this moment. */
  #candidates(key: string | undefined, not: Endpoint | undefined): LimitedInstance[] {
    const keyed = key === undefined ? undefined : this.#instanceForKey(key, undefined, not)
    const isCandidate = (one: RemoteInstance): boolean =>
      isCallable(one) && one !== not && (keyed === undefined || one === keyed)
    const serving = (this.#areSomeStarting ? this.#admitted(isCandidate) : this.#remote).filter(isCandidate)
    return this.#limitedOf(serving)
  }

  #limitedOf(serving: readonly RemoteInstance[]): LimitedInstance[] {
    const fresh = serving.filter((one) => !this.#loads.isStale(rowOf(one)))
    return (fresh.length > 0 ? fresh : serving).flatMap((one) =>
      one.at === 'link' && one.row !== undefined ? [{ endpoint: one, row: one.row }] : [],
    )
  }

  /** A late heartbeat does not move a key: the state that its instance keeps is worth the wait. */
  #instanceForKey(key: string, here: LocalEndpoint | undefined, not: Endpoint | undefined): Endpoint | undefined {
    const serving: Endpoint[] = this.#remote.filter((one) => isCallable(one) && one !== not)
    if (here !== undefined) serving.push(here)
    return pickByKey(key, chooseVersion(preferred(serving), fractionOf(key)), (one) => this.#indexOf(one))
  }

  #leastLoadedRemote(not: Endpoint | undefined): RemoteInstance | undefined {
    const any = this.#remote[0]
    if (any?.at === 'link' && any.host !== undefined) {
      if (this.#remote.length === 1) return isCallable(any) && any !== not ? any : undefined
      return this.#pickHost(this.#remote.filter((one) => isCallable(one) && one !== not))
    }
    const isCandidate = (one: RemoteInstance): boolean => isCallable(one) && one !== not
    const remote = this.#areSomeStarting ? this.#admitted(isCandidate) : this.#remote
    const loadOf = (one: RemoteInstance): number => (isCandidate(one) ? this.#loadOf(one) : Infinity)
    const fresh = (one: RemoteInstance): number => (this.#loads.isStale(rowOf(one)) ? Infinity : loadOf(one))
    // If all heartbeats are late, the machine is overloaded, and they say nothing.
    return pickLeastLoaded(remote, fresh) ?? pickLeastLoaded(remote, loadOf)
  }

  #admitted(isCandidate: (one: RemoteInstance) => boolean): readonly RemoteInstance[] {
    this.#areSomeStarting = this.#remote.some(({ slowStart }) => slowStart !== undefined && !slowStart.isOver)
    return admitted(this.#remote, ({ index }) => index, isCandidate)
  }

  /** Of other apps. Those that do not answer are left out, unless none does. */
  #pickHost(callable: readonly RemoteInstance[]): RemoteInstance | undefined {
    const answering = callable.filter((one) => !isSilent(one))
    const hosts = preferred(answering.length > 0 ? answering : callable)
    return pickOfTwo(chooseVersion(hosts, Math.random()), (one) => this.#loadOf(one))
  }

  /**
   * The instance's own count, plus this worker's calls in transit to it. 0 for a command, whose
   * load is unknown.
   */
  #loadOf(endpoint: RemoteInstance): number {
    if (endpoint.at === 'tcp') return 0
    const { row, load, link } = endpoint
    const { ownBeat } = this.#loads
    const inTransit = this.#inTransit.get(endpoint)!
    const sent =
      load === undefined
        ? inTransit.notBegun(this.#loads.begun(row, this.service), ownBeat)
        : inTransit.sinceReport(load, ownBeat)
    return (load ?? this.#loads.inFlight(row, this.service)) + Math.min(sent, link.inFlight)
  }

  /** A cheap check that does not look at the other instances. */
  #maybeOverloaded(): boolean {
    return this.#loads.ownInFlight(this.service) >= overloadFloor && this.#loads.ownUtilization >= busyLoop
  }

  #isOverloaded(there: RemoteInstance): boolean {
    return (
      !this.#loads.isStale(rowOf(there)) &&
      this.#loads.ownInFlight(this.service) > overloadFactor * (this.#loadOf(there) + 1)
    )
  }

  #indexOf(endpoint: Endpoint): number {
    return endpoint.at === 'here' ? this.#local!.index : endpoint.index
  }
}

/** The instance behind a reservation. */
function targetOf(endpoint: Endpoint | undefined): Endpoint | undefined {
  return endpoint instanceof Reservation ? endpoint.target : endpoint
}

/** A closing link means that the instance is about to leave. */
function isCallable(endpoint: RemoteInstance): boolean {
  return endpoint.state === 'serving' && (endpoint.at === 'tcp' || endpoint.link.state === 'open')
}

/** Those that are not ejected. If all are, a call that may fail is better than none. */
function preferred<T extends Endpoint>(instances: readonly T[]): readonly T[] {
  if (!instances.some(isEjected)) return instances
  const others = instances.filter((one) => !isEjected(one))
  return others.length > 0 ? others : instances
}

function isEjected(endpoint: Endpoint): boolean {
  return endpoint.at === 'link' && endpoint.isEjected === true
}

function isSilent(endpoint: RemoteInstance): boolean {
  return endpoint.at === 'link' && endpoint.link.isSilent
}

function rowOf(endpoint: RemoteInstance): number | undefined {
  return endpoint.at === 'link' ? endpoint.row : undefined
}
