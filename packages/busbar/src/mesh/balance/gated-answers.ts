import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import { threadsNow } from '../../shared/cells.ts'
import type { CallId } from '../../shared/control.ts'
import type { Answerer, CallHead, Channel, ChannelHandler } from '../links/link.ts'
import type { Begun, Gate } from './gate.ts'

/**
 * Lets calls that come over a link through the gate of their service, where it has one. A connection (`bytes`) is no call:
 * its requests come to the gate one by one.
 */
export function gatedAnswers(gates: ReadonlyMap<string, Gate>, answer: Answerer): Answerer {
  if (gates.size === 0) return answer
  return (head, payload, ended, channel) => {
    const gate = head.kind === 'bytes' ? undefined : gates.get(head.service)
    return gate === undefined
      ? answer(head, payload, ended, channel)
      : new GatedCall({ gate, answer, head, payload, ended, channel })
  }
}

interface Parts {
  readonly gate: Gate
  readonly answer: Answerer
  readonly head: CallHead
  readonly payload: unknown
  readonly ended: boolean
  readonly channel: Channel
}

/** One call, from when it comes to when its service has said the last word, or its caller has given up. */
class GatedCall implements ChannelHandler, Channel {
  readonly #parts: Parts
  /** Of callers in processes this alone tells while this thread computes when they give up, and which call it was. */
  readonly #begun: Begun
  readonly #waiting = new AbortController()
  #state: 'waiting' | 'inside' | 'over' = 'waiting'
  #handler: ChannelHandler | undefined
  /** What the caller has sent meanwhile; a window of it at most. */
  readonly #early: ((handler: ChannelHandler) => void)[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    const { timeLeft } = parts.head
    const deadline = timeLeft === undefined ? undefined : threadsNow() + timeLeft
    this.#begun = { call: parts.channel.call, deadline }
    void parts.gate.enter(timeLeft, this.#waiting.signal).then(() => this.#admitted(), this.#refused)
  }

  get call(): CallId {
    return this.#begun.call
  }

  // What the caller says

  onData(value: unknown): void {
    if (this.#handler === undefined) this.#early.push((handler) => handler.onData?.(value))
    else this.#handler.onData?.(value)
  }

  onEnd(value: unknown): void {
    if (this.#handler === undefined) this.#early.push((handler) => handler.onEnd?.(value))
    else this.#handler.onEnd?.(value)
  }

  onDrain(): void {
    this.#handler?.onDrain?.()
  }

  onCancel(reason: ErrorRecord): void {
    this.#handler?.onCancel?.(reason)
    if (this.#state === 'waiting') this.#waiting.abort(BusbarError.fromRecord(reason))
    else this.#leave()
  }

  // What the service says

  reply(value: unknown, last: boolean): void {
    this.#parts.channel.reply(value, last)
    if (last) this.#leave()
  }

  data(value: unknown): boolean {
    return this.#parts.channel.data(value)
  }

  end(value?: unknown): void {
    this.#parts.channel.end(value)
    this.#leave()
  }

  fail(error: ErrorRecord, untouched?: boolean): void {
    this.#parts.channel.fail(error, untouched)
    this.#leave()
  }

  cancel(reason: ErrorRecord): void {
    this.#parts.channel.cancel(reason)
  }

  abandon(): void {
    this.#parts.channel.abandon()
  }

  consumed(count: number): void {
    this.#parts.channel.consumed(count)
  }

  #admitted(): void {
    const { gate, answer, head, payload, ended } = this.#parts
    this.#state = 'inside'
    gate.begins(this.#begun)
    this.#handler = answer(head, payload, ended, this)
    for (const tell of this.#early.splice(0)) tell(this.#handler)
  }

  readonly #refused = (error: unknown): void => {
    this.#state = 'over'
    this.#parts.channel.fail(BusbarError.from(error).toRecord(), true)
  }

  #leave(): void {
    if (this.#state !== 'inside') return
    this.#state = 'over'
    this.#parts.gate.ends(this.#begun)
    this.#parts.gate.leave()
  }
}
