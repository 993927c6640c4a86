import http from 'node:http'
import https from 'node:https'
import { trustOnly, type LoadRequest } from '../../engine/job.ts'
import type { Answer } from '../parity.ts'
import { placeOf, type RequestTarget } from './request-target.ts'
import { sendOverHttp2 } from './send-http2.ts'

export interface AnswerLimits {
  /** Milliseconds without a byte. */
  readonly silentMs: number
  /** Milliseconds for all of an answer. */
  readonly endMs: number
  /** Of its body. */
  readonly maxBytes: number
}

/**
 * Sends one request on a connection of its own. Rejects if nothing comes for 5 s, and if an answer
 * does not end, as that of an event stream.
 */
export function sendRequest(target: RequestTarget, request: LoadRequest, limits = usualLimits): Promise<Answer> {
  return target.protocol === 'http2'
    ? sendOverHttp2(target, request, limits.silentMs)
    : sendOverHttp1(target, request, limits)
}

function sendOverHttp1(
  { address = '', unix, certificate, serverName = 'localhost' }: RequestTarget,
  { method = 'GET', path, headers = [], body }: LoadRequest,
  { silentMs, endMs, maxBytes }: AnswerLimits,
): Promise<Answer> {
  const where = unix === undefined ? placeOf(address) : { socketPath: unix }
  const trust = certificate === undefined ? {} : trustOnly(certificate, serverName)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = (certificate === undefined ? http : https).request(
    { ...where, ...trust, method, path, headers: headersOf({ headers, body }), agent: false, timeout: silentMs },
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
  request.on('timeout', () => giveUp(`no answer within ${silentMs / 1000} s`))
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

const usualLimits: AnswerLimits = { silentMs: 5000, endMs: 10_000, maxBytes: 100_000_000 }

/** Those of a work whose requests may take so many milliseconds. */
export function limitsFor(timeoutMs = usualLimits.silentMs): AnswerLimits {
  const silentMs = Math.max(timeoutMs, usualLimits.silentMs)
  return { ...usualLimits, silentMs, endMs: Math.max(silentMs, usualLimits.endMs) }
}
