import { type CallOrigin, type CallSite, LiveCall } from '../../contract/call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import { fromUncarriable } from '../../contract/host/failures.ts'
import type { Method } from '../../contract/method.ts'
import type { CallHead } from '../links/link.ts'
import { type Carried, carry } from '../links/value.ts'
import { toError } from './wire.ts'

/** One method of a service in other workers, with everything decided that does not depend on the call. */
export class RemoteMethod {
  readonly isIdempotent: boolean
  readonly #site: CallSite
  readonly #method: Method | undefined

  /** `method`: undefined where no contract lists it. */
  constructor(service: string, name: string, method: Method | undefined) {
    this.isIdempotent = method?.idempotent === true
    this.#method = method
    // None of the service's code runs here, so nothing logs, fails or enters its context.
    this.#site = { service, method: name, log: console, fail: failsNowhere, enter: undefined, endable: new Set() }
  }

  /**
   * With the same limits that the service will hold, so that a link that is cut does not matter. Undefined where nothing
   * but its answer ends the call.
   */
  open(origin: CallOrigin): LiveCall | undefined {
    const { timeout = this.#method?.timeout, signal, parent } = origin
    if (timeout === undefined && signal === undefined && parent?.endsEarly !== true) return undefined
    return new LiveCall(this.#site, timeout === origin.timeout ? origin : { ...origin, timeout })
  }

  /** Throws INPUT_INVALID for what no call carries. */
  carry(input: unknown): Carried {
    try {
      return carry(input)
    } catch (error) {
      throw fromUncarriable(this.#site, error)
    }
  }

  head(kind: 'call' | 'stream', call: LiveCall | undefined, origin: CallOrigin): CallHead {
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
      trace: origin.trace ?? origin.parent?.trace,
      metadata: origin.metadata,
    }
  }

  get name(): { readonly service: string; readonly method: string } {
    return this.#site
  }

  toError(record: ErrorRecord): BusbarError<string> {
    return toError(record, this.#site.service, this.#method?.errors ?? none)
  }
}

const none = Object.freeze({})

function failsNowhere(): never {
  throw new TypeError('a call that is answered elsewhere declares no errors here')
}
