import { startCall, type StartableRoute } from '../clients/call.ts'
import { clearDeadline, refreshDeadline, startDeadline, type Deadline, type Running } from '../clients/deadlines.ts'
import { defaultTimeout } from '../undici/dispatched-call.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import { FetchBody, type BodySupply } from './body.ts'
import type { FetchedRequest } from './request.ts'
import { createResponse } from './response.ts'
import { isAscii } from '../undici/handler.ts'
import { bodyTimeoutError, toClientError, headersTimeoutError } from '../undici/errors.ts'

/** Gives an answer to the built-in's `fetch`, which goes on from there. */
export type Replay = (
  head: ResponseHead,
  exchange: Exchange,
) => { handler: ExchangeHandler; response: Promise<Response> }

const redirects = new Set([301, 302, 303, 307, 308])
const nullBodies = new Set([204, 205, 304])

/** One `fetch` of a service. */
export class FetchCall implements ExchangeHandler, BodySupply, Deadline {
  readonly #fetched: FetchedRequest
  readonly #replay: Replay
  /** Let go of as soon as they have served: through them the response would live as long as its call. */
  #resolve: ((response: Response | Promise<Response>) => void) | undefined
  #reject: ((reason: unknown) => void) | undefined
  #exchange: Exchange | undefined
  #deadline: Running | undefined
  #body: FetchBody | null | undefined
  /** Who takes the answer instead. */
  #successor: ExchangeHandler | undefined
  #onAbort: (() => void) | undefined

  constructor(
    fetched: FetchedRequest,
    replay: Replay,
    resolve: (response: Response | Promise<Response>) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#fetched = fetched
    this.#replay = replay
    this.#resolve = resolve
    this.#reject = reject
  }

  start(route: StartableRoute): void {
    this.#exchange = startCall(route, this.#fetched.request, this)
    this.#deadline = startDeadline(defaultTimeout, this)
    const { signal } = this.#fetched
    if (signal === undefined) return
    this.#onAbort = () => this.#abortFor(signal.reason)
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  onHead(head: ResponseHead): void {
    if (this.#deadline !== undefined) refreshDeadline(this.#deadline)
    if (this.#isPlain(head)) this.#respond(head)
    else this.#handOver(head)
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#successor !== undefined) return this.#successor.onData(chunk)
    if (!this.#body) return true
    if (this.#body.push(chunk)) {
      if (this.#deadline !== undefined) refreshDeadline(this.#deadline)
      return true
    }
    this.#clearDeadline()
    return false
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#successor !== undefined) return this.#successor.onEnd(trailers)
    this.#settle()
    this.#body?.end()
  }

  onError(error: Error): void {
    if (this.#successor !== undefined) return this.#successor.onError(error)
    this.#fail(toClientError(error))
  }

  /** The reader wants more. A body that waits for its reader has no time limit. */
  resume(): void {
    this.#deadline ??= startDeadline(defaultTimeout, this)
    this.#exchange?.resume()
  }

  /** The reader has given up. */
  abort(): void {
    this.#settle()
    this.#exchange?.abort()
  }

  expire(): void {
    this.#fail(this.#body === undefined ? headersTimeoutError() : bodyTimeoutError())
    this.#exchange?.abort()
  }

  #isPlain({ status, statusText, headers }: ResponseHead): boolean {
    const { redirect, request } = this.#fetched
    if (status < 200 || status > 599 || !isAscii(statusText)) return false
    if (redirects.has(status) && redirect !== 'manual')
      return redirect === 'follow' && headers['location'] === undefined
    if (status === 407 || status === 421) return false
    return headers['content-encoding'] === undefined || request.method === 'HEAD' || nullBodies.has(status)
  }

  #respond(head: ResponseHead): void {
    const { url, request, signal } = this.#fetched
    const hasBody = request.method !== 'HEAD' && !nullBodies.has(head.status)
    this.#body = hasBody ? new FetchBody(signal, this) : null
    const response = createResponse(head, url.href, this.#body)
    this.#body?.belongTo(response)
    this.#answer(response)
  }

  #handOver(head: ResponseHead): void {
    this.#settle()
    const { handler, response } = this.#replay(head, this.#exchange!)
    this.#successor = handler
    this.#answer(response)
  }

  #answer(response: Response | Promise<Response>): void {
    this.#resolve?.(response)
    this.#resolve = undefined
    this.#reject = undefined
  }

  #abortFor(reason: unknown): void {
    this.#settle()
    if (this.#body === undefined) this.#reject?.(reason)
    else this.#body?.fail(reason)
    this.#exchange?.abort()
  }

  #fail(cause: Error): void {
    this.#settle()
    if (this.#body === undefined) this.#reject?.(new TypeError('fetch failed', { cause }))
    else this.#body?.fail(new TypeError('terminated', { cause }))
  }

  #settle(): void {
    this.#clearDeadline()
    if (this.#onAbort === undefined) return
    this.#fetched.signal?.removeEventListener('abort', this.#onAbort)
    this.#onAbort = undefined
  }

  #clearDeadline(): void {
    clearDeadline(this.#deadline)
    this.#deadline = undefined
  }
}
