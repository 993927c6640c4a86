import { type CallEdge, succeeded } from '../../contract/call/call-edge.ts'
import { abortedBy } from '../../contract/call/end-reasons.ts'
import type { CallOrigin, LiveCall } from '../../contract/call/live-call.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { answererAt, type RemoteEndpoint } from '../routing/endpoint.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { EncodedValue } from '../links/frames/encoded-value.ts'
import { undeliveredCodes } from '../routing/retry.ts'
import type { RemoteMethod } from './remote-method.ts'
import { toErrorRecord } from './error-records.ts'
import type { Upload } from './upload.ts'

type Step = IteratorResult<unknown, undefined>

type State =
  | { readonly is: 'open' }
  /** The end follows the values that have arrived. */
  | { readonly is: 'ended'; readonly failure: BusbarError<string> | undefined }
  | { readonly is: 'over' }

const done = { done: true, value: undefined } as const

export interface OtherStreams {
  /** Another instance than `not`. */
  readonly findOther: (not: RemoteEndpoint) => RemoteEndpoint | undefined
  /** Another host, which has not said that it has another contract. */
  readonly findFitting: (not: RemoteEndpoint) => RemoteEndpoint | undefined
  /** What decides which instance gets the call. */
  readonly key: () => string | undefined
}

export interface RemoteStreamParts {
  readonly method: RemoteMethod
  readonly origin: CallOrigin
  readonly input: EncodedValue
  /** The values of a caller that sends many; `input` is empty then. */
  readonly upload?: Upload | undefined
  readonly endpoint: RemoteEndpoint
  readonly others: OtherStreams
  /** Counts the stream for its caller. */
  readonly edge: CallEdge | undefined
}

/**
 * The caller's end of a stream from another worker. It buffers at most a window of values. It is
 * retried once on another instance, only if it had not started.
 */
export class RemoteStream implements AsyncIterator<unknown, undefined>, ChannelHandler {
  readonly #method: RemoteMethod
  readonly #call: LiveCall | undefined
  readonly #open: (endpoint: RemoteEndpoint) => Channel
  readonly #others: OtherStreams
  readonly #upload: Upload | undefined
  #isRetry = false
  #endpoint: RemoteEndpoint
  #channel: Channel | undefined
  readonly #values: unknown[] = []
  #state: State = { is: 'open' }
  /** Readers that wait for values. */
  readonly #waiting: PromiseWithResolvers<Step>[] = []

  readonly #edge: CallEdge | undefined
  readonly #began: number | undefined

  constructor({ method, origin, input, upload, endpoint, others, edge }: RemoteStreamParts) {
    this.#upload = upload
    this.#edge = edge
    this.#began = edge?.begin()
    this.#method = method
    this.#endpoint = endpoint
    this.#others = others
    this.#call = method.open(origin)
    this.#open = ({ link, host }) => {
      const key = host === undefined ? undefined : others.key()
      const head = method.head('stream', this.#call, origin, host, key)
      return link.open(head, input.copy(), upload === undefined, this)
    }
    this.#call?.watch((reason) => this.#ended(reason))
    if (this.#call?.endReason === undefined) this.#channel = this.#open(endpoint)
    if (this.#channel !== undefined) upload?.start(this.#channel, (error) => this.#uploadFailed(error))
  }

  next(): Promise<Step> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#state.is !== 'open') return this.#finish(this.#state)
    const waiting = Promise.withResolvers<Step>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** The reader stops early. */
  async return(): Promise<Step> {
    if (this.#state.is === 'open') {
      this.#upload?.stop()
      this.#channel?.cancel(toErrorRecord(abortedBy(this.#method.name)))
      this.#call?.settle()
      this.#count(succeeded)
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
    // The callee is waiting for the end of this direction, too.
    if (this.#upload?.stop() === true) this.#channel?.end()
    this.#settle(undefined)
  }

  onDrain(): void {
    this.#upload?.onDrain()
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    // Values that were sent are gone.
    const next = notStarted && this.#upload === undefined ? this.#next(error) : undefined
    if (next !== undefined && this.#state.is === 'open') {
      this.#edge?.retried()
      this.#endpoint = next
      this.#channel = this.#open(next)
      return
    }
    const failure = this.#method.toError(this.#method.rejection(error, this.#endpoint))
    if (notStarted) this.#channel = undefined
    this.#settle(failure)
  }

  #count(status: number): void {
    const callee = this.#channel === undefined ? noWorker : answererAt(this.#endpoint)
    this.#edge?.end(status, this.#began, callee)
  }

  #next(error: ErrorRecord): RemoteEndpoint | undefined {
    if (this.#method.isRejection(error, this.#endpoint)) {
      this.#endpoint.reject?.(this.#method.needed)
      return this.#others.findFitting(this.#endpoint)
    }
    if (this.#isRetry || !undeliveredCodes.has(error.code)) return undefined
    this.#isRetry = true
    return this.#others.findOther(this.#endpoint)
  }

  #take(): unknown {
    this.#channel?.consumed(1)
    return this.#values.shift()
  }

  #uploadFailed(error: BusbarError): void {
    this.#channel?.cancel(toErrorRecord(error))
    this.#settle(error)
  }

  #settle(failure: BusbarError<string> | undefined): void {
    this.#upload?.stop()
    if (this.#call?.settle() === false) return
    this.#count(failure?.status ?? succeeded)
    this.#state = { is: 'ended', failure }
    // Readers wait only if there are no values.
    const first = this.#waiting.shift()
    if (first === undefined) return
    this.#finish(this.#state).then(first.resolve, first.reject)
    this.#close(this.#state)
  }

  /** The call ended before the stream. Its reader gets the reason at once. */
  #ended(reason: BusbarError): void {
    this.#upload?.stop()
    this.#channel?.cancel(toErrorRecord(reason))
    this.#count(reason.status)
    this.#values.length = 0
    this.#state = { is: 'ended', failure: reason }
    const first = this.#waiting.shift()
    if (first === undefined) return
    first.reject(reason)
    this.#close({ is: 'over' })
  }

  /** A failure is reported once. After it the stream is done. */
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
