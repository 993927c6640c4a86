import { type CallOrigin, type CallSite, LiveCall } from '../../contract/call/live-call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import { toInputInvalid } from '../../contract/host/failures.ts'
import { contractOf } from '../../contract/method-contract.ts'
import type { Method } from '../../contract/method.ts'
import type { CallHead } from '../links/link.ts'
import type { RemoteEndpoint } from '../routing/endpoint.ts'
import { type EncodedValue, encodeValue } from '../links/encoded-value.ts'
import { fromErrorRecord } from './error-records.ts'

/** One method of a service in other workers. Prepares all that does not depend on the call. */
export class RemoteMethod {
  readonly isIdempotent: boolean
  readonly #site: CallSite
  readonly #method: Method | undefined
  #needed: string | undefined
  readonly #isForeign: boolean

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
      return encodeValue(input)
    } catch (error) {
      throw toInputInvalid(this.#site, error)
    }
  }

  /** `key`: only for another app, which does not know the caller's contract. */
  head(
    kind: 'call' | 'stream',
    call: LiveCall | undefined,
    origin: CallOrigin,
    { host }: RemoteEndpoint,
    key: (() => string | undefined) | undefined,
  ): CallHead {
    const { service, method } = this.#site
    const left = call?.timeLeft ?? Infinity
    return {
      service,
      kind,
      method,
      hops: origin.hops ?? 0,
      caller: origin.caller,
      mayCancel: call !== undefined,
      timeLeft: left === Infinity ? undefined : left,
      trace: origin.trace ?? origin.parent?.cause,
      metadata: origin.metadata,
      ...(host !== undefined && { contract: this.contract, key: key?.() }),
      ...(host === undefined && origin.delivery !== undefined && { delivery: origin.delivery }),
      ...(this.#isForeign && { isForeign: true }),
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

const none = Object.freeze({})

function noFail(): never {
  throw new TypeError('a remote call has no `fail`')
}
