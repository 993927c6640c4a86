import type { CallOrigin, LiveCall } from '../../contract/call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import type { RemoteEndpoint } from '../endpoint.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { Carried } from '../links/value.ts'
import { type Repeat, unreached, withRepeat } from '../repeats.ts'
import type { RemoteMethod } from './remote-method.ts'
import { toWire } from './wire.ts'

/** Who knows of others. */
export interface Elsewhere {
  /** Another instance than `not`, or the answer of one in this thread; undefined where there is none. */
  elsewhere(not: RemoteEndpoint, input: unknown, origin: CallOrigin): RemoteEndpoint | Promise<unknown> | undefined
}

/**
 * A call that another worker answers. Where its instance is gone it is made once more elsewhere, if that cannot do
 * anything twice: because nobody has begun with it, or because the contract says that twice is as good as once.
 */
export class RemoteCall implements ChannelHandler {
  readonly answer: Promise<unknown>
  readonly #method: RemoteMethod
  readonly #origin: CallOrigin
  /** Undefined where nothing but the answer ends it. */
  readonly #call: LiveCall | undefined
  readonly #value: unknown
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
    value: unknown,
    endpoint: RemoteEndpoint,
    elsewhere: Elsewhere,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#method = method
    this.#origin = origin
    this.#value = value
    this.#input = method.carry(value)
    this.#endpoint = endpoint
    this.#elsewhere = elsewhere
    this.#call = method.open(origin)
    this.#call?.watch((reason) => this.#ended(reason))
    if (this.#isOpen) this.#start()
  }

  onReply(value: unknown): void {
    this.#leave()
    if (this.#settle()) this.#resolve(value)
  }

  onError(error: ErrorRecord, untouched: boolean): void {
    this.#leave()
    if (!this.#isOpen) return
    const next = this.#mayRepeat(error, untouched) ? this.#another() : undefined
    if (next === undefined) return this.#failed(this.#method.toError(withRepeat(error, this.#repeat(untouched))))
    if (next instanceof Promise) return this.#goOn(next)
    this.#isSecond = true
    this.#endpoint = next
    this.#start()
  }

  #start(): void {
    const { admission } = this.#endpoint
    if (admission === undefined) return this.#open()
    try {
      const entering = admission.enter(this.#timeLeft, this.#call?.signal, this.#origin.priority)
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
    if (this.#isOpen) this.#open()
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

  #repeat(untouched: boolean): Repeat {
    if (this.#isSecond) return 'done'
    if (untouched) return 'none'
    return this.#method.isIdempotent ? 'nowhere' : 'unsafe'
  }

  #another(): RemoteEndpoint | Promise<unknown> | undefined {
    const origin = { ...this.#origin, timeout: this.#timeLeft }
    try {
      return this.#elsewhere.elsewhere(this.#endpoint, this.#value, origin)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** An instance in this thread answers it; the limits of the call hold there too. */
  #goOn(answer: Promise<unknown>): void {
    if (this.#settle()) this.#resolve(answer)
  }

  #failed(error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  /** Before the instance is told, since it frees the place of what was given up. */
  #ended(reason: BusbarError): void {
    this.#leave(true)
    this.#channel?.cancel(toWire(reason))
    this.#reject(reason)
  }

  get #isOpen(): boolean {
    return this.#call?.hasEnded === undefined
  }

  get #timeLeft(): number | undefined {
    const left = this.#call?.timeLeft
    return left === Infinity ? undefined : left
  }

  #settle(): boolean {
    return this.#call === undefined || this.#call.settle()
  }

  #leave(givenUp = false): void {
    if (!this.#isAdmitted) return
    this.#isAdmitted = false
    this.#endpoint.admission?.leave(givenUp)
  }
}
