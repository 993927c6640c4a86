import { BusbarError, type ErrorRecord, restoreError } from '../../../contract/errors.ts'
import type { CallHead, Channel, ChannelHandler } from '../../links/link.ts'
import type { Admission, RemoteEndpoint } from '../../routing/endpoint.ts'
import { undeliveredCodes } from '../../routing/retry.ts'

export interface ForwardedCallParts {
  readonly head: CallHead
  readonly payload: unknown
  /** The caller sends no data. */
  readonly ended: boolean
  /** To the caller. */
  readonly channel: Channel
  readonly endpoint: RemoteEndpoint
  /** Another instance than `not`. */
  readonly findOther: (not: RemoteEndpoint) => RemoteEndpoint | undefined
}

/**
 * Passes a call of another app on to the worker whose instance answers it, frame by frame. Each
 * side gets credit for a value only when the other side has taken it.
 *
 * A call that had not started is tried once more on another instance. The caller decides about all
 * others: it knows whether they are idempotent.
 */
export class ForwardedCall implements ChannelHandler {
  readonly #parts: ForwardedCallParts
  readonly #waiting = new AbortController()
  readonly #answer: ChannelHandler
  #endpoint: RemoteEndpoint
  /** To the callee. Undefined while the call waits for a slot. */
  #callee: Channel | undefined
  /** What the caller has sent meanwhile. The link's window bounds it. */
  readonly #early: ((call: ForwardedCall) => void)[] = []
  #admission: Admission | undefined
  #isOver = false
  #mayRetry: boolean
  /** Values that one side has sent and the other has not taken. */
  #untakenByCallee = 0
  #untakenByCaller = 0

  constructor(parts: ForwardedCallParts) {
    this.#parts = parts
    this.#endpoint = parts.endpoint
    this.#mayRetry = parts.ended
    this.#answer = this.#answerHandler(parts.channel)
    this.#enter()
  }

  // From the caller

  onData(value: unknown): void {
    const callee = this.#callee
    if (callee === undefined) return void this.#early.push((call) => call.onData(value))
    if (callee.data(value)) this.#parts.channel.consumed(1)
    else this.#untakenByCallee++
  }

  onEnd(value: unknown): void {
    if (this.#callee === undefined) this.#early.push((call) => call.onEnd(value))
    else this.#callee.end(value)
  }

  /** Leaves first, because the instance then frees the slot. */
  onCancel(reason: ErrorRecord): void {
    this.#isOver = true
    this.#waiting.abort(restoreError(reason))
    this.#leave(true)
    this.#callee?.cancel(reason)
  }

  onDrain(): void {
    const count = this.#untakenByCaller
    this.#untakenByCaller = 0
    if (count > 0) this.#callee?.consumed(count)
  }

  #answerHandler(caller: Channel): ChannelHandler {
    return {
      onReply: (value, last) => {
        caller.reply(value, last)
        if (last) this.#leave()
      },
      onData: (value) => {
        if (caller.data(value)) this.#callee!.consumed(1)
        else this.#untakenByCaller++
      },
      onEnd: (value) => {
        caller.end(value)
        this.#leave()
      },
      onError: (error, notStarted) => this.#failed(error, notStarted),
      onDrain: () => {
        const count = this.#untakenByCallee
        this.#untakenByCallee = 0
        if (count > 0) caller.consumed(count)
      },
    }
  }

  #enter(): void {
    const { admission } = this.#endpoint
    if (admission === undefined) return this.#open()
    const refused = (error: unknown): void => this.#refused(BusbarError.from(error))
    try {
      const entering = admission.enter(this.#parts.head.timeLeft, this.#waiting.signal)
      if (entering === undefined) this.#admitted(admission)
      else entering.then(() => this.#admitted(admission), refused)
    } catch (error) {
      refused(error)
    }
  }

  #admitted(admission: Admission): void {
    this.#admission = admission
    if (this.#isOver) this.#leave()
    else this.#open()
  }

  #open(): void {
    const { head, payload, ended } = this.#parts
    this.#callee = this.#endpoint.link.open(head, payload, ended, this.#answer)
    for (const deliver of this.#early.splice(0)) deliver(this)
  }

  #refused(error: BusbarError): void {
    if (!this.#isOver) this.#parts.channel.fail(error.toRecord(), true)
  }

  #failed(error: ErrorRecord, notStarted: boolean): void {
    this.#leave()
    if (this.#isOver) return
    const mayRetry = this.#mayRetry && notStarted && undeliveredCodes.has(error.code)
    const next = mayRetry ? this.#parts.findOther(this.#endpoint) : undefined
    if (next === undefined) return this.#parts.channel.fail(error, notStarted)
    this.#mayRetry = false
    this.#endpoint = next
    this.#enter()
  }

  #leave(givenUp = false): void {
    this.#admission?.leave(givenUp)
    this.#admission = undefined
  }
}
