import { MessageChannel, type Transferable } from 'node:worker_threads'
import type { ErrorRecord } from '../contract/errors.ts'
import type { InstanceSpec, PeerWay, ToWorker } from '../shared/control.ts'
import type { LostLink } from './handle.ts'
import { Parting } from './parting.ts'
import type { Relinks } from './relinks.ts'

/** A worker, as the others get to know it. */
export interface Acquaintance {
  readonly worker: number
  readonly row: number
  readonly reach: Reach
  /** As lines of the log call it. */
  readonly label: string
  /** A command is told nothing. */
  tell(order: ToWorker, transfer?: readonly Transferable[]): void
}

/** How links to it are made. */
export type Reach =
  | { readonly by: 'thread' }
  | { readonly by: 'unix'; readonly path: string }
  | { readonly by: 'tcp'; readonly host: string; readonly port: number }

interface Member {
  readonly who: Acquaintance
  services: readonly InstanceSpec[]
  /** What it serves and the others have not been told of; undefined once they may be. */
  withheld: InstanceSpec[] | undefined
  /** Once nobody is to call it any more, though it may still call: how those who knew it part from it. */
  parting: Parting | undefined
  /** The number of its link to each of the others. */
  readonly links: Map<number, number>
}

/**
 * Tells workers of each other. A pair is linked as soon as both can be, before either serves, so that a service reaches those
 * it needs while it starts; what each serves is told as it comes. A pair that has lost its link is introduced anew.
 */
export class Introductions {
  readonly #relinks: Relinks
  readonly #members = new Map<number, Member>()
  readonly #waiting = new Set<{ readonly service: string; readonly resolve: (serves: boolean) => void }>()

  #links = 0

  constructor(relinks: Relinks) {
    this.#relinks = relinks
  }

  /** `isHeld`: the others are linked with it, and told what it serves only when it is announced. */
  enter(who: Acquaintance, isHeld = false): void {
    const withheld = isHeld ? [] : undefined
    const member: Member = { who, services: [], withheld, parting: undefined, links: new Map() }
    for (const other of this.#members.values()) this.#introduce(member, other)
    this.#members.set(who.worker, member)
  }

  serves(worker: number, service: InstanceSpec): void {
    const member = this.#members.get(worker)
    if (member === undefined || member.parting !== undefined) return
    if (member.withheld !== undefined) return void member.withheld.push(service)
    member.services = [...member.services, service]
    this.#tellOthers(worker, { type: 'serves', peer: worker, service })
    for (const one of this.#waiting) if (one.service === service.name) one.resolve(true)
  }

  /** A worker that was held is called like any other from now on. */
  announce(worker: number): void {
    const member = this.#members.get(worker)
    const withheld = member?.withheld ?? []
    if (member !== undefined) member.withheld = undefined
    for (const service of withheld) this.serves(worker, service)
  }

  /** A worker has lost its link to another. Both say so, and a worker that is dying makes all the others say so. */
  unlinked(worker: number, { peer, link, reason }: LostLink): void {
    const one = this.#members.get(worker)
    const other = this.#members.get(peer)
    if (one === undefined || other === undefined || one.links.get(peer) !== link) return
    one.links.delete(peer)
    other.links.delete(worker)
    this.#relinks.lost(one.who, other.who, reason, () => this.#introduce(one, other))
  }

  /** It is to be drained: resolves when it has read all calls that it ever gets, or after `limit` milliseconds. */
  async leave(worker: number, reason: ErrorRecord, limit: number): Promise<void> {
    const member = this.#members.get(worker)
    if (member === undefined) return
    if (member.parting === undefined) {
      member.services = []
      member.parting = new Parting(this.#callersOf(member))
      this.#tellOthers(worker, { type: 'leave', peer: worker, reason })
    }
    await member.parting.over(limit)
  }

  /** A worker calls one that leaves no more. */
  left(worker: number, peer: number): void {
    this.#members.get(peer)?.parting?.without(worker)
  }

  /** It has ended. */
  remove(worker: number, reason: ErrorRecord): void {
    this.#members.get(worker)?.parting?.end()
    if (!this.#members.delete(worker)) return
    this.#relinks.forget(worker)
    for (const { links, parting } of this.#members.values()) {
      links.delete(worker)
      parting?.without(worker)
    }
    this.#tellOthers(worker, { type: 'leave', peer: worker, reason })
  }

  /** True when an instance of the service serves, false when none does within `limit` milliseconds. */
  async until(service: string, limit: number): Promise<boolean> {
    const serves = [...this.#members.values()].some(({ services }) => services.some(({ name }) => name === service))
    if (serves) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { service, resolve }
    this.#waiting.add(waiting)
    const timer = setTimeout(resolve, limit, false).unref()
    const came = await promise
    clearTimeout(timer)
    this.#waiting.delete(waiting)
    return came
  }

  /** A command is told nothing, and calls by no link. */
  #callersOf(member: Member): number[] {
    const others = [...this.#members.values()].filter((other) => other !== member && other.who.reach.by !== 'tcp')
    return others.map(({ who }) => who.worker)
  }

  #introduce(one: Member, other: Member): void {
    const [toOther, toOne] = waysBetween(one.who, other.who)
    const link = this.#links++
    joined(one, other, link, toOther)
    joined(other, one, link, toOne)
  }

  #tellOthers(worker: number, order: ToWorker): void {
    for (const { who } of this.#members.values()) if (who.worker !== worker) who.tell(order)
  }
}

function joined({ who, links }: Member, { who: peer, services }: Member, link: number, way: PeerWay): void {
  links.set(peer.worker, link)
  // Only threads see the memory; what a process does is written there for it.
  const row = who.reach.by === 'thread' ? peer.row : undefined
  const order: ToWorker = { type: 'join', peer: { worker: peer.worker, label: peer.label, services, row, link, way } }
  who.tell(order, way.by === 'thread' ? [way.port] : [])
}

/** How the one reaches the other, and the other the one: each pair has one link. */
function waysBetween(one: Acquaintance, other: Acquaintance): [PeerWay, PeerWay] {
  if (one.reach.by === 'thread' && other.reach.by === 'thread') {
    const { port1, port2 } = new MessageChannel()
    return [
      { by: 'thread', port: port1 },
      { by: 'thread', port: port2 },
    ]
  }
  // A command is called, and never calls.
  if (one.reach.by === 'tcp' || other.reach.by === 'tcp') return [wayTo(other), wayTo(one)]
  return dials(one, other) ? [wayTo(other), { by: 'accept' }] : [{ by: 'accept' }, wayTo(one)]
}

/** Threads dial processes; of two processes the one that came later. */
function dials(one: Acquaintance, other: Acquaintance): boolean {
  if (one.reach.by !== other.reach.by) return one.reach.by === 'thread'
  return one.worker > other.worker
}

function wayTo({ reach }: Acquaintance): PeerWay {
  return reach.by === 'thread' ? { by: 'accept' } : reach
}
