/**
 * One HTTP request and its response as values. The gateway and calls that arrive over a link use
 * it. The request then goes as HTTP text on a connection (`text-exchange.ts`), or by an accelerator
 * (`Exchanges`).
 */
import { BusbarError } from '../../contract/errors.ts'

export interface ExchangeRequest {
  readonly method: string
  /** Path and query, starting with a slash. */
  readonly path: string
  /**
   * Name, value, name, value…, in the caller's order and case, with `Host`. The callee owns the
   * list afterwards: pass a fresh one. A body without `Content-Length` or `Transfer-Encoding` gets
   * the one it needs.
   */
  readonly rawHeaders: string[]
  /** The whole body. Null if there is none, or if it is streamed. */
  readonly body: string | Uint8Array | null
  /** The body follows in chunks, by {@link Exchange.write} and {@link Exchange.end}. */
  readonly streamed: boolean
  /**
   * Default: HTTP/1.1. An older version changes how the callee answers, which only a connection
   * does exactly.
   */
  readonly httpVersion?: '1.0' | undefined
  /** The largest response head, in bytes. Default: the limit of Node's own client. */
  readonly maxResponseHead?: number | undefined
}

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Names in lower case. A repeated header has a list. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Name, value, name, value…, as the callee wrote them. Absent if no callee did. */
  readonly rawHeaders?: readonly string[]
}

/**
 * The largest response head of a request from the gateway, in bytes. A server may send a head of
 * any size, and it is up to the client to refuse it. Browsers accept 256 KiB.
 */
export const maxForwardedHead = 1024 * 1024

/** Called in this order: any information, head, data…, then exactly one of end and error. */
export interface ExchangeHandler {
  /** 1xx, such as 103 Early Hints. */
  onInformation?(status: number, headers: Readonly<Record<string, string | string[]>>): void
  onHead(head: ResponseHead): void
  /** The caller owns `chunk` from now on. Returns false to pause until {@link Exchange.resume}. */
  onData(chunk: Uint8Array | string): boolean
  onEnd(trailers: Readonly<Record<string, string | string[]>>): void
  /** The callee went away, or the call was aborted; before or after the head. */
  onError(error: Error): void
  /** A streamed request body may continue after `write` returned false. */
  onDrain?(): void
  /** The request has waited for a limit of its service. It is sent now, or has failed. */
  onWaited?(milliseconds: number): void
  /**
   * The request is sent again. Only before the head. `callee`: the worker of the instance that gets
   * it, as for `end` of an edge.
   */
  onRetry?(callee: number | undefined): void
  /** No instance has had the request: what follows is a response in their place. */
  onRefused?(): void
}

export interface Exchange {
  /** For a streamed body. False: wait for `onDrain`. */
  write(chunk: Uint8Array | string): boolean
  end(trailers?: string[]): void
  resume(): void
  /**
   * The caller abandons the call. The callee sees `close`, as on a broken connection. The handler
   * gets `onError`.
   */
  abort(error?: Error): void
}

/** Marks connections that carry one call only. No second request can be on its way on them. */
export const dedicatedConnection = Symbol('busbar.dedicatedConnection')

/**
 * Set on a socket whose caller chooses an instance for each request, and uses the socket for those
 * that this one gets: a gateway.
 */
export const chosenPerRequest = Symbol('busbar.chosenPerRequest')

/** A property of a connection of a client of ours: true while a request of it is under way. */
export const isUnderWay = Symbol('busbar.isUnderWay')

/**
 * A method of connections in memory: the client closes its end, unless it has sent bytes that have
 * not arrived. A server that closes an idle connection would lose such a request.
 */
export const closeIfIdle = Symbol('busbar.closeIfIdle')

/** A property of these connections. While it is true, `destroy()` does the same. */
export const closesIfIdle = Symbol('busbar.closesIfIdle')

/**
 * A method of connections that are not the system's: what their client does from now on, they tell
 * the program in the current async context. It replaces an `emit` that enters the context at each
 * event.
 */
export const entersContext = Symbol('busbar.entersContext')

/** The program closed the connection before its response was complete. */
export function closedByProgram(service: string, request: ExchangeRequest): Error {
  return socketError('other side closed', hangup('closed', service, request))
}

/** The program reset the connection before its response was complete. The error is the system's. */
export function resetByProgram(service: string, request: ExchangeRequest): Error {
  const cause = hangup('reset', service, request)
  return Object.assign(new Error('read ECONNRESET', { cause }), { code: 'ECONNRESET' })
}

/** Also for 101: the request has not asked for an upgrade. */
export function noFinalStatus(service: string, { method, path }: ExchangeRequest): BusbarError {
  return new BusbarError('ANSWER_MALFORMED', {
    message: `service '${service}' ended its answer to ${method} ${path} with a status below 200, which is never the last`,
    service,
  })
}

/** True for an error of {@link resetByProgram}, also after a link. */
export function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET'
}

function hangup(how: 'closed' | 'reset', service: string, { method, path }: ExchangeRequest): BusbarError {
  const message = `service '${service}' ${how} the connection before its answer to ${method} ${path} was complete`
  return new BusbarError('SERVICE_HANGUP', { message, service })
}

/** An error as undici makes it: programs know how to handle those. */
function socketError(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'SocketError', code: 'UND_ERR_SOCKET' })
}
