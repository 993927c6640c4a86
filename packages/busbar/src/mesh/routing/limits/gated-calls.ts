import { BusbarError, type ErrorRecord, restoreError } from '../../../contract/errors.ts'
import { threadsNow } from '../../../shared/metrics/worker-cells.ts'
import type { CallId } from '../../../shared/calls/call-id.ts'
import type { CallHandler, CallHead, Channel, ChannelHandler } from '../../links/link.ts'
import type { ConcurrencyGate, RunningCall } from './concurrency-gate.ts'

/**
 * Passes calls from links through the gate of their service, if it has one. A connection (`bytes`)
 * is not a call: its requests pass the gate one by one. So do the handlers of events, once they are
 * accepted.
 */
export function gateCalls(gates: ReadonlyMap<string, ConcurrencyGate>, answer: CallHandler): CallHandler {
  if (gates.size === 0) return answer
  return (head, payload, ended, channel) => {
    const gate = head.kind === 'bytes' || head.kind === 'event' ? undefined : gates.get(head.service)
    return gate === undefined
      ? answer(head, payload, ended, channel)
      : new GatedCall({ gate, answer, head, payload, ended, channel })
  }
}

interface GatedCallOptions {
  readonly gate: ConcurrencyGate
  readonly answer: CallHandler
  readonly head: CallHead
  readonly payload: unknown
  readonly ended: boolean
  readonly channel: Channel
}

/** One call, from its arrival until its service has finished or its caller has abandoned it. */
class GatedCall implements ChannelHandler, Channel {
  readonly #options: GatedCallOptions
  /** Identifies the call for callers in processes that abandon it while this thread is blocked. */
  readonly #running: RunningCall
  readonly #waiting = new AbortController()
  readonly #arrived = performance.now()
  waited = 0
  #state: 'waiting' | 'inside' | 'over' = 'waiting'
  #handler: ChannelHandler | undefined
  /** What the caller has sent while the call waited. The link's window bounds it. */
  readonly #early: ((handler: ChannelHandler) => void)[] = []

  constructor(options: GatedCallOptions) {
    this.#options = options
    const { timeLeft } = options.head
    const deadline = timeLeft === undefined ? undefined : threadsNow() + timeLeft
    this.#running = { call: options.channel.call, deadline }
    void options.gate.enter(timeLeft, this.#waiting.signal).then(() => this.#admitted(), this.#refused)
  }

  get call(): CallId {
    return this.#running.call
  }

  // From the caller

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
    if (this.#state === 'waiting') this.#waiting.abort(restoreError(reason))
    else this.#leave()
  }

  // From the service

  /** The channel's fault arrives as a cancel, by which the call leaves. */
  failIfUnread(): boolean {
    return this.#options.channel.failIfUnread?.() === true
  }

  reply(value: unknown, last: boolean): void {
    this.#options.channel.reply(value, last)
    if (last) this.#leave()
  }

  data(value: unknown): boolean {
    return this.#options.channel.data(value)
  }

  end(value?: unknown): void {
    this.#options.channel.end(value)
    this.#leave()
  }

  fail(error: ErrorRecord, notStarted?: boolean): void {
    this.#options.channel.fail(error, notStarted)
    this.#leave()
  }

  cancel(reason: ErrorRecord): void {
    this.#options.channel.cancel(reason)
  }

  abandon(): void {
    this.#options.channel.abandon()
  }

  consumed(count: number): void {
    this.#options.channel.consumed(count)
  }

  #admitted(): void {
    const { gate, answer, head, payload, ended } = this.#options
    this.#state = 'inside'
    this.waited = performance.now() - this.#arrived
    gate.started(this.#running)
    this.#handler = answer(head, payload, ended, this)
    for (const deliver of this.#early.splice(0)) deliver(this.#handler)
  }

  readonly #refused = (error: unknown): void => {
    this.#state = 'over'
    this.#options.channel.fail(BusbarError.from(error).toRecord(), true)
  }

  #leave(): void {
    if (this.#state !== 'inside') return
    this.#state = 'over'
    this.#options.gate.finished(this.#running)
    this.#options.gate.leave()
  }
}
