import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallHandler, CallHead, ChannelHandler } from './link.ts'
import type { LiveChannel } from './live-channel.ts'

/** Calls that are begun in one turn. The answers of each turn show whether more should begin. */
const callsPerTurn = 16

export interface WaitingCallsParts {
  readonly answer: CallHandler
  /** So much waits for the peer that no call should begin. A drain of its link follows. */
  readonly isFull: () => boolean
}

/**
 * Calls of a peer that reads its answers slowly. They begin, in order, when less waits for it. This
 * cannot block it for ever: a peer reads its link whatever it waits for, and everything but calls
 * is handled meanwhile.
 */
export class WaitingCalls {
  readonly #parts: WaitingCallsParts
  /** In the order of their arrival. */
  readonly #calls = new Set<WaitingCall>()
  #isScheduled = false

  constructor(parts: WaitingCallsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#calls.size
  }

  add(head: CallHead, payload: unknown, ended: boolean, channel: LiveChannel): ChannelHandler {
    const call = new WaitingCall({ head, payload, ended, channel, onCancel: () => this.#calls.delete(call) })
    this.#calls.add(call)
    // It may wait only for those before it.
    this.begin()
    return call
  }

  /** Call it when less waits for the peer. */
  begin(): void {
    if (this.#isScheduled || this.#calls.size === 0 || this.#parts.isFull()) return
    this.#isScheduled = true
    setImmediate(() => this.#beginSome())
  }

  #beginSome(): void {
    this.#isScheduled = false
    let begun = 0
    for (const call of this.#calls) {
      if (begun++ === callsPerTurn || this.#parts.isFull()) break
      this.#calls.delete(call)
      call.begin(this.#parts.answer)
    }
    this.begin()
  }
}

interface WaitingCallParts {
  readonly head: CallHead
  readonly payload: unknown
  readonly ended: boolean
  readonly channel: LiveChannel
  readonly onCancel: () => void
}

class WaitingCall implements ChannelHandler {
  readonly #parts: WaitingCallParts
  readonly #since = performance.now()
  /** What the caller has sent meanwhile. The link's window bounds it. */
  readonly #early: ((handler: ChannelHandler) => void)[] = []

  constructor(parts: WaitingCallParts) {
    this.#parts = parts
  }

  onData(value: unknown): void {
    this.#early.push((handler) => handler.onData?.(value))
  }

  onEnd(value: unknown): void {
    this.#early.push((handler) => handler.onEnd?.(value))
  }

  onCancel(): void {
    this.#parts.onCancel()
  }

  begin(answer: CallHandler): void {
    const { payload, ended, channel } = this.#parts
    const head = this.#headNow()
    if (head.timeLeft !== undefined && head.timeLeft <= 0) return channel.fail(tooLate(channel), true)
    channel.handler = answer(head, payload, ended, channel)
    for (const deliver of this.#early) if (!channel.isOver) deliver(channel.handler)
  }

  #headNow(): CallHead {
    const { head } = this.#parts
    if (head.timeLeft === undefined) return head
    return { ...head, timeLeft: head.timeLeft - Math.floor(performance.now() - this.#since) }
  }
}

function tooLate({ name, head: { service } }: LiveChannel): ErrorRecord {
  const message = `${name} was not begun in time: its caller reads earlier answers slowly`
  return { code: 'DEADLINE_EXCEEDED', message, service }
}
