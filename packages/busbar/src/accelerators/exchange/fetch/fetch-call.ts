import { startCall, type StartableCallRoute } from '../clients/client-call.ts'
import { ResponseTimeout, type TimedCall } from '../clients/response-timeout.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import type { BodySupply } from '../clients/body-values.ts'
import { FetchBody } from './response-body.ts'
import type { FetchRequest } from './fetch-request.ts'
import { createResponse } from './mesh-response.ts'
import { isAscii } from '../header-values.ts'
import { toClientError } from '../clients/undici-errors.ts'

/** Passes a response to the built-in `fetch`, which continues with it. */
export type Replay = (
  head: ResponseHead,
  exchange: Exchange,
) => { handler: ExchangeHandler; response: Promise<Response> }

const redirects = new Set([301, 302, 303, 307, 308])
const nullBodies = new Set([204, 205, 304])

/** One `fetch` of a service. */
export class FetchCall implements ExchangeHandler, BodySupply, TimedCall {
  readonly #fetched: FetchRequest
  readonly #replay: Replay
  /** Released after use: otherwise they would keep the response in memory as long as the call. */
  #resolve: ((response: Response | Promise<Response>) => void) | undefined
  #reject: ((reason: unknown) => void) | undefined
  #exchange: Exchange | undefined
  readonly #timeout = new ResponseTimeout(this)
  #body: FetchBody | null | undefined
  /** Gets the rest of the response, after a replay. */
  #successor: ExchangeHandler | undefined
  #onAbort: (() => void) | undefined

  constructor(
    fetched: FetchRequest,
    replay: Replay,
    resolve: (response: Response | Promise<Response>) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#fetched = fetched
    this.#replay = replay
    this.#resolve = resolve
    this.#reject = reject
  }

  start(route: StartableCallRoute): void {
    this.#exchange = startCall(route, this.#fetched.request, this)
    this.#timeout.awaitHead()
    const { signal } = this.#fetched
    if (signal === undefined) return
    this.#onAbort = () => this.#abortFor(signal.reason)
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  onHead(head: ResponseHead): void {
    this.#timeout.awaitBody()
    if (this.#isOrdinary(head)) this.#respond(head)
    else this.#replayResponse(head)
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#successor !== undefined) return this.#successor.onData(chunk)
    if (!this.#body) return true
    const more = this.#body.push(chunk)
    this.#timeout.onData(more)
    return more
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

  /** The reader wants more. While a body waits for its reader, there is no timeout. */
  resume(): void {
    this.#timeout.resume()
    this.#exchange?.resume()
  }

  /** The reader has cancelled the body. */
  abort(): void {
    this.#settle()
    this.#exchange?.abort()
  }

  onTimeout(error: Error): void {
    this.#fail(error)
    this.#exchange?.abort()
  }

  /** True if the response needs no special treatment by the fetch standard. */
  #isOrdinary({ status, statusText, headers }: ResponseHead): boolean {
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
    this.#body?.setOwner(response)
    this.#answer(response)
  }

  #replayResponse(head: ResponseHead): void {
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
    this.#timeout.stop()
    if (this.#onAbort === undefined) return
    this.#fetched.signal?.removeEventListener('abort', this.#onAbort)
    this.#onAbort = undefined
  }
}
