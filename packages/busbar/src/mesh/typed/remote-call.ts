import { type CallEdge, statusOf, succeeded } from '../../contract/call/call-edge.ts'
import type { CallOrigin, LiveCall } from '../../contract/call/live-call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { answererAt, type RemoteEndpoint } from '../routing/endpoint.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { EncodedValue } from '../links/frames/encoded-value.ts'
import { type RetryOutcome, undeliveredCodes, withRetryOutcome } from '../routing/retry.ts'
import type { RemoteMethod } from './remote-method.ts'
import { toErrorRecord } from './error-records.ts'

export interface OtherInstances {
  /**
   * Another instance than `not`, or the answer of one in this thread. Undefined if there is none.
   */
  findOther(not: RemoteEndpoint, input: unknown, origin: CallOrigin): RemoteEndpoint | Promise<unknown> | undefined
  /** Another host, which has not said that it has another contract. */
  findFitting(not: RemoteEndpoint, input: unknown): RemoteEndpoint | undefined
  /** What decides which instance gets the call. Undefined: nothing does. */
  keyOf(input: unknown): string | undefined
}

export interface RemoteCallParts {
  readonly method: RemoteMethod
  readonly origin: CallOrigin
  readonly value: unknown
  readonly endpoint: RemoteEndpoint
  readonly others: OtherInstances
  /** Counts the call for its caller. */
  readonly edge: CallEdge | undefined
}

/**
 * A call that another worker answers. If its instance is lost, the call is retried once on another
 * instance, provided that it had not started or the contract says that it is idempotent.
 */
export class RemoteCall implements ChannelHandler {
  readonly answer: Promise<unknown>
  readonly #method: RemoteMethod
  readonly #origin: CallOrigin
  /** Undefined if only the answer can end the call. */
  readonly #call: LiveCall | undefined
  readonly #value: unknown
  readonly #input: EncodedValue
  readonly #others: OtherInstances
  #resolve!: (value: unknown) => void
  #reject!: (error: unknown) => void
  #endpoint: RemoteEndpoint
  /** Undefined while no instance has the call. */
  #channel: Channel | undefined
  #isRetry = false
  #isAdmitted = false
  /** While it waits to be admitted. */
  #waitsSince: number | undefined
  readonly #edge: CallEdge | undefined
  readonly #began: number | undefined

  constructor({ method, origin, value, endpoint, others, edge }: RemoteCallParts) {
    // `Promise.withResolvers` takes half as long again.
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#method = method
    this.#origin = origin
    this.#value = value
    this.#edge = edge
    this.#began = edge?.begin()
    this.#input = this.#encode(value)
    this.#endpoint = endpoint
    this.#others = others
    this.#call = method.open(origin)
    this.#call?.watch((reason) => this.#ended(reason))
    if (this.#isOpen) this.#start()
  }

  onReply(value: unknown): void {
    this.#leave()
    if (!this.#settle()) return
    this.#count(succeeded)
    this.#resolve(value)
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    this.#leave()
    if (notStarted) this.#channel = undefined
    if (!this.#isOpen || (notStarted && this.#isElsewhere(error))) return
    const next = this.#mayRetry(error, notStarted) ? this.#findOther() : undefined
    if (next === undefined) return this.#failed(this.#toError(withRetryOutcome(error, this.#retryOutcome(notStarted))))
    this.#edge?.retried()
    if (next instanceof Promise) return this.#passOn(next)
    this.#isRetry = true
    this.#endpoint = next
    this.#start()
  }

  /** Throws INPUT_INVALID. */
  #encode(value: unknown): EncodedValue {
    try {
      return this.#method.encodeValue(value)
    } catch (error) {
      this.#count(statusOf(error))
      throw error
    }
  }

  #count(status: number, callee = this.#channel === undefined ? noWorker : answererAt(this.#endpoint)): void {
    this.#endWait()
    this.#edge?.end(status, this.#began, callee)
  }

  #endWait(): void {
    if (this.#waitsSince !== undefined) this.#edge?.waited?.(performance.now() - this.#waitsSince)
    this.#waitsSince = undefined
  }

  #toError(error: ErrorRecord): BusbarError<string> {
    return this.#method.toError(this.#method.rejection(error, this.#endpoint))
  }

  /** Goes on to a host with the caller's contract, if there is one. */
  #isElsewhere(error: ErrorRecord): boolean {
    if (!this.#method.isRejection(error, this.#endpoint)) return false
    this.#endpoint.reject?.(this.#method.needed)
    const next = this.#others.findFitting(this.#endpoint, this.#value)
    if (next === undefined) return false
    this.#edge?.retried()
    this.#endpoint = next
    this.#start()
    return true
  }

  #start(): void {
    const { admission } = this.#endpoint
    if (admission === undefined) return this.#open()
    try {
      const entering = admission.enter(this.#timeLeft, this.#call?.signal, this.#origin.priority)
      if (entering === undefined) return this.#admitted()
      this.#waitsSince = performance.now()
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
    this.#endWait()
    if (this.#isOpen) this.#open()
    else this.#leave()
  }

  #open(): void {
    const { host, link } = this.#endpoint
    const key = host === undefined ? undefined : this.#others.keyOf(this.#value)
    const head = this.#method.head('call', this.#call, this.#origin, host, key)
    this.#channel = link.open(head, this.#input.copy(), true, this)
  }

  /** Calls that are not idempotent are retried only if they certainly had not started. */
  #mayRetry({ code }: ErrorRecord, notStarted: boolean): boolean {
    if (this.#isRetry) return false
    if (notStarted) return undeliveredCodes.has(code)
    const { link, host } = this.#endpoint
    // Another app reports the death of a worker over a link that is fine.
    return this.#method.isIdempotent && (link.state === 'closed' || (host !== undefined && undeliveredCodes.has(code)))
  }

  #retryOutcome(notStarted: boolean): RetryOutcome {
    if (this.#isRetry) return 'retried'
    if (notStarted) return 'none'
    if (this.#method.isIdempotent) return 'no-instance'
    return this.#origin.delivery === undefined ? 'unsafe' : 'queued'
  }

  #findOther(): RemoteEndpoint | Promise<unknown> | undefined {
    const origin = { ...this.#origin, timeout: this.#timeLeft }
    try {
      return this.#others.findOther(this.#endpoint, this.#value, origin)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** An instance in this thread answers. The call's deadline holds there too. */
  #passOn(answer: Promise<unknown>): void {
    if (!this.#settle()) return
    this.#resolve(answer)
    const count = (status: number): void => this.#edge?.end(status, this.#began)
    answer.then(
      () => count(succeeded),
      (error: unknown) => count(statusOf(error)),
    )
  }

  #failed(error: unknown): void {
    if (!this.#settle()) return
    this.#count(statusOf(error))
    this.#reject(error)
  }

  /** Leaves before it sends the cancel, because the instance then frees the slot. */
  #ended(reason: BusbarError): void {
    this.#leave(true)
    this.#channel?.cancel(toErrorRecord(reason))
    this.#count(reason.status)
    this.#reject(reason)
  }

  get #isOpen(): boolean {
    return this.#call?.endReason === undefined
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
