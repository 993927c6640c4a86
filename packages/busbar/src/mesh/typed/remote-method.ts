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

  /** With the same limits that the service will hold, so that a link that is cut does not matter. */
  open(origin: CallOrigin): LiveCall {
    const timeout = this.#method?.timeout
    return new LiveCall(
      this.#site,
      timeout === undefined || origin.timeout !== undefined ? origin : { ...origin, timeout },
    )
  }

  /** Throws INPUT_INVALID for what no call carries. */
  carry(input: unknown): Carried {
    try {
      return carry(input)
    } catch (error) {
      throw fromUncarriable(this.#site, error)
    }
  }

  head(kind: 'call' | 'stream', call: LiveCall, { metadata }: CallOrigin): CallHead {
    const { service, method, hops, caller, trace, timeLeft: left } = call
    return { service, kind, method, hops, caller, trace, metadata, timeLeft: left === Infinity ? undefined : left }
  }

  toError(record: ErrorRecord): BusbarError<string> {
    return toError(record, this.#site.service, this.#method?.errors ?? none)
  }
}

const none = Object.freeze({})

function failsNowhere(): never {
  throw new TypeError('a call that is answered elsewhere declares no errors here')
}
