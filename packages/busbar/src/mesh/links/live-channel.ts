import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/calls/call-id.ts'
import type { BeginWindow } from './limits/begin-windows.ts'
import { checkForOtherApp, type EncodedValue, encodeTransferred, encodeValue } from './frames/encoded-value.ts'
import { checkAnswer } from './frames/answer-frames.ts'
import { cancelFrame, creditFrame, errorFrame, type FrameValue, valueFrame } from './frames/frame-encoder.ts'
import { encodeErrorRecord, encodingFailure } from './link-errors.ts'
import { type CallHead, type Channel, type ChannelHandler, window } from './link.ts'
import { ProtocolError } from './packet-transport.ts'
import type { CallInputs, PeerUse } from './limits/peer-use.ts'
import type { SendQueue } from './send-queue.ts'
import type { UnreadLimits } from './limits/unread-limits.ts'

/** The directions that are still open, as this side sees it. */
type State = 'both' | 'sending' | 'receiving' | 'over'

/** What a channel needs of its link. */
export interface ChannelLink {
  readonly number: number | undefined
  /** The peer belongs to another app. */
  readonly isForeign: boolean
  readonly use: PeerUse | undefined
  readonly sendQueue: SendQueue
  readonly unreadLimits: UnreadLimits
  /** The call is over, and its number is no longer in use. */
  onOver(channel: LiveChannel): void
  /** The answer of a call with a window, or the first value of its stream, is sent. */
  onAnswered(channel: LiveChannel, size: number): void
  /** This side gives its call up before it is over. */
  onAbandoned(channel: LiveChannel): void
  /** The channel waits for the slow peer. */
  onBlocked(channel: LiveChannel): void
}

/** One end of a call. The call's number is positive at the caller, and negative at the callee. */
export class LiveChannel implements Channel {
  readonly id: number
  readonly head: CallHead
  handler: ChannelHandler = none
  /** Of a call that has begun and is not answered, if such calls are limited. */
  window: BeginWindow | undefined = undefined
  readonly #link: ChannelLink
  /** Of a call of the peer. */
  readonly #inputs: CallInputs | undefined
  #state: State
  /** Values that the peer will accept. At 0 none are sent. */
  #credit = window
  /** Values of a writer that did not wait, at most {@link window}. */
  #queued: FrameValue[] | undefined = undefined
  #isBlocked = false
  /** Values that have arrived and are not consumed. */
  #unread = 0
  /** Consumed values for which the peer has not got credit yet. */
  #consumed = 0
  #hasReplied = false
  /** This side has failed the call: the peer learns it after the values that are queued. */
  #hasFailed = false

  constructor(link: ChannelLink, id: number, head: CallHead, state: State, inputs?: CallInputs) {
    this.#link = link
    this.#inputs = inputs
    this.id = id
    this.head = head
    this.#state = state
  }

  get call(): CallId {
    return { link: this.#link.number, number: Math.abs(this.id) }
  }

  /** For messages. */
  get name(): string {
    const { service, method, kind } = this.head
    return kind === 'call' || kind === 'stream' ? `${service}.${method}` : `${service} (${method || 'a connection'})`
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  failIfUnread(): boolean {
    const { sendQueue, unreadLimits } = this.#link
    if (!sendQueue.isLong || !this.#maySend) return false
    const refusal = unreadLimits.refusal(this, sendQueue.unread)
    if (refusal !== undefined) this.abort(refusal)
    return refusal !== undefined
  }

  reply(value: unknown, last: boolean): void {
    if (!this.#maySend || this.#hasReplied) return
    this.#hasReplied = true
    const encoded = this.#encode(value, encodeValue)
    if (encoded === undefined) return
    const size = this.#link.sendQueue.pushReply(this.id, last, encoded)
    if (this.window !== undefined) this.#link.onAnswered(this, size)
    if (last) this.#endSending()
  }

  data(value: unknown): boolean {
    if (!this.#maySend) return true
    const encoded = this.#encode(value, encodeTransferred)
    if (encoded === undefined) return true
    this.#queue({ type: 3, value: encoded })
    const { needsDrain } = this.#link.sendQueue
    this.#isBlocked = this.#credit <= 0 || needsDrain
    if (needsDrain) this.#link.onBlocked(this)
    return !this.#isBlocked
  }

  end(value?: unknown): void {
    if (!this.#maySend) return
    const encoded = this.#encode(value, encodeValue)
    if (encoded !== undefined) this.#queue({ type: 4, value: encoded })
  }

  fail(error: ErrorRecord, notStarted = false): void {
    if (this.isOver || this.#hasFailed) return
    const encoded = encodeErrorRecord(error, this.#link.isForeign)
    this.#hasFailed = true
    if (this.#queued !== undefined) return void this.#queued.push({ type: 5, value: encoded })
    const { sendQueue } = this.#link
    const size = sendQueue.push(errorFrame(this.id, notStarted, encoded, sendQueue.nextPart), encoded)
    if (!notStarted) this.window?.failed(size)
    this.#finish()
  }

  cancel(reason: ErrorRecord): void {
    if (this.isOver) return
    const encoded = encodeErrorRecord(reason, this.#link.isForeign)
    this.#link.sendQueue.push(cancelFrame(this.id, encoded, this.#link.sendQueue.nextPart), encoded)
    this.abandon()
    this.#finish()
  }

  abandon(): void {
    if (this.id > 0 && !this.isOver) this.#link.onAbandoned(this)
  }

  consumed(count: number): void {
    if (!this.#mayReceive) return
    this.#inputs?.consumed(count)
    this.#unread -= count
    this.#consumed += count
    // Half a window at a time: a credit frame per value would double the number of frames.
    if (this.#consumed < window / 2) return
    this.#link.sendQueue.push(creditFrame(this.id, this.#consumed))
    this.#consumed = 0
  }

  // Frames from the peer, decoded by the link

  onReply(value: unknown, last: boolean): void {
    if (!this.#mayReceive) return
    if (this.id < 0 || this.#hasReplied) throw new ProtocolError('sent a reply that answers nothing')
    checkAnswer(this, last ? 'reply' : 'head')
    this.#hasReplied = true
    // Before the handler, which may read the state.
    if (last) this.#endReceiving()
    this.handler.onReply?.(value, last)
  }

  onData(value: unknown): void {
    if (!this.#mayReceive) return
    checkAnswer(this, 'data')
    if (++this.#unread > window) throw new ProtocolError('sent more values than its credit allows')
    const refusal = this.#link.use?.refusalOfValue
    if (refusal !== undefined) return this.abort(refusal)
    this.#inputs?.arrived()
    this.handler.onData?.(value)
  }

  onEnd(value: unknown): void {
    if (!this.#mayReceive) return
    checkAnswer(this, 'end')
    this.#inputs?.arrived()
    this.#endReceiving()
    this.handler.onEnd?.(value)
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    if (this.isOver) return
    this.#finish()
    this.handler.onError?.(error, notStarted)
  }

  onCancel(reason: ErrorRecord): void {
    if (this.isOver) return
    this.#finish()
    if (!this.#hasFailed) this.handler.onCancel?.(reason)
  }

  onCredit(count: number): void {
    if (this.isOver) return
    this.#credit += count
    if (this.#credit > window) throw new ProtocolError('consumed more values than there were')
    this.#sendQueued()
    this.unblock()
  }

  /** Calls `onDrain` if nothing else blocks this channel. */
  unblock(): void {
    if (!this.#isBlocked || !this.#maySend || this.#credit <= 0) return
    if (this.#link.sendQueue.needsDrain) return this.#link.onBlocked(this)
    this.#isBlocked = false
    this.handler.onDrain?.()
  }

  /** Ends the call at once after an error on this side. Tells the peer and this side's handler. */
  abort(error: ErrorRecord): void {
    if (this.#hasFailed) return
    this.#queued = undefined
    this.#fault(error)
  }

  /** Like {@link abort}, after the values before the fault. */
  #fault(error: ErrorRecord): void {
    const { handler } = this
    if (this.id < 0) this.fail(error)
    else this.cancel(error)
    process.nextTick(() => (this.id < 0 ? handler.onCancel?.(error) : handler.onError?.(error, false)))
  }

  get #maySend(): boolean {
    return (this.#state === 'both' || this.#state === 'sending') && !this.#hasFailed
  }

  get #mayReceive(): boolean {
    return (this.#state === 'both' || this.#state === 'receiving') && !this.#hasFailed
  }

  /** Undefined if the value cannot be sent. The call has then failed at both ends. */
  #encode(value: unknown, how: (value: unknown) => EncodedValue): EncodedValue | undefined {
    if (value !== undefined && this.failIfUnread()) return undefined
    try {
      const encoded = how(value)
      if (this.#link.isForeign) checkForOtherApp(encoded)
      return encoded
    } catch (error) {
      this.#fault(encodingFailure(this, error))
      return undefined
    }
  }

  #queue(queued: FrameValue): void {
    if (this.#credit > 0 || (queued.type === 4 && this.#queued === undefined)) return this.#send(queued)
    const queue = (this.#queued ??= [])
    if (queue.at(-1)?.type === 4) return
    queue.push(queued)
    if (queue.length > window + 1)
      this.abort({
        code: 'INTERNAL',
        message: `${this.name} ignores backpressure: it sends without waiting for \`onDrain\``,
      })
  }

  #sendQueued(): void {
    const queue = this.#queued
    while (queue !== undefined && !this.isOver) {
      const next = queue[0]
      if (next === undefined) return void (this.#queued = undefined)
      if (this.#credit <= 0 && next.type === 3) return
      queue.shift()
      this.#send(next)
    }
  }

  #send({ type, value }: FrameValue): void {
    const { sendQueue } = this.#link
    const part = sendQueue.nextPart
    if (type === 3) this.#credit--
    const frame = type === 5 ? errorFrame(this.id, false, value, part) : valueFrame(type, this.id, value, part)
    const size = sendQueue.push(frame, value)
    if (type === 3 && this.window !== undefined) this.#link.onAnswered(this, size)
    if (type === 4) this.#endSending()
    if (type === 5) this.#finish()
  }

  #endSending(): void {
    if (this.#state === 'both') this.#state = 'receiving'
    else this.#finish()
  }

  #endReceiving(): void {
    if (this.#state === 'both') this.#state = 'sending'
    else this.#finish()
  }

  #finish(): void {
    this.#state = 'over'
    this.#queued = undefined
    this.#inputs?.end()
    this.#link.onOver(this)
  }
}

const none: ChannelHandler = {}
