import { type CallOrigin, type CallSite, LiveCall } from '../../contract/call/live-call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import { toInputInvalid } from '../../contract/host/failures.ts'
import { contractOf } from '../../contract/method-contract.ts'
import type { Method } from '../../contract/method.ts'
import { shareHead } from '../links/frames/frame-encoder.ts'
import type { CallHead } from '../links/link.ts'
import { Shaper } from '../links/frames/shaper.ts'
import type { RemoteEndpoint } from '../routing/endpoint.ts'
import { type EncodedValue, encodeValue } from '../links/frames/encoded-value.ts'
import { fromErrorRecord } from './error-records.ts'

/** One method of a service in other workers. Prepares all that does not depend on the call. */
export class RemoteMethod {
  readonly isIdempotent: boolean
  readonly #site: CallSite
  readonly #method: Method | undefined
  readonly #shaper = new Shaper()
  #needed: string | undefined
  readonly #isForeign: boolean
  /** Of calls that differ in nothing but their input, within the app and to another one. */
  #sharedHere: CallHead | undefined
  #sharedThere: CallHead | undefined

  /**
   * `method`: undefined if the contract does not list it. `isForeign`: its calls come from outside
   * the app.
   */
  constructor(service: string, name: string, method: Method | undefined, isForeign = false) {
    this.#isForeign = isForeign
    this.isIdempotent = method?.idempotent === true
    this.#method = method
    // The service's code does not run here, so these are never used.
    this.#site = { service, method: name, log: console, fail: noFail, enter: undefined, cancellable: new Set() }
  }

  /**
   * Applies the same deadline as the service, so that it holds if the link breaks. Undefined if
   * only the answer can end the call.
   */
  open(origin: CallOrigin): LiveCall | undefined {
    const { timeout = this.#method?.timeout, signal, parent } = origin
    if (timeout === undefined && signal === undefined && parent?.canEndEarly !== true) return undefined
    return new LiveCall(this.#site, timeout === origin.timeout ? origin : { ...origin, timeout })
  }

  /** Throws INPUT_INVALID for values that calls do not support. */
  encodeValue(input: unknown): EncodedValue {
    try {
      return encodeValue(input, this.#shaper)
    } catch (error) {
      throw toInputInvalid(this.#site, error)
    }
  }

  /** `key`: only for another app, which does not know the caller's contract. */
  head(
    kind: 'call' | 'stream',
    call: LiveCall | undefined,
    origin: CallOrigin,
    host: string | undefined,
    key: string | undefined,
  ): CallHead {
    const trace = origin.trace ?? origin.parent?.cause
    const isOfMany = call === undefined && trace === undefined && origin.metadata === undefined && key === undefined
    if (kind === 'call' && isOfMany && origin.delivery === undefined)
      return this.#sharedHead(origin, host !== undefined)
    const left = call?.timeLeft ?? Infinity
    const timeLeft = left === Infinity ? undefined : left
    return this.#head(kind, origin, {
      isElsewhere: host !== undefined,
      mayCancel: call !== undefined,
      timeLeft,
      trace,
      key,
    })
  }

  #sharedHead(origin: CallOrigin, isElsewhere: boolean): CallHead {
    const last = isElsewhere ? this.#sharedThere : this.#sharedHere
    const { caller, hops = 0 } = origin
    if (last !== undefined && last.caller === caller && last.hops === hops) return last
    const rest = { isElsewhere, mayCancel: false, timeLeft: undefined, trace: undefined, key: undefined }
    const head = shareHead(this.#head('call', origin, rest))
    if (isElsewhere) this.#sharedThere = head
    else this.#sharedHere = head
    return head
  }

  /** All fields at once: a spread takes longer than the rest of the head. */
  #head(kind: 'call' | 'stream', origin: CallOrigin, rest: HeadRest): CallHead {
    const { isElsewhere, mayCancel, timeLeft, trace, key } = rest
    return {
      service: this.#site.service,
      kind,
      method: this.#site.method,
      hops: origin.hops ?? 0,
      caller: origin.caller,
      mayCancel,
      timeLeft,
      trace,
      metadata: origin.metadata,
      isForeign: this.#isForeign,
      contract: isElsewhere ? this.contract : undefined,
      key: isElsewhere ? key : undefined,
      delivery: isElsewhere ? undefined : origin.delivery,
    }
  }

  /** Undefined if it fits any. */
  get contract(): string | undefined {
    return this.#method && contractOf(this.#method)
  }

  /** What a host has or has not: the method with this contract. */
  get needed(): string {
    return (this.#needed ??= `${this.#site.method} ${this.contract ?? ''}`)
  }

  /** True if the host said that it has another contract: any call may go to another host. */
  isRejection({ code }: ErrorRecord, { host }: RemoteEndpoint): boolean {
    return host !== undefined && (code === 'CONTRACT_MISMATCH' || code === 'METHOD_UNKNOWN')
  }

  get name(): { readonly service: string; readonly method: string } {
    return this.#site
  }

  /** For callers, if no host has the contract. */
  rejection(error: ErrorRecord, { host }: RemoteEndpoint): ErrorRecord {
    return error.code === 'CONTRACT_MISMATCH' ? { ...error, message: `${error.message}: ${host}` } : error
  }

  toError(record: ErrorRecord): BusbarError<string> {
    return fromErrorRecord(record, this.#site.service, this.#method?.errors ?? none)
  }
}

/** What differs between the calls of one origin. */
interface HeadRest {
  readonly isElsewhere: boolean
  readonly mayCancel: boolean
  readonly timeLeft: number | undefined
  readonly trace: CallHead['trace']
  readonly key: string | undefined
}

const none = Object.freeze({})

function noFail(): never {
  throw new TypeError('a remote call has no `fail`')
}
