import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Redactor } from '../../../observe/redactor.ts'
import { BusbarError } from '../../../contract/errors.ts'

type Headers = Readonly<Record<string, string | number>>

export function sendText(res: ServerResponse, status: number, type: string, body: string, headers: Headers = {}): void {
  if (res.destroyed) return
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  })
  res.end(body)
}

export function sendJson(res: ServerResponse, status: number, value: unknown): void {
  sendText(res, status, 'application/json', JSON.stringify(value))
}

/** Ends with the source, or when the client disconnects. */
export async function sendStream(
  res: ServerResponse,
  type: string,
  source: Readable | AsyncIterable<string>,
): Promise<void> {
  res.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' })
  // A client that follows must know at once that it is connected.
  res.flushHeaders()
  // The client has disconnected, or the source failed after the head was sent: only the end of the
  // connection can show that.
  await pipeline(source, res).catch(() => res.destroy())
}

/**
 * RFC 9457. The hint helps the people who run the app, to whom alone the API answers. `secrets`: a
 * program may have thrown them.
 */
export function sendProblem(
  res: ServerResponse,
  thrown: unknown,
  headers: Headers = {},
  secrets: readonly string[] = [],
): void {
  // A method's own error has a code that is not in the table.
  const error: BusbarError<string> = thrown instanceof BusbarError ? thrown : BusbarError.from(thrown)
  const { code, status, message, hint, service, data } = error
  const problem = { type: 'about:blank', status, code, detail: message, hint, service, data }
  const extra = { ...problemHeaders(code, data), ...headers }
  if (res.headersSent) return void res.destroy()
  const text = JSON.stringify(new Redactor({ secrets, fields: [] }).fields(problem))
  sendText(res, status, 'application/problem+json', text, extra)
}

function problemHeaders(code: string, data: unknown): Headers {
  if (code === 'UNAUTHENTICATED') return { 'www-authenticate': 'Bearer' }
  if (code === 'METHOD_NOT_ALLOWED') return { allow: (data as { allow: readonly string[] }).allow.join(', ') }
  return code === 'SERVICE_UNAVAILABLE' ? { 'retry-after': '1' } : {}
}
