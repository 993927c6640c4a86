import http from 'node:http'
import https from 'node:https'
import { connect } from 'node:net'
import { trustOnly, type LoadRequest } from '../engine/job.ts'
import type { Answer } from './parity.ts'
import { placeOf, type RequestTarget } from './request-target.ts'
import { sendOverHttp2 } from './send-http2.ts'

/**
 * Sends one request on a connection of its own. Rejects if nothing comes for 5 s, and if an answer
 * does not end, as that of an event stream.
 */
export function sendRequest(target: RequestTarget, request: LoadRequest, limits = usualLimits): Promise<Answer> {
  return target.protocol === 'http2'
    ? sendOverHttp2(target, request, timeoutMs)
    : sendOverHttp1(target, request, limits)
}

function sendOverHttp1(
  { address = '', unix, certificate, serverName = 'localhost' }: RequestTarget,
  { method = 'GET', path, headers = [], body }: LoadRequest,
  { endMs, maxBytes }: typeof usualLimits,
): Promise<Answer> {
  const where = unix === undefined ? placeOf(address) : { socketPath: unix }
  const trust = certificate === undefined ? {} : trustOnly(certificate, serverName)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = (certificate === undefined ? http : https).request(
    { ...where, ...trust, method, path, headers: headersOf({ headers, body }), agent: false, timeout: timeoutMs },
    (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > maxBytes) giveUp(`an answer of more than ${maxBytes / 1e6} MB`)
      })
      response.on('error', reject)
      response.on('end', () => {
        const found = Object.entries(response.headersDistinct).map(([name, values]) => [name, values!.join(', ')])
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks),
          headers: Object.fromEntries(found) as Answer['headers'],
        })
      })
    },
  )
  const giveUp = (why: string): void => {
    // First, since an answer that has begun would fail with another reason.
    reject(new Error(why))
    request.destroy()
  }
  const timer = setTimeout(() => giveUp(`no end of the answer within ${endMs / 1000} s`), endMs)
  request.on('timeout', () => giveUp(`no answer within ${timeoutMs / 1000} s`))
  request.on('error', reject)
  request.end(body)
  return promise.finally(() => clearTimeout(timer))
}

/** Names the length of every body, as the load engine does: Node does not for GET. */
function headersOf({ headers = [], body }: Pick<LoadRequest, 'headers' | 'body'>): Record<string, string> {
  const hasOwn = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const own = Object.fromEntries(headers)
  return body === undefined || hasOwn ? own : { 'content-length': `${Buffer.byteLength(body)}`, ...own }
}

/** Milliseconds without a byte. */
const timeoutMs = 5000
/** Milliseconds for all of an answer, and bytes of its body. */
const usualLimits = { endMs: 10_000, maxBytes: 100_000_000 }

/** Rejects if nothing accepts a connection at this port of the loopback interface. */
export async function isListening(port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ port, host: '127.0.0.1', timeout: timeoutMs })
  socket.once('connect', () => resolve())
  socket.once('timeout', () => reject(new Error(`port ${port} does not answer`)))
  socket.once('error', () => reject(new Error(`nothing listens at 127.0.0.1:${port}`)))
  await promise.finally(() => socket.destroy())
}
