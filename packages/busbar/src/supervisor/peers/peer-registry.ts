import { MessageChannel, type Transferable } from 'node:worker_threads'
import type { ErrorRecord } from '../../contract/errors.ts'
import { newBegunCalls } from '../../shared/calls/begun-calls.ts'
import type { DirectInstance } from '../../shared/entrance/entrance.ts'
import type { FromWorker, InstanceSpec, LinkSetup, ToWorker } from '../../shared/control-messages.ts'
import { PeerDrain } from './peer-drain.ts'
import type { LinkedWorker, Reconnector } from './reconnector.ts'
import type { SlowStartSpec } from '../../shared/slow-start.ts'

type LostLink = Extract<FromWorker, { type: 'unlinked' }>

/** A worker, as its peers need to know it. */
export interface PeerInfo extends LinkedWorker {
  /** That of its slot, by which its calls are counted. */
  readonly slot?: number
  readonly row: number
  readonly address: PeerAddress
  /** Does nothing for a command. */
  send(order: ToWorker, transfer?: readonly Transferable[]): void
}

/** How a link to a worker is made. Only commands and test doubles have `tcp`. */
export type PeerAddress =
  | { readonly kind: 'thread' }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }

/**
 * Which services of a worker its peers do not learn of until it is announced. `spare`: none of
 * them. `successor`: those that another worker serves, so that a generation which starts several
 * services at once can call its own new ones.
 */
export type Hold = 'spare' | 'successor' | undefined

/** Why a replaced worker gets no more calls. */
export const replaced: ErrorRecord = { code: 'SERVICE_UNAVAILABLE', message: 'the worker is being replaced' }

interface Peer {
  readonly info: PeerInfo
  readonly hold: Hold
  services: readonly InstanceSpec[]
  /** While the worker is held: the services that it serves and its peers do not know of. */
  withheld: InstanceSpec[] | undefined
  /** Set when the worker drains: it gets no new calls, and may still call others. */
  drain: PeerDrain | undefined
  /** The number of its link to each other worker. */
  readonly links: Map<number, number>
}

/**
 * Tells workers about each other. A pair is linked as soon as both can be, before either serves, so
 * that a service can call others while it starts. Each service is announced when it serves. A pair
 * that loses its link gets a new one.
 */
export class PeerRegistry {
  readonly #reconnector: Reconnector
  readonly #peers = new Map<number, Peer>()
  readonly #waiting = new Set<{ readonly service: string; readonly resolve: (serves: boolean) => void }>()

  readonly #changed: () => void
  #links = 0

  /** `changed`: what {@link separate} returns may be different. */
  constructor(reconnector: Reconnector, changed: () => void = () => {}) {
    this.#reconnector = reconnector
    this.#changed = changed
  }

  /** The healthy instances in processes and commands. */
  get separate(): readonly DirectInstance[] {
    return [...this.#peers.values()].flatMap((peer) => separateOf(peer))
  }

  /** The commands that are run by this worker. They cannot say when they have answered all. */
  commandsOf(worker: number): readonly DirectInstance[] {
    const peer = this.#peers.get(worker)
    return peer?.info.address.kind === 'tcp' ? separateOf(peer) : []
  }

  /** Peers are linked with it at once. */
  enter(info: PeerInfo, hold?: Hold): void {
    const withheld = hold === undefined ? undefined : []
    const peer: Peer = { info, hold, services: [], withheld, drain: undefined, links: new Map() }
    for (const other of this.#peers.values()) this.#link(peer, other)
    this.#peers.set(info.worker, peer)
  }

  serves(worker: number, service: InstanceSpec, slowStart?: SlowStartSpec): void {
    const peer = this.#peers.get(worker)
    if (peer === undefined || peer.drain !== undefined) return
    const waits = peer.hold === 'spare' || this.#isServed(service.name)
    if (peer.withheld !== undefined && waits) return void peer.withheld.push(service)
    peer.services = [...peer.services, service]
    this.#changed()
    const known = slowStart === undefined ? service : { ...service, slowStart }
    this.#sendOthers(worker, { type: 'serves', peer: worker, service: known })
    for (const one of this.#waiting) if (one.service === service.name) one.resolve(true)
  }

  /** The health of a service that the worker serves. An unhealthy one gets no new calls. */
  health(worker: number, service: string, healthy: boolean): void {
    const peer = this.#peers.get(worker)
    const known = peer?.services.find(({ name }) => name === service)
    if (peer === undefined || known === undefined || (known.unhealthy !== true) === healthy) return
    peer.services = peer.services.map((one) => (one === known ? { ...one, unhealthy: !healthy } : one))
    this.#changed()
    this.#sendOthers(worker, { type: 'health', peer: worker, service, healthy })
  }

  /** Peers may call a worker that was held from now on. `slowStart`: more and more. */
  announce(worker: number, slowStart?: SlowStartSpec): void {
    const peer = this.#peers.get(worker)
    if (peer?.withheld === undefined) return
    const { withheld } = peer
    peer.withheld = undefined
    peer.info.send({ type: 'announced', slowStart })
    for (const service of withheld) this.serves(worker, service, slowStart)
  }

  /** A worker lost its link to another. Both ends report it; when a worker dies, all others do. */
  unlinked(worker: number, { peer, link, reason }: LostLink): void {
    const one = this.#peers.get(worker)
    const other = this.#peers.get(peer)
    if (one === undefined || other === undefined || one.links.get(peer) !== link) return
    one.links.delete(peer)
    other.links.delete(worker)
    this.#reconnector.lost(one.info, other.info, reason, () => this.#link(one, other))
  }

  /**
   * Stops new calls to a worker that is about to drain. Resolves when it has read all calls that
   * were sent to it, or after `limit` milliseconds.
   */
  async leave(worker: number, reason: ErrorRecord, limit: number): Promise<void> {
    const peer = this.#peers.get(worker)
    if (peer === undefined) return
    if (peer.drain === undefined) {
      peer.services = []
      this.#changed()
      peer.drain = new PeerDrain(this.#callersOf(peer))
      this.#sendOthers(worker, { type: 'leave', peer: worker, reason })
    }
    await peer.drain.over(limit)
  }

  /** `worker` sends no more calls to `peer`, which drains. */
  left(worker: number, peer: number): void {
    this.#peers.get(peer)?.drain?.confirm(worker)
  }

  /** The worker has ended. */
  remove(worker: number, reason: ErrorRecord): void {
    this.#peers.get(worker)?.drain?.end()
    if (!this.#peers.delete(worker)) return
    this.#changed()
    this.#reconnector.forget(worker)
    for (const { links, drain } of this.#peers.values()) {
      links.delete(worker)
      drain?.confirm(worker)
    }
    this.#sendOthers(worker, { type: 'leave', peer: worker, reason })
  }

  /**
   * Resolves to true when an instance of the service serves, to false after `limit` milliseconds.
   */
  async until(service: string, limit: number): Promise<boolean> {
    if (this.#isServed(service)) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { service, resolve }
    this.#waiting.add(waiting)
    const timer = setTimeout(resolve, limit, false).unref()
    const came = await promise
    clearTimeout(timer)
    this.#waiting.delete(waiting)
    return came
  }

  #isServed(service: string): boolean {
    return [...this.#peers.values()].some(({ services }) => services.some(({ name }) => name === service))
  }

  /** A command makes no calls by a link, and gets no orders. */
  #callersOf(peer: Peer): number[] {
    const others = [...this.#peers.values()].filter((other) => other !== peer && other.info.address.kind !== 'tcp')
    return others.map(({ info }) => info.worker)
  }

  #link(one: Peer, other: Peer): void {
    const [toOther, toOne] = linkSetups(one.info, other.info)
    const link = this.#links++
    join(one, other, link, toOther)
    join(other, one, link, toOne)
  }

  #sendOthers(worker: number, order: ToWorker): void {
    for (const { info } of this.#peers.values()) if (info.worker !== worker) info.send(order)
  }
}

function separateOf({ info: { address, slot }, services }: Peer): readonly DirectInstance[] {
  return services.flatMap(({ name: service, path, unhealthy }): DirectInstance[] => {
    if (unhealthy === true || address.kind === 'thread') return []
    if (address.kind === 'tcp') return [{ service, host: address.host, port: address.port, slot }]
    return path === undefined ? [] : [{ service, path, slot }]
  })
}

function join({ info, links }: Peer, { info: peer, services }: Peer, link: number, setup: LinkSetup): void {
  links.set(peer.worker, link)
  // Only threads see the shared memory. The supervisor writes the row of a process.
  const row = info.address.kind === 'thread' ? peer.row : undefined
  const { worker, slot, label } = peer
  const order: ToWorker = { type: 'join', peer: { worker, slot, label, services, row, link, setup } }
  info.send(order, setup.kind === 'thread' ? [setup.port] : [])
}

/** How `one` reaches `other`, and `other` reaches `one`, by the single link of the pair. */
function linkSetups(one: PeerInfo, other: PeerInfo): [LinkSetup, LinkSetup] {
  if (one.address.kind === 'thread' && other.address.kind === 'thread') {
    const { port1, port2 } = new MessageChannel()
    const [begun1, begun2] = newBegunCalls()
    return [
      { kind: 'thread', port: port1, begun: begun1 },
      { kind: 'thread', port: port2, begun: begun2 },
    ]
  }
  // A command is called and never calls.
  if (one.address.kind === 'tcp' || other.address.kind === 'tcp') return [setupTo(other), setupTo(one)]
  return dials(one, other) ? [setupTo(other), { kind: 'accept' }] : [{ kind: 'accept' }, setupTo(one)]
}

/** Threads dial processes. Of two processes, the younger one dials. */
function dials(one: PeerInfo, other: PeerInfo): boolean {
  if (one.address.kind !== other.address.kind) return one.address.kind === 'thread'
  return one.worker > other.worker
}

function setupTo({ address }: PeerInfo): LinkSetup {
  return address.kind === 'thread' ? { kind: 'accept' } : address
}
