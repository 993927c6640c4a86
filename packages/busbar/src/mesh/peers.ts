import { BusbarError, type ErrorRecord } from '../contract/errors.ts'
import { BegunCalls } from '../shared/calls/begun-calls.ts'
import type { CallId } from '../shared/calls/call-id.ts'
import type { InstanceSpec, PeerSpec, LinkSetup } from '../shared/control-messages.ts'
import { startRunningTimeout } from '../shared/time/running-timeout.ts'
import { SlowStart } from '../shared/slow-start.ts'
import { AnswerSizes } from './links/limits/answer-sizes.ts'
import { answersArrive } from './links/last-answers.ts'
import { keepAliveTimeout } from './links/limits/limits.ts'
import type { CallHandler, CallHead, Link, LinkOptions } from './links/link.ts'
import { createLink } from './links/live-link.ts'
import { LostCallResolver } from './links/lost-call-resolver.ts'
import type { PacketTransport } from './links/packet-transport.ts'
import { CommandConnections } from './sockets/command-connections.ts'
import type { EndpointState, RemoteEndpoint, TcpEndpoint } from './routing/endpoint.ts'
import type { Router } from './routing/router.ts'
import { AcceptedDials } from './transports/accepted-dials.ts'
import type { Hello } from './transports/hello.ts'
import { PendingTransport } from './transports/pending.ts'
import { threadTransport } from './transports/thread.ts'
import { dialUnix, type LinkListener, listenUnix } from './transports/unix.ts'

export interface PeersOptions extends Hello {
  readonly router: Router
  readonly answer: CallHandler
  /** The path where other workers dial this one. Undefined if none does. */
  readonly listenAt: string | undefined
  /**
   * In a process: calls in flight at its instance of a service. Threads read that in shared memory.
   */
  readonly loadOf?: ((service: string) => number) | undefined
  /** A link was lost. Its worker has died, or is cut off. */
  readonly onLinkLost?: (spec: PeerSpec, reason: ErrorRecord) => void
  /** This worker abandons a call to another one. */
  readonly onAbandoned?: (worker: number, head: CallHead, call: CallId) => void
  /** Gets a line when values of calls of other apps are refused: a peer does not read them. */
  readonly onUnread?: (line: string) => void
  /** A leaving worker has read all calls that this one will ever send it. */
  readonly onDrained?: (worker: number) => void
}

interface Peer {
  readonly spec: PeerSpec
  /** Undefined for a command, which has no links. */
  readonly link: Link | undefined
  /** Only to a command. */
  readonly connections: CommandConnections | undefined
  readonly endpoints: (Mutable<RemoteEndpoint> | Mutable<TcpEndpoint>)[]
  presence: Presence
}

/**
 * A worker that leaves or is gone gets no more calls. Frames that it has sent may be in transit.
 */
type Presence = { readonly is: 'here' } | { readonly is: 'leaving' | 'gone'; readonly reason: ErrorRecord }

type Mutable<T> = Omit<T, 'state'> & { state: EndpointState }

/**
 * Milliseconds for the link of a worker that is gone to deliver the rest. It then closes itself.
 */
const lastFramesTimeout = 1_000

/** The code with which a stopped worker closes its links. */
const stoppedCode = 'SERVICE_UNAVAILABLE'
/** The code with which the supervisor reports a death. */
const diedCode = 'WORKER_DIED'

/** Closes the previous link to a worker that gets a new one, if this side has not seen it break. */
const relinked: ErrorRecord = { code: 'LINK_LOST', message: 'the worker gets a new link' }

/**
 * The other workers, as the supervisor announces them: one link to each, and their instances in the
 * router.
 */
export class Peers {
  readonly #options: PeersOptions
  readonly #peers = new Map<number, Peer>()
  readonly #accepted = new AcceptedDials()
  readonly #lostCalls = new LostCallResolver()
  readonly #answerSizes = new AnswerSizes()
  #listener: LinkListener | undefined

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /**
   * Accepts links, if others dial this worker. Rejects with Node's own error if it cannot listen at
   * the path.
   */
  async listen(): Promise<void> {
    const { listenAt } = this.#options
    if (listenAt === undefined) return
    this.#listener = await listenUnix(listenAt, this.#options, (result) => this.#accepted.dialled(result))
  }

  join(spec: PeerSpec): void {
    this.#forget(spec.worker, relinked)
    const transport = this.#transportTo(spec)
    const link = transport && this.#link(spec, transport)
    const connections = link === undefined ? new CommandConnections() : undefined
    const peer: Peer = { spec, link, connections, endpoints: [], presence: { is: 'here' } }
    this.#peers.set(spec.worker, peer)
    for (const service of spec.services) this.serves(spec.worker, service)
    this.#lostCalls.relinked(spec.worker)
  }

  serves(
    worker: number,
    { name: service, typed, index, path, topics, queued, unhealthy, slowStart: spec }: InstanceSpec,
  ): void {
    const peer = this.#peers.get(worker)
    if (peer?.presence.is !== 'here') return
    const { slot, row, setup } = peer.spec
    const state: EndpointState = unhealthy === true ? 'unhealthy' : 'serving'
    const { connections } = peer
    const slowStart = spec === undefined ? undefined : new SlowStart(spec)
    const instance = { service, slot, index, state, typed, slowStart }
    if (setup.kind === 'tcp')
      this.#add(peer, { at: 'tcp', ...instance, host: setup.host, port: setup.port, connections })
    else this.#add(peer, linkedEndpoint({ ...instance, worker, row, path, topics, queued }, peer.link!, setup))
  }

  /** An unhealthy instance gets no new calls. Those in flight go on. */
  health(worker: number, service: string, healthy: boolean): void {
    for (const endpoint of this.#peers.get(worker)?.endpoints ?? [])
      if (endpoint.service === service) endpoint.state = healthy ? 'serving' : 'unhealthy'
  }

  /**
   * Call it when the worker drains, and again when it is gone. A worker that dies does not drain.
   */
  leave(worker: number, reason: ErrorRecord): void {
    // A worker that is replaced leaves too, and is still alive.
    if (reason.code === diedCode) this.#lostCalls.died(worker, reason)
    const peer = this.#peers.get(worker)
    if (peer === undefined) return this.#options.onDrained?.(worker)
    this.#withdraw(peer)
    const isGone = peer.presence.is !== 'here'
    peer.presence = { is: isGone ? 'gone' : 'leaving', reason }
    if (!isGone) void this.#drain(peer)
    if (peer.link === undefined) this.#forget(worker, reason)
    else if (isGone) this.#awaitLastFrames(peer, reason)
  }

  /** The report of its end may overtake its last answers. */
  #awaitLastFrames(peer: Peer, reason: ErrorRecord): void {
    const { worker } = peer.spec
    const forget = (): void => {
      if (this.#peers.get(worker) === peer) this.#forget(worker, reason)
    }
    void peer.link!.closed.then(startRunningTimeout(lastFramesTimeout, forget))
  }

  /** Waits for at most `timeout` milliseconds until their calls are answered. */
  async finish(timeout: number): Promise<void> {
    await answersArrive(
      [...this.#peers.values()].flatMap(({ link }) => link ?? []),
      timeout,
    )
  }

  /** Fails the calls in flight in both directions with `reason`. */
  async close(reason: ErrorRecord): Promise<void> {
    // Each iteration deletes its key, which a Map allows.
    for (const worker of this.#peers.keys()) this.#forget(worker, reason)
    this.#lostCalls.close(reason)
    this.#accepted.close()
    await this.#listener?.close()
  }

  async #drain({ spec, link, connections }: Peer): Promise<void> {
    await (link?.acknowledged() ?? connections?.leave())
    this.#options.onDrained?.(spec.worker)
  }

  #link(spec: PeerSpec, transport: PacketTransport): Link {
    const { answer, loadOf, onAbandoned, onUnread } = this.#options
    const { worker, label, setup, link: number } = spec
    const link = createLink(transport, {
      peer: worker,
      label: `worker ${label}`,
      number,
      answer,
      loadOf,
      onUnread,
      answerSizes: this.#answerSizes,
      onAbandoned: (head, call) => onAbandoned?.(worker, head, call),
      resolveLost: (reason) => this.#resolveLost(worker, reason),
      // A port closes with its thread. A socket to a hung process may stay open for ever.
      ...(setup.kind === 'thread' ? { begun: new BegunCalls(setup.begun) } : { keepAliveTimeout }),
    } satisfies LinkOptions)
    void link.closed.then((reason) => this.#onClosed(spec, link, reason))
    return link
  }

  /** The supervisor's report may arrive before the link closes. */
  #resolveLost(worker: number, reason: ErrorRecord): Promise<ErrorRecord> {
    const presence = this.#peers.get(worker)?.presence ?? { is: 'here' }
    const isKnown = presence.is === 'gone' || (presence.is === 'leaving' && presence.reason.code === diedCode)
    return isKnown ? Promise.resolve(presence.reason) : this.#lostCalls.resolve(worker, reason)
  }

  #onClosed(spec: PeerSpec, link: Link, reason: ErrorRecord): void {
    const peer = this.#peers.get(spec.worker)
    if (peer?.link !== link) return
    this.#forget(spec.worker, reason)
    if (peer.presence.is === 'here' && reason.code !== stoppedCode) this.#options.onLinkLost?.(spec, reason)
  }

  #transportTo({ worker, link, setup }: PeerSpec): PacketTransport | undefined {
    switch (setup.kind) {
      case 'thread':
        return threadTransport(setup.port)
      case 'unix':
        return this.#dial(worker, link, setup.path)
      case 'accept':
        return this.#accepted.expect(worker, link)
      case 'tcp':
        return undefined
    }
  }

  #dial(worker: number, link: number, path: string): PacketTransport {
    const pending = new PendingTransport()
    const { worker: own, secret } = this.#options
    const dialling = dialUnix(path, { worker: own, secret, link }).then(({ transport, peer }) => {
      if (peer.worker !== worker)
        throw new BusbarError('LINK_LOST', { message: `worker ${peer.worker} accepts links at ${path}` })
      if (!pending.connect(transport)) transport.close()
    })
    dialling.catch((error: unknown) => pending.fail(`cannot be dialled: ${BusbarError.from(error).message}`))
    return pending
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
    this.#accepted.forget(worker)
    this.#withdraw(peer)
    peer.link?.close(reason)
  }
}

/** Between threads shared memory has the current load. Others report it over the link. */
function linkedEndpoint(
  instance: Omit<Mutable<RemoteEndpoint>, 'at' | 'link' | 'load' | 'admission'>,
  link: Link,
  { kind }: LinkSetup,
): Mutable<RemoteEndpoint> {
  if (kind === 'thread') return { at: 'link', link, ...instance }
  return {
    at: 'link',
    link,
    transport: kind === 'tcp' ? 'tcp' : 'unix',
    ...instance,
    get load() {
      return link.loadOf(instance.service)
    },
  }
}
