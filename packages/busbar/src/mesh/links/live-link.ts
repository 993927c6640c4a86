import type { ErrorRecord } from '../../contract/errors.ts'
import { BlockedChannels } from './blocked-channels.ts'
import { CallLimits, refused } from './limits/call-limits.ts'
import { CallTable } from './call-table.ts'
import type { Frame } from './frames/frame-decoder.ts'
import { closeFrame, drainFrame, errorFrame, moveFrame, pingFrame, pongFrame } from './frames/frame-encoder.ts'
import { FrameReader, type FrameReceiver } from './frames/frame-reader.ts'
import { KeepAlive } from './keep-alive.ts'
import { callFailure, encodedOrFailure, encodeErrorRecord, linkLost, serviceStopping } from './link-errors.ts'
import type { CallHead, Channel, ChannelHandler, Link, LinkOptions } from './link.ts'
import { type ChannelLink, LiveChannel } from './live-channel.ts'
import { LoadReports } from './load-reports.ts'
import { type Packet, type PacketTransport, type PacketTransportListener, ProtocolError } from './packet-transport.ts'
import { PeerUse } from './limits/peer-use.ts'
import { SendQueue } from './send-queue.ts'
import { SentAnswers } from './sent-answers.ts'
import { UnreadLimits } from './limits/unread-limits.ts'
import { WaitingCalls } from './limits/waiting-calls.ts'

export function createLink(transport: PacketTransport, options: LinkOptions): Link {
  return new LiveLink(transport, options)
}

class LiveLink implements Link, ChannelLink, FrameReceiver, PacketTransportListener {
  readonly peer: number
  readonly #label: string
  readonly number: number | undefined
  readonly isForeign: boolean
  readonly use: PeerUse | undefined
  readonly closed: Promise<ErrorRecord>
  readonly failure: Promise<ErrorRecord>
  readonly sendQueue: SendQueue
  readonly unreadLimits: UnreadLimits
  onState: (() => void) | undefined = undefined
  readonly #transport: PacketTransport
  readonly #limits: CallLimits
  readonly #settleClosed: (reason: ErrorRecord) => void
  readonly #keepAlive: KeepAlive
  readonly #loads: LoadReports
  readonly #options: LinkOptions
  #resolvedReason: Promise<ErrorRecord> | undefined
  /** Calls that this side has opened. Their numbers are positive. */
  readonly #own = new CallTable<LiveChannel>()
  /** The peer's calls, by the negatives of its numbers. */
  readonly #peers = new CallTable<LiveChannel>()
  readonly #blocked: BlockedChannels
  readonly #waiting: WaitingCalls
  readonly #answers = new SentAnswers(() => this.acknowledged())
  readonly #frames: FrameReader
  /** Whether the peer accepts calls, as far as this side knows. */
  #state: Link['state'] = 'open'
  #acceptsCalls = true
  /** The last call numbers of this side and of the peer. */
  #lastOwn = 0
  #lastOfPeer = 0

  constructor(transport: PacketTransport, options: LinkOptions) {
    this.peer = options.peer
    this.#label = options.label ?? `worker ${options.peer}`
    this.number = options.number
    this.#transport = transport
    this.#options = options
    this.isForeign = options.isForeign === true
    this.use = options.use && new PeerUse(options.use, this.#label)
    this.#frames = new FrameReader(this, this.isForeign)
    this.#loads = new LoadReports(options.loadOf)
    const { isForeign, use } = this
    this.unreadLimits = new UnreadLimits({ label: this.#label, isForeign, use, report: options.onUnread })
    this.sendQueue = new SendQueue(transport, {
      trailing: options.loadOf && (() => this.#loads.take()),
      isHopeless: isForeign ? (unread) => this.unreadLimits.isHopeless(unread) : undefined,
      waits: (by, size) => use?.waits(by, size),
      overflowed: (unread) => this.#overflowed(unread),
    })
    const { sendQueue } = this
    this.#blocked = new BlockedChannels(sendQueue)
    const { answer, answerSizes } = options
    this.#waiting = new WaitingCalls({ answer, sendQueue, answerSizes, isForeign })
    this.#limits = new CallLimits({ label: this.#label, isForeign, use, most: options.maxCalls, sendQueue })
    const { promise, resolve } = Promise.withResolvers<ErrorRecord>()
    this.closed = promise
    this.failure = promise.then((reason) => this.#resolvedReason ?? reason)
    this.#settleClosed = resolve
    this.#keepAlive = new KeepAlive({
      sendPing: () => this.sendQueue.push(pingFrame),
      isOwed: () => this.#own.size > 0,
      timeout: options.keepAliveTimeout,
      onTimeout: (timeout) => this.close(linkLost(this.#label, `has been silent for ${timeout / 1000} s`)),
    })
    transport.open(this)
  }

  get state(): Link['state'] {
    return this.#state
  }

  get inFlight(): number {
    return this.#own.size
  }

  get answering(): number {
    return this.#peers.size
  }

  get isSilent(): boolean {
    return this.#keepAlive.isSilent
  }

  loadOf(service: string): number {
    return this.#loads.loadOf(service)
  }

  open(head: CallHead, payload: unknown, ended: boolean, handler: ChannelHandler): Channel {
    const channel = new LiveChannel(this, this.#lastOwn + 1, head, ended ? 'receiving' : 'both')
    const encoded = this.#limits.refusal(this, head.service) ?? encodedOrFailure(channel, payload, this.isForeign)
    if ('code' in encoded) return refused(channel, encoded, handler)
    channel.handler = handler
    this.#lastOwn++
    this.#own.add(channel)
    this.sendQueue.pushCall(channel.id, head, ended, encoded)
    return channel
  }

  drain(): void {
    if (!this.#acceptsCalls || this.#state === 'closed') return
    this.#acceptsCalls = false
    this.sendQueue.push(drainFrame)
  }

  async leave(): Promise<void> {
    if (!this.#acceptsCalls || this.#state === 'closed') return
    this.sendQueue.push(drainFrame)
    await this.acknowledged()
    this.#acceptsCalls = false
  }

  askToMove(): void {
    if (this.#state !== 'closed') this.sendQueue.push(moveFrame)
  }

  acknowledged(): Promise<void> {
    return new Promise((resolve) => (this.#state === 'closed' ? resolve() : this.#keepAlive.ping(resolve)))
  }

  answersRead(): Promise<void> {
    return this.#answers.read()
  }

  close(reason: ErrorRecord): void {
    if (this.#state === 'closed') return
    const encoded = encodeErrorRecord(reason)
    this.sendQueue.push(closeFrame(this.#lastOfPeer, encoded, this.sendQueue.nextPart), encoded)
    this.sendQueue.flush()
    this.#end(reason)
  }

  onOver(channel: LiveChannel): void {
    if (!(channel.id > 0 ? this.#own : this.#peers).delete(channel)) return
    this.#blocked.delete(channel)
    if (channel.id > 0) return
    this.#answers.add()
    this.#loads.answered(channel.head.service)
    this.#waiting.left(channel)
  }

  onAnswered(channel: LiveChannel, size: number): void {
    this.#waiting.answered(channel, size)
  }

  onAbandoned({ head, call }: LiveChannel): void {
    this.#options.onAbandoned?.(head, call)
  }

  onBlocked(channel: LiveChannel): void {
    this.#blocked.add(channel)
  }

  onPacket(packet: Packet): void {
    this.#keepAlive.onPacket()
    try {
      this.#frames.read(packet)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.close(linkLost(this.#label, error.message))
    }
  }

  onPart(): void {
    this.#keepAlive.onPart()
  }

  onDrain(): void {
    this.sendQueue.onDrain()
    this.#blocked.unblock()
    this.#waiting.begin()
  }

  onClose(reason = 'has closed the link'): void {
    if (this.#state !== 'closed') this.#end(linkLost(this.#label, reason))
  }

  // Frames of the peer

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  onCall(id: number, head: CallHead, value: unknown, ended: boolean): void {
    if (id !== this.#lastOfPeer + 1) throw new ProtocolError(`opened call ${id} after call ${this.#lastOfPeer}`)
    this.#lastOfPeer = id
    const refusal = this.#acceptsCalls ? this.#limits.refusalOfPeer(this.answering) : serviceStopping(head.service)
    if (refusal !== undefined) {
      const encoded = encodeErrorRecord(refusal)
      return void this.sendQueue.push(errorFrame(-id, true, encoded, this.sendQueue.nextPart), encoded)
    }
    const channel = new LiveChannel(this, -id, head, ended ? 'sending' : 'both', this.use?.open())
    this.#peers.add(channel)
    // Also of one that waits: it is never sent twice.
    this.#options.begun?.begin(id)
    channel.handler = this.#waiting.beginOrAdd(head, value, ended, channel)
  }

  reads(size: number): void {
    this.use?.reads(size)
  }

  onPing(): void {
    this.sendQueue.push(pongFrame)
  }

  onPong(): void {
    this.#keepAlive.onPong()
  }

  onPeerDrains(): void {
    if (this.#state === 'open') this.#enter('draining')
  }

  onPeerCloses(reason: ErrorRecord, last: number): void {
    this.#end(reason, last)
  }

  onLoad(frame: Frame): void {
    this.#loads.receive(frame)
  }

  onMove(): void {
    this.#options.onMove?.()
  }

  callOf(id: number): LiveChannel | undefined {
    return id < 0 ? this.#own.get(-id) : this.#peers.get(-id)
  }

  hasKnown(id: number): boolean {
    return id <= this.#lastOfPeer && -id <= this.#lastOwn
  }

  #end(reason: ErrorRecord, last = Infinity): void {
    this.#enter('closed')
    this.#keepAlive.close()
    this.#transport.close()
    for (const channel of this.#peers) channel.onCancel(reason)
    this.sendQueue.drop()
    this.#blocked.clear()
    if (reason.code === 'LINK_LOST' && this.#options.resolveLost !== undefined) this.#failLost(reason, last)
    else this.#fail(this.#own, reason, last)
    this.#settleClosed(reason)
  }

  /** Without a `close` frame, which the peer would not read either. */
  #overflowed(unread: number): void {
    if (this.#state !== 'closed') this.#end(this.unreadLimits.lost(unread))
  }

  /** `last`: the last call that the peer has read, as far as is known. It never saw later ones. */
  #fail(channels: Iterable<LiveChannel>, reason: ErrorRecord, last: number): void {
    for (const channel of channels)
      if (channel.id > last) channel.onError({ ...reason, service: channel.head.service }, true)
      else channel.onError(callFailure(channel, this.#label, reason), false)
  }

  /** Connections fail at once, since they end without a reason. Calls wait for the reason. */
  #failLost(reason: ErrorRecord, last: number): void {
    const connections = [...this.#own].filter(({ head }) => head.kind === 'bytes')
    this.#fail(connections, reason, last)
    this.#resolvedReason = this.#options.resolveLost!(reason)
    void this.#resolvedReason.then((known) => this.#fail(this.#own, known, Math.min(last, this.#lastBegun(known))))
  }

  /** A worker that lives may begin calls while this side looks. */
  #lastBegun({ code }: ErrorRecord): number {
    return code === 'WORKER_DIED' ? (this.#options.begun?.lastBegun(this.#lastOwn) ?? Infinity) : Infinity
  }

  #enter(state: Link['state']): void {
    this.#state = state
    this.onState?.()
  }
}
