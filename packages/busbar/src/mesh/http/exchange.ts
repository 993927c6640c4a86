import type { Endpoint, RemoteEndpoint } from '../endpoint.ts'
import type { Scope } from '../scope.ts'
import { needsByteStream } from '../../accelerators/exchange/errors.ts'
import { InThreadExchange } from '../../accelerators/exchange/in-thread/in-thread-exchange.ts'
import { addFraming, limitsOf, noLimits, planRequest } from '../../accelerators/exchange/request-plan.ts'
import type { RequestPlan } from '../../accelerators/exchange/request-plan.ts'
import { fastPathWorks, methodNumbers } from '../../accelerators/exchange/probe.ts'
import { Attempts } from '../../accelerators/exchange/link/attempts.ts'
import { LinkExchange } from '../../accelerators/exchange/link/link-exchange.ts'

export { fastPathWorks } from '../../accelerators/exchange/probe.ts'

/**
 * One HTTP request and its answer between two programs, without a socket, HTTP text or a parser. Clients (`fetch/`,
 * `undici/`) state the request and take the answer through this interface; the virtual connection behind it gives the
 * callee a real `IncomingMessage` and `ServerResponse`, in this thread or at the other end of a link.
 */

export interface ExchangeRequest {
  readonly method: string
  /** Path and query, starting with a slash. */
  readonly path: string
  /**
   * Name, value, name, value…, in the order and case they were stated. `Host` is among them. The list becomes the
   * callee's own: hand over a fresh one. A body without `Content-Length` or `Transfer-Encoding` gets the one it needs.
   */
  readonly rawHeaders: string[]
  /** A whole body; null for none, and for one that is streamed. */
  readonly body: string | Uint8Array | null
  /** The body will come chunk by chunk, by {@link Exchange.write} and {@link Exchange.end}. */
  readonly streamed: boolean
  /** Without it HTTP/1.1. An older one changes how the callee answers, which only a byte stream says exactly. */
  readonly httpVersion?: '1.0' | undefined
  /** How large the head of an answer may be, in bytes. Without it as large as Node's own client takes. */
  readonly maxAnswerHead?: number | undefined
}

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Names in lower case; a repeated one has a list. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Name, value, name, value…, as the callee wrote them; absent where no callee did. */
  readonly rawHeaders?: readonly string[]
}

/**
 * For a request from the gateway. A server may send a head of any size, and it is for the client to refuse it: browsers
 * take 256 KiB.
 */
export const maxForwardedHead = 1024 * 1024

/** What becomes of a request, told in this order: any information, head, data…, then exactly one of end and error. */
export interface ExchangeHandler {
  /** 1xx, such as 103 early hints. */
  onInformation?(status: number, headers: Readonly<Record<string, string | string[]>>): void
  onHead(head: ResponseHead): void
  /** A chunk that is now the caller's own. False asks for no more until {@link Exchange.resume}. */
  onData(chunk: Uint8Array | string): boolean
  onEnd(trailers: Readonly<Record<string, string>>): void
  /** The callee went away or the call was aborted; before or after the head. */
  onError(error: Error): void
  /** A streamed request body may go on after `write` answered false. */
  onDrain?(): void
}

export interface Exchange {
  /** Only with a streamed body. False: wait for `onDrain`. */
  write(chunk: Uint8Array | string): boolean
  end(trailers?: string[]): void
  resume(): void
  /** The caller gives up: the callee sees `close` as it would on a cut connection, the handler `onError`. */
  abort(error?: Error): void
}

/**
 * Sends `request` to the endpoint's program, as if over a connection of its own. The program runs later, never inside
 * this call, in the context of `endpoint.enter(scope, …)`; the handler is called in the caller's async context, never
 * inside the program's code. The body is taken (copied) before this returns.
 *
 * `elsewhere`: finds another instance, for a request whose instance turns out to be gone.
 *
 * Throws for what {@link canExchange} declines: ask it first, and send that over a byte stream.
 */
export function openExchange(
  endpoint: Endpoint,
  request: ExchangeRequest,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere?: (not: Endpoint) => Endpoint | undefined,
): Exchange {
  const plan = planOf(endpoint, request)
  if (plan === undefined || endpoint.at === 'tcp') throw needsByteStream(endpoint.service, request)
  addFraming(plan, request)
  if (endpoint.at === 'here') return new InThreadExchange(endpoint, request, plan, scope, handler)
  if (endpoint.admission === undefined && (elsewhere === undefined || request.streamed))
    return new LinkExchange(endpoint, request, plan.contentLength, scope, handler)
  return attempt(endpoint, request, plan.contentLength, scope, handler, elsewhere)
}

function attempt(
  endpoint: RemoteEndpoint,
  stated: ExchangeRequest,
  contentLength: number,
  scope: Scope,
  handler: ExchangeHandler,
  elsewhere: (not: Endpoint) => Endpoint | undefined = () => undefined,
): Exchange {
  // Its memory is the caller's, who may use it again before the request is made, or made again.
  const body = typeof stated.body === 'string' || stated.body === null ? stated.body : new Uint8Array(stated.body)
  const request = { ...stated, body }
  return new Attempts({
    endpoint,
    request,
    handler,
    open: (chosen, own) =>
      chosen === endpoint
        ? new LinkExchange(endpoint, request, contentLength, scope, own)
        : openExchange(chosen, request, scope, own),
    elsewhere(not) {
      const next = elsewhere(not)
      return next !== undefined && canExchange(next, request) ? next : undefined
    },
  })
}

/**
 * False for what only a byte stream does exactly: what is not valid (the client there refuses it in its own words),
 * upgrades, CONNECT, methods the parser does not know, contradictory or wrong lengths, headers beyond the server's limit
 * or with other values than printable ASCII.
 */
export function canExchange(endpoint: Endpoint, request: ExchangeRequest): boolean {
  return planOf(endpoint, request) !== undefined
}

let last: { endpoint: Endpoint; request: ExchangeRequest; plan: RequestPlan | undefined } | undefined

/** Remembered for the `openExchange` that follows `canExchange`. */
function planOf(endpoint: Endpoint, request: ExchangeRequest): RequestPlan | undefined {
  if (last?.request === request && last.endpoint === endpoint) return last.plan
  const plan = fastPathWorks() ? makePlan(endpoint, request) : undefined
  last = { endpoint, request, plan }
  return plan
}

/** How much the server of an instance elsewhere takes is for its own thread to say. */
function makePlan(endpoint: Endpoint, request: ExchangeRequest): RequestPlan | undefined {
  const limits = endpoint.at === 'here' ? limitsOf(endpoint.server) : noLimits
  return limits === undefined || endpoint.at === 'tcp' ? undefined : planRequest(methodNumbers(), limits, request)
}
