import { abortedBy, type CallOrigin, type LiveCall } from '../../contract/call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import type { RemoteEndpoint } from '../endpoint.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { Carried } from '../links/value.ts'
import { unreached } from '../repeats.ts'
import type { RemoteMethod } from './remote-method.ts'
import { toWire } from './wire.ts'

type Step = IteratorResult<unknown, undefined>

type State =
  | { readonly is: 'open' }
  /** Behind the values that have come. */
  | { readonly is: 'ended'; readonly failure: BusbarError<string> | undefined }
  | { readonly is: 'over' }

const done = { done: true, value: undefined } as const

/** Another instance than the one that was asked. */
export type Another = (not: RemoteEndpoint) => RemoteEndpoint | undefined

/**
 * A stream that another worker makes, as its caller reads it. What has come and is not read yet is at most a window. It is
 * opened once more, elsewhere, only where nobody had begun with it.
 */
export class RemoteStream implements AsyncIterator<unknown, undefined>, ChannelHandler {
  readonly #method: RemoteMethod
  readonly #call: LiveCall | undefined
  readonly #open: (endpoint: RemoteEndpoint) => Channel
  #another: Another | undefined
  #endpoint: RemoteEndpoint
  #channel: Channel | undefined
  readonly #values: unknown[] = []
  #state: State = { is: 'open' }
  /** Those who asked for values that have not come. */
  readonly #waiting: PromiseWithResolvers<Step>[] = []

  constructor(method: RemoteMethod, origin: CallOrigin, input: Carried, endpoint: RemoteEndpoint, another: Another) {
    this.#method = method
    this.#endpoint = endpoint
    this.#another = another
    this.#call = method.open(origin)
    this.#open = ({ link }) => link.open(method.head('stream', this.#call, origin), input.copy(), true, this)
    this.#call?.watch((reason) => this.#ended(reason))
    if (this.#call?.hasEnded === undefined) this.#channel = this.#open(endpoint)
  }

  next(): Promise<Step> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#state.is !== 'open') return this.#finish(this.#state)
    const waiting = Promise.withResolvers<Step>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** The reader has had enough. */
  async return(): Promise<Step> {
    if (this.#state.is === 'open') {
      this.#channel?.cancel(toWire(abortedBy(this.#method.name)))
      this.#call?.settle()
    }
    this.#close({ is: 'over' })
    return done
  }

  onData(value: unknown): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return void this.#values.push(value)
    this.#channel?.consumed(1)
    waiting.resolve({ done: false, value })
  }

  onEnd(): void {
    this.#settle(undefined)
  }

  onError(error: ErrorRecord, untouched: boolean): void {
    const next = untouched && unreached.has(error.code) ? this.#another?.(this.#endpoint) : undefined
    this.#another = undefined
    if (next !== undefined && this.#state.is === 'open') {
      this.#endpoint = next
      this.#channel = this.#open(next)
      return
    }
    this.#settle(this.#method.toError(error))
  }

  #take(): unknown {
    this.#channel?.consumed(1)
    return this.#values.shift()
  }

  #settle(failure: BusbarError<string> | undefined): void {
    if (this.#call?.settle() === false) return
    this.#state = { is: 'ended', failure }
    // Nobody waits where there are values.
    const first = this.#waiting.shift()
    if (first === undefined) return
    this.#finish(this.#state).then(first.resolve, first.reject)
    this.#close(this.#state)
  }

  /** The call has ended before the stream: its reader is told at once. */
  #ended(reason: BusbarError): void {
    this.#channel?.cancel(toWire(reason))
    this.#values.length = 0
    this.#state = { is: 'ended', failure: reason }
    const first = this.#waiting.shift()
    if (first === undefined) return
    first.reject(reason)
    this.#close({ is: 'over' })
  }

  /** The failure is told once; after it there is nothing. */
  #finish(state: State): Promise<Step> {
    this.#state = { is: 'over' }
    return state.is === 'ended' && state.failure !== undefined ? Promise.reject(state.failure) : Promise.resolve(done)
  }

  #close(state: State): void {
    this.#state = { is: 'over' }
    if (state.is === 'over') this.#values.length = 0
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(done)
  }
}
