/**
 * A link multiplexes calls between two workers. Both ends are alike: either may call the other,
 * whichever dialled. `PacketTransport` carries the frames (`../transports`). What the values of a
 * call mean is up to its kind: typed calls (`../typed`), HTTP requests (`../http`), connections
 * (`Streams`).
 */
import type { Metadata, QueueDelivery, Trace } from '../../contract/context.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { OneAppUse } from '../../shared/calls/app-use.ts'
import type { BegunCalls } from '../../shared/calls/begun-calls.ts'
import type { CallId } from '../../shared/calls/call-id.ts'
import type { AnswerSizes } from './limits/answer-sizes.ts'

/** What the callee knows before the first value. */
export interface CallHead {
  readonly service: string
  /**
   * `call`: one value each way. `stream`: many values back. `http`: a request. `bytes`: a
   * connection. `event`: answered when the event is accepted.
   */
  readonly kind: 'call' | 'stream' | 'http' | 'bytes' | 'event'
  /** The name of a typed method, or an HTTP method. Of an event, its topic. '' for a connection. */
  readonly method: string
  /** How many calls led here, including this one. */
  readonly hops: number
  readonly caller: string | undefined
  /**
   * The caller may cancel. If false, only the end of the link ends the call early. Default: true.
   */
  readonly mayCancel?: boolean
  /** Milliseconds. Undefined: no deadline. The clocks of two workers are never compared. */
  readonly timeLeft: number | undefined
  readonly trace: Trace | undefined
  readonly metadata: Metadata | undefined
  /** The caller belongs to another app, so the callee validates what it sends. Default: false. */
  readonly isForeign?: boolean
  /** To another app: the contract of the method that the caller has. */
  readonly contract?: string | undefined
  /** The item of the queue that the call runs. Never from another app. */
  readonly delivery?: QueueDelivery | undefined
  /** To another app: calls with the same key go to the same instance there. */
  readonly key?: string | undefined
}

/**
 * One end of an in-flight call. The caller sends its payload by opening the call, and the callee
 * answers with `reply`. Then both may send data until each has called `end`. A failure or a cancel
 * ends both directions at once. Everything sent after that is dropped silently, because the peer's
 * frame may be in transit.
 */
export interface Channel {
  readonly call: CallId
  /** Callee: milliseconds that the call has waited for a limit of its service. Default: 0. */
  readonly waited?: number
  /** Callee, once. `last`: nothing follows. If the caller has ended too, the call is over. */
  reply(value: unknown, last: boolean): void
  /**
   * Sends a value of the stream. The link owns it from now on: an ArrayBuffer view must cover its
   * whole buffer, never a slice of a pool, and must not be changed afterwards. Returns false if the
   * peer's credit is used up: wait for `onDrain`.
   */
  data(value: unknown): boolean
  /** Ends this direction. `value` goes with it (trailers, a stream's return value). */
  end(value?: unknown): void
  /** Callee: the call failed. `notStarted`: before it started. Default: false. */
  fail(error: ErrorRecord, notStarted?: boolean): void
  /** Caller: it no longer wants the answer. */
  cancel(reason: ErrorRecord): void
  /**
   * Caller: abandons the call without a `cancel` frame, because the callee learns of it in another
   * way. {@link cancel} includes it.
   */
  abandon(): void
  /**
   * The reader has consumed `count` values of {@link ChannelHandler.onData}. The peer may send as
   * many more.
   */
  consumed(count: number): void
  /**
   * Fails the call if so much waits for the peer that no value may be sent, and says whether. All
   * that send a value ask it. Ask it before an expensive step that prepares one. Default: never.
   */
  failIfUnread?(): boolean
}

/** What the peer sends. Nothing follows `onError`, `onCancel`, or the end of both directions. */
export interface ChannelHandler {
  /** Caller. */
  onReply?(value: unknown, last: boolean): void
  /** At most {@link window} values arrive without having been `consumed`. */
  onData?(value: unknown): void
  onEnd?(value: unknown): void
  /**
   * Caller: the callee failed, or the link did (WORKER_DIED, LINK_LOST, …). `notStarted`: the call
   * had not started, so any call may be retried on another instance.
   */
  onError?(error: ErrorRecord, notStarted: boolean): void
  /** Callee: the caller abandoned the call, or is gone. */
  onCancel?(reason: ErrorRecord): void
  onDrain?(): void
}

/**
 * Values that may wait for their reader in one direction of one call. Pieces of a byte stream have
 * at most 64 KiB.
 */
export const window = 16

/**
 * Answers a call that arrives over a link: decides by the head, then uses the channel. Must not
 * throw.
 */
export type CallHandler = (head: CallHead, payload: unknown, ended: boolean, channel: Channel) => ChannelHandler

export interface Link {
  /** The number of the worker at the other end. */
  readonly peer: number
  /** `draining`: the peer accepts no new calls. */
  readonly state: 'open' | 'draining' | 'closed'
  /** Unfinished calls that this side has opened. */
  readonly inFlight: number
  /** Unfinished calls of the peer. */
  readonly answering: number
  /** The peer does not even answer pings. Others should get the calls. */
  readonly isSilent: boolean
  /** Calls in flight at the peer's instance of a service, as last reported. 0 without a report. */
  loadOf(service: string): number
  /**
   * Opens a call. `ended`: the caller sends no data. Never throws: errors go to `onError`, after
   * this has returned. A value that cannot be encoded fails this call only.
   */
  open(head: CallHead, payload: unknown, ended: boolean, handler: ChannelHandler): Channel
  /**
   * Tells the peer that this side accepts no new calls. Calls in flight continue, and may cause
   * calls to the peer.
   */
  drain(): void
  /**
   * Like {@link drain}, but accepts the calls that the peer sends until it has read that. Resolves
   * then: no more calls arrive.
   */
  leave(): Promise<void>
  /**
   * Asks the peer for another link, which it should use from then on. Calls are still answered on
   * this one.
   */
  askToMove(): void
  /** Resolves when the peer has read all that this side has sent so far, or the link is closed. */
  acknowledged(): Promise<void>
  /** Resolves when the peer has read all answers that were sent so far, or the link is closed. */
  answersRead(): Promise<void>
  /** Fails every call with `reason`, at both ends. */
  close(reason: ErrorRecord): void
  /** Called when the state changes. */
  onState: (() => void) | undefined
  /** Resolves when either side has closed the link, or it was lost. Never rejects. */
  readonly closed: Promise<ErrorRecord>
  /** Like {@link closed}, once it is known whether the peer has died: the error of its calls. */
  readonly failure: Promise<ErrorRecord>
}

export interface LinkOptions {
  /** The number of the worker at the other end. */
  readonly peer: number
  /** The peer's name in messages. Default: `worker` and its number. */
  readonly label?: string | undefined
  /** The supervisor's number of the link. */
  readonly number?: number
  readonly answer: CallHandler
  /**
   * Milliseconds after which a silent peer counts as gone. For transports that may break silently.
   * Default: never.
   */
  readonly keepAliveTimeout?: number
  /** The peer asks for another link: {@link Link.askToMove}. Default: nothing happens. */
  readonly onMove?: (() => void) | undefined
  /** The peer belongs to another app. Default: false. */
  readonly isForeign?: boolean
  /** Calls in flight, per side. Default: `maxCalls` in `limits.ts`. */
  readonly maxCalls?: number
  /** Counts what the peer takes on all of its links, and limits it. Default: nothing does. */
  readonly use?: OneAppUse
  /**
   * Of all links of a kind. Calls of other apps whose answers are large begin a few at a time then.
   * Default: calls begin when they arrive.
   */
  readonly answerSizes?: AnswerSizes
  /** Gets a line when a value is refused, or the link ends, since the peer does not read. */
  readonly onUnread?: ((line: string) => void) | undefined
  /**
   * Calls in flight at this side's instance of a service. Set if the peer cannot read it in shared
   * memory.
   */
  readonly loadOf?: ((service: string) => number) | undefined
  /**
   * Called for each call that this side abandons. A blocked peer may read its `cancel` frame late.
   */
  readonly onAbandoned?: ((head: CallHead, call: CallId) => void) | undefined
  /** Between threads: which calls have begun, for when one of them has died. */
  readonly begun?: BegunCalls | undefined
  /**
   * Resolves to the error with which the calls of a lost link fail. Default: the link's own error,
   * at once.
   */
  readonly resolveLost?: ((reason: ErrorRecord) => Promise<ErrorRecord>) | undefined
}

/**
 * How a call of kind `bytes` ends after both of its directions have ended, or if one side
 * half-closes its direction and later destroys its socket.
 */
export const closedBy = {
  caller: { code: 'CALL_ABORTED', message: 'the caller closed the connection' },
  callee: { code: 'SERVICE_HANGUP', message: 'the service closed the connection' },
} as const satisfies Record<string, ErrorRecord>
