import { BusbarError, type ErrorRecord } from '../contract/errors.ts'
import type { CallId, InstanceSpec, PeerSpec, PeerWay } from '../shared/control.ts'
import type { EndpointState, RemoteEndpoint, TcpEndpoint } from './endpoint.ts'
import { Fates } from './fates.ts'
import type { Hello } from './links/hello.ts'
import { dialTime, maxSilence } from './links/limits.ts'
import type { Answerer, CallHead, Link } from './links/link.ts'
import { createLink, type LinkOptions } from './links/live-link.ts'
import { PendingPipe } from './links/pending.ts'
import type { Pipe } from './links/pipe.ts'
import type { Router } from './router.ts'
import { type Greeted } from './transports/socket.ts'
import { threadPipe } from './transports/thread.ts'
import { dialUnix, type LinkListener, listenUnix } from './transports/unix.ts'

export interface PeersOptions extends Hello {
  readonly router: Router
  readonly answer: Answerer
  /** Where other workers dial this one; undefined where all of them have a port to it, or are dialled. */
  readonly listenAt: string | undefined
  /** Of a process: how busy its instance of a service is, for the others. Threads read it in the memory they share. */
  readonly loadOf?: ((service: string) => number) | undefined
  /** A link has ended that nobody ended: its worker is gone, or lives and is not reached any more. */
  readonly unlinked?: (spec: PeerSpec, reason: ErrorRecord) => void
  /** A call to this worker's service is given up here. */
  readonly gaveUp?: (worker: number, head: CallHead, call: CallId) => void
  /** A worker that leaves has read all calls that it ever gets from this one. */
  readonly left?: (worker: number) => void
}

interface Peer {
  readonly spec: PeerSpec
  /** Undefined for a command, which knows of no links. */
  readonly link: Link | undefined
  readonly endpoints: (Changing<RemoteEndpoint> | Changing<TcpEndpoint>)[]
  /** Why it gets no more calls; what it has sent before may still be under way. */
  leaving: ErrorRecord | undefined
}

type Changing<T> = Omit<T, 'state'> & { state: EndpointState }

/** With which a worker that has stopped closes its links. */
const stoppedCode = 'SERVICE_UNAVAILABLE'
/** With which the supervisor says that one has died. */
const diedCode = 'WORKER_DIED'

/** Why a link is closed before the next one to the same worker is made: this end has not seen it break yet. */
const relinked: ErrorRecord = { code: 'LINK_LOST', message: 'the worker is linked anew' }

/** The other workers, as the supervisor tells of them: one link to each, and their instances in the router. */
export class Peers {
  readonly #options: PeersOptions
  readonly #peers = new Map<number, Peer>()
  /** Of those who will dial, and of those who have before anybody told of them. */
  readonly #expected = new Map<number, PendingPipe>()
  readonly #early = new Map<number, Pipe>()
  readonly #fates = new Fates()
  #listener: LinkListener | undefined

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** Takes links, where others dial this worker. Rejects with Node's own error where the path cannot be had. */
  async listen(): Promise<void> {
    const { listenAt } = this.#options
    if (listenAt === undefined) return
    this.#listener = await listenUnix(listenAt, this.#options, (greeted) => this.#dialled(greeted))
  }

  join(spec: PeerSpec): void {
    this.#forget(spec.worker, relinked)
    const pipe = this.#pipeTo(spec.worker, spec.way)
    const peer: Peer = { spec, link: pipe && this.#link(spec, pipe), endpoints: [], leaving: undefined }
    this.#peers.set(spec.worker, peer)
    for (const service of spec.services) this.serves(spec.worker, service)
    this.#fates.lives(spec.worker)
  }

  serves(worker: number, { name: service, typed, index, path }: InstanceSpec): void {
    const peer = this.#peers.get(worker)
    if (peer === undefined || peer.leaving !== undefined) return
    const { row, way } = peer.spec
    const state = 'serving' as EndpointState
    if (way.by === 'tcp') this.#add(peer, { at: 'tcp', service, index, state, typed, host: way.host, port: way.port })
    else this.#add(peer, linked({ service, worker, index, state, typed, row, path }, peer.link!, way))
  }

  /** First when it drains, and then when it is gone; one that dies drains not. */
  leave(worker: number, reason: ErrorRecord): void {
    // One that is replaced lives for a while.
    if (reason.code === diedCode) this.#fates.died(worker, reason)
    const peer = this.#peers.get(worker)
    if (peer === undefined) return this.#options.left?.(worker)
    this.#withdraw(peer)
    if (peer.leaving === undefined) void this.#partFrom(peer)
    if (peer.leaving !== undefined || peer.link === undefined) this.#forget(worker, reason)
    else peer.leaving = reason
  }

  /** Fails what is in flight in either direction, with `reason`. */
  async close(reason: ErrorRecord): Promise<void> {
    // Each leaves the list as it goes, which a Map's iteration allows.
    for (const worker of this.#peers.keys()) this.#forget(worker, reason)
    this.#fates.close(reason)
    for (const pipe of this.#early.values()) pipe.close()
    await this.#listener?.close()
  }

  async #partFrom({ spec, link }: Peer): Promise<void> {
    await link?.heard()
    this.#options.left?.(spec.worker)
  }

  #link(spec: PeerSpec, pipe: Pipe): Link {
    const { answer, loadOf, gaveUp } = this.#options
    const { worker, label, way, link: number } = spec
    // A port ends with its thread. A socket may be open for ever to a process that does not run any more.
    const silence = way.by === 'thread' ? {} : { silence: maxSilence }
    const fate = (lost: ErrorRecord): Promise<ErrorRecord> => this.#fateOf(worker, lost)
    const abandoned: LinkOptions['abandoned'] = (head, call) => gaveUp?.(worker, head, call)
    const link = createLink(pipe, { peer: worker, label, number, answer, loadOf, abandoned, fate, ...silence })
    void link.closed.then((reason) => this.#ended(spec, link, reason))
    return link
  }

  /** The supervisor's word may be here before the end of the link is. */
  #fateOf(worker: number, lost: ErrorRecord): Promise<ErrorRecord> {
    const known = this.#peers.get(worker)?.leaving
    return known?.code === diedCode ? Promise.resolve(known) : this.#fates.of(worker, lost)
  }

  #ended(spec: PeerSpec, link: Link, reason: ErrorRecord): void {
    const peer = this.#peers.get(spec.worker)
    if (peer?.link !== link) return
    this.#forget(spec.worker, reason)
    if (peer.leaving === undefined && reason.code !== stoppedCode) this.#options.unlinked?.(spec, reason)
  }

  #pipeTo(worker: number, way: PeerWay): Pipe | undefined {
    switch (way.by) {
      case 'thread':
        return threadPipe(way.port)
      case 'unix':
        return this.#dial(worker, way.path)
      case 'accept':
        return this.#expect(worker)
      case 'tcp':
        return undefined
    }
  }

  #dial(worker: number, path: string): Pipe {
    const pending = new PendingPipe()
    const dialling = dialUnix(path, this.#options).then(({ pipe, peer }) => {
      if (peer !== worker) throw new BusbarError('LINK_LOST', { message: `worker ${peer} takes links at ${path}` })
      if (!pending.fulfil(pipe)) pipe.close()
    })
    dialling.catch((error: unknown) => pending.fail(`cannot be dialled: ${BusbarError.from(error).message}`))
    return pending
  }

  #expect(worker: number): Pipe {
    const early = this.#early.get(worker)
    if (early !== undefined) {
      this.#early.delete(worker)
      return early
    }
    const pending = new PendingPipe()
    this.#expected.set(worker, pending)
    setTimeout(() => pending.fail('has not dialled in time'), dialTime).unref()
    return pending
  }

  #dialled({ pipe, peer }: Greeted): void {
    const expected = this.#expected.get(peer)
    this.#expected.delete(peer)
    if (expected?.fulfil(pipe) === true) return
    // It may be told of later, or told to be linked anew; but nobody dials twice before that.
    if (this.#early.has(peer)) return pipe.close()
    this.#early.set(peer, pipe)
    setTimeout(() => this.#dropEarly(peer, pipe), dialTime).unref()
  }

  #dropEarly(peer: number, pipe: Pipe): void {
    if (this.#early.get(peer) !== pipe) return
    this.#early.delete(peer)
    pipe.close()
  }

  #add(peer: Peer, endpoint: Peer['endpoints'][number]): void {
    peer.endpoints.push(endpoint)
    this.#options.router.addRemote(endpoint)
  }

  #withdraw({ endpoints }: Peer): void {
    for (const endpoint of endpoints.splice(0)) {
      endpoint.state = 'stopped'
      this.#options.router.removeRemote(endpoint)
    }
  }

  #forget(worker: number, reason: ErrorRecord): void {
    const peer = this.#peers.get(worker)
    if (peer === undefined) return
    this.#peers.delete(worker)
    this.#expected.delete(worker)
    this.#withdraw(peer)
    peer.link?.close(reason)
  }
}

/** Only between threads a row in the memory says at any moment what an instance does. */
function linked(
  place: Omit<Changing<RemoteEndpoint>, 'at' | 'link' | 'load' | 'admission'>,
  link: Link,
  { by }: PeerWay,
): Changing<RemoteEndpoint> {
  if (by === 'thread') return { at: 'link', link, ...place }
  return {
    at: 'link',
    link,
    ...place,
    get load() {
      return link.loadOf(place.service)
    },
  }
}
