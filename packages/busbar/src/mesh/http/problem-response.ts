import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type BusbarError, type ErrorCode, errorTable } from '../../contract/errors.ts'

/** An HTTP answer by the mesh instead of the service (RFC 9457, ProblemResponse Details). */
export interface ProblemResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function problemOf(
  code: ErrorCode,
  detail: string,
  service: string,
  more: ProblemResponse['headers'] = {},
): ProblemResponse {
  const { status } = errorTable[code]
  const statusText = STATUS_CODES[status]!
  const body = JSON.stringify({ type: 'about:blank', title: statusText, status, detail, code, service })
  const length = String(Buffer.byteLength(body))
  const headers = { 'content-type': 'application/problem+json', 'content-length': length, ...more }
  return { status, statusText, headers, body }
}

/** For a call that its service has no room for. `Retry-After` says when to try again. */
export function exhaustedProblem({ message, data }: BusbarError, service: string): ProblemResponse {
  const { retryAfter } = (data ?? {}) as { retryAfter?: unknown }
  const seconds = typeof retryAfter === 'number' ? retryAfter : 1
  return problemOf('RESOURCE_EXHAUSTED', message, service, { 'retry-after': String(seconds) })
}

/** For a call that would make its chain of calls too long. */
export function hopLimitProblem(service: string, maxHops: number): ProblemResponse {
  return problemOf('HOP_LIMIT', hopLimitMessage(service, maxHops), service)
}

export function hopLimitMessage(service: string, maxHops: number): string {
  return `the call to service '${service}' is number ${maxHops + 1} of a chain in which each caused the next; ${maxHops} are allowed`
}

/** Answers an upgrade or CONNECT, which have no response object, and closes the connection. */
export function sendProblem(problem: ProblemResponse, request: IncomingMessage, socket: Socket): void {
  // No longer an upgrade. Its body is discarded.
  const message = request as IncomingMessage & { upgrade: boolean }
  message.upgrade = false
  message.resume()
  endConnection(socket, textOf(problem, request.method))
}

/**
 * Answers a connection that reaches no service in HTTP, whatever its protocol is. A client of
 * another protocol reports an invalid answer.
 */
export function refuseConnection(client: Socket, service: string, message: string): void {
  endConnection(client, textOf(problemOf('SERVICE_UNAVAILABLE', message, service, { 'retry-after': '1' })))
}

/** Milliseconds that a client has to read why it was refused. */
const lingerTimeout = 1_000

/**
 * Sends the last bytes of a connection. It closes when the client has closed its half: closing with
 * unread bytes resets it, and the client may lose the response (RFC 9112, 9.6).
 */
export function endConnection(socket: Socket, text: string): void {
  socket.on('error', () => socket.destroy())
  socket.end(text)
  socket.resume().once('end', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), lingerTimeout)
  socket.once('close', () => clearTimeout(timer))
}

function textOf({ status, statusText, headers, body }: ProblemResponse, method?: string): string {
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close' }
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${statusText}\r\n${fields.join('')}\r\n${method === 'HEAD' ? '' : body}`
}
