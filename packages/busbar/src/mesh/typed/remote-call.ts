import type { CallOrigin, LiveCall } from '../../contract/call.ts'
import type { BusbarError, ErrorCode, ErrorRecord } from '../../contract/errors.ts'
import type { RemoteEndpoint } from '../endpoint.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { Carried } from '../links/value.ts'
import type { RemoteMethod } from './remote-method.ts'
import { toWire } from './wire.ts'

/** Another instance than the one that was asked, or the answer of one in this thread; undefined where there is none. */
export type Elsewhere = (not: RemoteEndpoint, timeLeft: number) => RemoteEndpoint | Promise<unknown> | undefined

/** With these an instance that was never reached says so, or the link to it. */
const unreached: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'LINK_LOST', 'WORKER_DIED'])

/**
 * A call that another worker answers. Where its instance is gone it is made once more elsewhere, if that cannot do
 * anything twice: because nobody has begun with it, or because the contract says that twice is as good as once.
 */
export class RemoteCall implements ChannelHandler {
  readonly answer: Promise<unknown>
  readonly #method: RemoteMethod
  readonly #origin: CallOrigin
  readonly #call: LiveCall
  readonly #input: Carried
  readonly #elsewhere: Elsewhere
  readonly #resolve: (value: unknown) => void
  readonly #reject: (error: unknown) => void
  #endpoint: RemoteEndpoint
  #channel: Channel | undefined
  #isSecond = false
  #isAdmitted = false

  constructor(
    method: RemoteMethod,
    origin: CallOrigin,
    input: Carried,
    endpoint: RemoteEndpoint,
    elsewhere: Elsewhere,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#method = method
    this.#origin = origin
    this.#input = input
    this.#endpoint = endpoint
    this.#elsewhere = elsewhere
    this.#call = method.open(origin)
    if (this.#call.endsEarly) this.#call.watch((reason) => this.#ended(reason))
    if (this.#call.hasEnded === undefined) this.#start()
  }

  onReply(value: unknown): void {
    this.#leave()
    if (this.#call.settle()) this.#resolve(value)
  }

  onError(error: ErrorRecord, untouched: boolean): void {
    this.#leave()
    if (this.#call.hasEnded !== undefined) return
    const next = this.#mayRepeat(error, untouched) ? this.#elsewhere(this.#endpoint, this.#call.timeLeft) : undefined
    if (next === undefined) return this.#failed(this.#method.toError(error))
    if (next instanceof Promise) return this.#goOn(next)
    this.#isSecond = true
    this.#endpoint = next
    this.#start()
  }

  #start(): void {
    const { admission } = this.#endpoint
    if (admission === undefined) return this.#open()
    try {
      const { timeLeft, endsEarly } = this.#call
      const deadline = timeLeft === Infinity ? undefined : timeLeft
      const entering = admission.enter(deadline, endsEarly ? this.#call.signal : undefined)
      if (entering === undefined) this.#admitted()
      else
        entering.then(
          () => this.#admitted(),
          (error: unknown) => this.#failed(error),
        )
    } catch (error) {
      this.#failed(error)
    }
  }

  #admitted(): void {
    this.#isAdmitted = true
    if (this.#call.hasEnded === undefined) this.#open()
    else this.#leave()
  }

  #open(): void {
    const head = this.#method.head('call', this.#call, this.#origin)
    this.#channel = this.#endpoint.link.open(head, this.#input.copy(), true, this)
  }

  /** Non-idempotent calls are repeated only when it is certain that nothing was done. */
  #mayRepeat({ code }: ErrorRecord, untouched: boolean): boolean {
    if (this.#isSecond) return false
    return untouched ? unreached.has(code) : this.#method.isIdempotent && this.#endpoint.link.state === 'closed'
  }

  /** An instance in this thread answers it; the limits of the call hold there too. */
  #goOn(answer: Promise<unknown>): void {
    if (this.#call.settle()) this.#resolve(answer)
  }

  #failed(error: unknown): void {
    if (this.#call.settle()) this.#reject(error)
  }

  #ended(reason: BusbarError): void {
    this.#channel?.cancel(toWire(reason))
    this.#leave()
    this.#reject(reason)
  }

  #leave(): void {
    if (!this.#isAdmitted) return
    this.#isAdmitted = false
    this.#endpoint.admission?.leave()
  }
}
