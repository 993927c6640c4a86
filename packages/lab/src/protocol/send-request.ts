import http from 'node:http'
import https from 'node:https'
import { connect } from 'node:net'
import { trustOnly, type LoadRequest } from '../engine/job.ts'
import type { Answer } from './parity.ts'
import { placeOf, type RequestTarget } from './request-target.ts'
import { sendOverHttp2 } from './send-http2.ts'

/** Sends one request on a connection of its own. Rejects if there is no answer within 5 s. */
export function sendRequest(target: RequestTarget, request: LoadRequest): Promise<Answer> {
  return target.protocol === 'http2' ? sendOverHttp2(target, request, timeoutMs) : sendOverHttp1(target, request)
}

function sendOverHttp1(
  { address = '', unix, certificate, serverName = 'localhost' }: RequestTarget,
  { method = 'GET', path, headers = [], body }: LoadRequest,
): Promise<Answer> {
  const where = unix === undefined ? placeOf(address) : { socketPath: unix }
  const trust = certificate === undefined ? {} : trustOnly(certificate, serverName)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = (certificate === undefined ? http : https).request(
    { ...where, ...trust, method, path, headers: headersOf({ headers, body }), agent: false, timeout: timeoutMs },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
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
  request.on('timeout', () => request.destroy(new Error('no answer within 5 s')))
  request.on('error', reject)
  request.end(body)
  return promise
}

/** Names the length of every body, as the load engine does: Node does not for GET. */
function headersOf({ headers = [], body }: Pick<LoadRequest, 'headers' | 'body'>): Record<string, string> {
  const hasOwn = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const own = Object.fromEntries(headers)
  return body === undefined || hasOwn ? own : { 'content-length': `${Buffer.byteLength(body)}`, ...own }
}

const timeoutMs = 5000

/** Rejects if nothing accepts a connection at this port of the loopback interface. */
export async function isListening(port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ port, host: '127.0.0.1', timeout: timeoutMs })
  socket.once('connect', () => resolve())
  socket.once('timeout', () => reject(new Error(`port ${port} does not answer`)))
  socket.once('error', () => reject(new Error(`nothing listens on port ${port}`)))
  await promise.finally(() => socket.destroy())
}
