import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import type { CallId } from '../../shared/control.ts'
import { Uncarriable } from '../../contract/value/kinds.ts'
import { cancelFrame, creditFrame, errorFrame, plainRecord, replyFrame, valueFrame } from './frames.ts'
import { type CallHead, type Channel, type ChannelHandler, window } from './link.ts'
import type { Outbox } from './outbox.ts'
import { ProtocolError } from './pipe.ts'
import { type Carried, carry, carryOver } from './value.ts'

/** Which directions are still open, as this side sees it. */
type State = 'both' | 'sending' | 'receiving' | 'over'

/** What a call needs of the link that it belongs to. */
export interface Line {
  readonly number: number | undefined
  readonly outbox: Outbox
  /** The call is over, and its number nobody's any more. */
  over(channel: LiveChannel): void
  /** This side's call is given up before it is over. */
  abandoned(channel: LiveChannel): void
  /** It waits for the peer, who is behind. */
  waits(channel: LiveChannel): void
}

interface Waiting {
  readonly type: 3 | 4
  readonly value: Carried
}

/** One end of a call. Of the two numbers that a call has, the caller's is positive, and the callee's its negative. */
export class LiveChannel implements Channel {
  readonly id: number
  readonly head: CallHead
  handler: ChannelHandler = none
  readonly #line: Line
  #state: State
  /** Values that the other side takes; below zero nothing is sent. */
  #credit = window
  /** Values of a writer that did not wait, at most {@link window}. */
  #waiting: Waiting[] | undefined = undefined
  #isBlocked = false
  /** Values that came and were not taken off yet, and those that were and are not told yet. */
  #unread = 0
  #taken = 0
  #hasReplied = false

  constructor(line: Line, id: number, head: CallHead, state: State) {
    this.#line = line
    this.id = id
    this.head = head
    this.#state = state
  }

  get call(): CallId {
    return { link: this.#line.number, number: Math.abs(this.id) }
  }

  /** For sentences. */
  get name(): string {
    const { service, method, kind } = this.head
    return kind === 'call' || kind === 'stream' ? `${service}.${method}` : `${service} (${method || 'a connection'})`
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  reply(value: unknown, last: boolean): void {
    if (!this.#maySend || this.#hasReplied) return
    this.#hasReplied = true
    const carried = this.#carry(value, carry)
    if (carried === undefined) return
    const { outbox } = this.#line
    outbox.push(replyFrame(this.id, last, carried, outbox.base), carried)
    if (last) this.#endSending()
  }

  data(value: unknown): boolean {
    if (!this.#maySend) return true
    const carried = this.#carry(value, carryOver)
    if (carried === undefined) return true
    this.#queue({ type: 3, value: carried })
    const { isBehind } = this.#line.outbox
    this.#isBlocked = this.#credit <= 0 || isBehind
    if (isBehind) this.#line.waits(this)
    return !this.#isBlocked
  }

  end(value?: unknown): void {
    if (!this.#maySend) return
    const carried = this.#carry(value, carry)
    if (carried !== undefined) this.#queue({ type: 4, value: carried })
  }

  fail(error: ErrorRecord, untouched = false): void {
    if (this.isOver) return
    const carried = carryRecord(error)
    const { outbox } = this.#line
    outbox.push(errorFrame(this.id, untouched, carried, outbox.base), carried)
    this.#finish()
  }

  cancel(reason: ErrorRecord): void {
    if (this.isOver) return
    const carried = carryRecord(reason)
    const { outbox } = this.#line
    outbox.push(cancelFrame(this.id, carried, outbox.base), carried)
    this.abandon()
    this.#finish()
  }

  abandon(): void {
    if (this.id > 0 && !this.isOver) this.#line.abandoned(this)
  }

  consumed(count: number): void {
    if (!this.#mayReceive) return
    this.#unread -= count
    this.#taken += count
    // Half a window at a time: a frame per value would double their number.
    if (this.#taken < window / 2) return
    this.#line.outbox.push(creditFrame(this.id, this.#taken))
    this.#taken = 0
  }

  // What the other end says; the link has read it.

  onReply(value: unknown, last: boolean): void {
    if (!this.#mayReceive) return
    if (this.id < 0 || this.#hasReplied) throw new ProtocolError('sent a reply that answers nothing')
    this.#hasReplied = true
    // Before its handler, who may look.
    if (last) this.#endReceiving()
    this.handler.onReply?.(value, last)
  }

  onData(value: unknown): void {
    if (!this.#mayReceive) return
    if (++this.#unread > window) throw new ProtocolError('sent more values than it was allowed')
    this.handler.onData?.(value)
  }

  onEnd(value: unknown): void {
    if (!this.#mayReceive) return
    this.#endReceiving()
    this.handler.onEnd?.(value)
  }

  onError(error: ErrorRecord, untouched: boolean): void {
    if (this.isOver) return
    this.#finish()
    this.handler.onError?.(error, untouched)
  }

  onCancel(reason: ErrorRecord): void {
    if (this.isOver) return
    this.#finish()
    this.handler.onCancel?.(reason)
  }

  onCredit(count: number): void {
    if (this.isOver) return
    this.#credit += count
    if (this.#credit > window) throw new ProtocolError('took more values than there were')
    this.#sendWaiting()
    this.unblock()
  }

  /** Whoever waited for `onDrain` may go on, if nothing else is in the way. */
  unblock(): void {
    if (!this.#isBlocked || !this.#maySend || this.#credit <= 0) return
    if (this.#line.outbox.isBehind) return this.#line.waits(this)
    this.#isBlocked = false
    this.handler.onDrain?.()
  }

  /** The fault is on this side: the other end is told, and whoever speaks through this channel too. */
  giveUp(error: ErrorRecord): void {
    const { handler } = this
    if (this.id < 0) this.fail(error)
    else this.cancel(error)
    process.nextTick(() => (this.id < 0 ? handler.onCancel?.(error) : handler.onError?.(error, false)))
  }

  get #maySend(): boolean {
    return this.#state === 'both' || this.#state === 'sending'
  }

  get #mayReceive(): boolean {
    return this.#state === 'both' || this.#state === 'receiving'
  }

  /** Undefined where nothing carries it: then the call has failed, at both ends. */
  #carry(value: unknown, how: (value: unknown) => Carried): Carried | undefined {
    try {
      return how(value)
    } catch (error) {
      this.giveUp(uncarriable(this.name, error))
      return undefined
    }
  }

  #queue(waiting: Waiting): void {
    if (this.#credit > 0 || (waiting.type === 4 && this.#waiting === undefined)) return this.#send(waiting)
    const line = (this.#waiting ??= [])
    if (line.at(-1)?.type === 4) return
    line.push(waiting)
    if (line.length > window + 1)
      this.giveUp({ code: 'INTERNAL', message: `${this.name} sends without waiting for its reader` })
  }

  #sendWaiting(): void {
    const line = this.#waiting
    while (line !== undefined) {
      const next = line[0]
      if (next === undefined) return void (this.#waiting = undefined)
      if (this.#credit <= 0 && next.type !== 4) return
      line.shift()
      this.#send(next)
    }
  }

  #send({ type, value }: Waiting): void {
    const { outbox } = this.#line
    if (type === 3) this.#credit--
    outbox.push(valueFrame(type, this.id, value, outbox.base), value)
    if (type === 4) this.#endSending()
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
    this.#waiting = undefined
    this.#line.over(this)
  }
}

const none: ChannelHandler = {}

/** Data that nothing carries is left out: an error arrives in any case. */
export function carryRecord(error: ErrorRecord): Carried {
  const plain = plainRecord(error)
  try {
    return carry(plain)
  } catch {
    delete plain.data
    return carry(plain)
  }
}

export function uncarriable(name: string, thrown: unknown): ErrorRecord {
  if (!(thrown instanceof Uncarriable)) return BusbarError.from(thrown).toRecord()
  const where = thrown.path.length === 0 ? '' : ` at ${thrown.path.join('.')}`
  return { code: 'INTERNAL', message: `a value of ${name} has${where} ${thrown.message}` }
}
