/**
 * A pipe of frames between two workers, with many calls in it at a time. Both ends are alike: whoever dialled, either
 * may call the other. What the frames are made of is the transport's affair (`transports/`); what a call's values mean
 * is that of whoever opens and answers it: typed calls (`../typed`), requests (`../http`), connections (`../bytes`).
 */
import type { Metadata, Trace } from '../../contract/context.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/control.ts'

/** What is known of a call before its first value. */
export interface CallHead {
  readonly service: string
  /** `call`: one value each way. `stream`: many come back. `http`: a request. `bytes`: a connection. */
  readonly kind: 'call' | 'stream' | 'http' | 'bytes'
  /** A typed method's name, an HTTP verb, '' for bytes. */
  readonly method: string
  /** How many calls led here, this one included. */
  readonly hops: number
  readonly caller: string | undefined
  /** The caller may give it up; else only the link's end ends it early. Default: true. */
  readonly mayCancel?: boolean
  /** Milliseconds left; undefined without a deadline. Clocks of two workers are never compared. */
  readonly timeLeft: number | undefined
  readonly trace: Trace | undefined
  readonly metadata: Metadata | undefined
}

/**
 * One end of a call in flight. The caller has sent its payload by opening it; the callee answers with `reply`. After that
 * both may send data until each has said `end`; a failure or a cancel ends both directions at once.
 * Everything sent after the call's end is dropped in silence: the other side's word may be under way.
 */
export interface Channel {
  readonly call: CallId
  /** Of the callee, once. `last`: nothing follows it, and for a caller who has ended too the call is over. */
  reply(value: unknown, last: boolean): void
  /**
   * A value of the stream in this direction. The link takes it over: an ArrayBuffer view must be exact, never a slice of
   * a pool, and is not touched again. False: the other side's credit is used up; wait for `onDrain`.
   */
  data(value: unknown): boolean
  /** Nothing follows in this direction; `value` goes with it (trailers, a stream's return value). */
  end(value?: unknown): void
  /** Of the callee: the call failed. `untouched`: before anything was done for it. Default: false. */
  fail(error: ErrorRecord, untouched?: boolean): void
  /** Of the caller: it wants no answer any more. */
  cancel(reason: ErrorRecord): void
  /** Of the caller: it wants none, and says so to the callee in words of its own. Part of {@link cancel}. */
  abandon(): void
  /** The reader has taken `count` values off {@link ChannelHandler.onData}: the other side may send as many more. */
  consumed(count: number): void
}

/** What the other end says. After `onError`, `onCancel`, or both ends, nothing more. */
export interface ChannelHandler {
  /** To the caller. */
  onReply?(value: unknown, last: boolean): void
  /** At most {@link window} values come that were not yet `consumed`. */
  onData?(value: unknown): void
  onEnd?(value: unknown): void
  /**
   * To the caller: the callee's failure, or the link's (WORKER_DIED, LINK_LOST, …). `untouched`: nobody has begun to
   * answer the call, so that it may be made elsewhere, whatever it does.
   */
  onError?(error: ErrorRecord, untouched: boolean): void
  /** To the callee: the caller gave up, or is gone. */
  onCancel?(reason: ErrorRecord): void
  onDrain?(): void
}

/** Values that may wait for their reader in one direction of one call. Bytes come in pieces of at most 64 KiB. */
export const window = 16

/** Answers calls that come over a link: decides by the head, then speaks through the channel. Must not throw. */
export type Answerer = (head: CallHead, payload: unknown, ended: boolean, channel: Channel) => ChannelHandler

export interface Link {
  /** The number of the worker at the other end. */
  readonly peer: number
  /** `draining`: the other side takes no new calls. */
  readonly state: 'open' | 'draining' | 'closed'
  /** Calls that this side has opened and that are not over. */
  readonly inFlight: number
  /** Calls of the other side that are not over. */
  readonly answering: number
  /** Calls that the other side's instance of a service had in flight when it last said so; 0 if it never did. */
  loadOf(service: string): number
  /**
   * Begins a call. `ended`: the caller sends no data. Never throws: what is wrong comes to `onError`, and never before
   * this has returned. A value that cannot be carried fails this call alone.
   */
  open(head: CallHead, payload: unknown, ended: boolean, handler: ChannelHandler): Channel
  /**
   * This side takes no new calls, and the other is told; those in flight go on, and may cause calls in the other
   * direction.
   */
  drain(): void
  /** Resolves when the other side has read all that this one has sent so far, or the link is closed. */
  heard(): Promise<void>
  /** Fails every call with `reason`, at both ends. */
  close(reason: ErrorRecord): void
  /** Whenever the state has changed; for whoever keeps a list of what may be called. */
  onState: (() => void) | undefined
  /** Settles when it is closed by whom or whatever; never rejects. */
  readonly closed: Promise<ErrorRecord>
}
