import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { trustOnly, type LoadRequest } from '../../engine/job.ts'
import type { Answer } from '../parity.ts'
import { placeOf, type RequestTarget } from './request-target.ts'

/**
 * Sends one request on a connection of its own: in clear with prior knowledge, over TLS by ALPN.
 * Calls of gRPC are read as by the load engine (`crates/load/src/grpc.rs`).
 */
export async function sendOverHttp2(target: RequestTarget, request: LoadRequest, timeoutMs: number): Promise<Answer> {
  const scheme = target.certificate === undefined ? 'http' : 'https'
  const authority = request.headers?.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? target.address
  const socket = connect(target)
  const session = connectHttp2(`${scheme}://${authority ?? 'localhost'}`, { createConnection: () => socket })
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  session.on('error', reject)
  session.on('close', () => reject(new Error('the connection was closed without an answer')))
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  send(session, request, resolve, reject)
  return await promise.finally(() => {
    clearTimeout(timer)
    session.destroy()
    socket.destroy()
  })
}

function connect({ address = '', unix, certificate, serverName = 'localhost' }: RequestTarget): Socket {
  const where = unix === undefined ? placeOf(address) : { path: unix }
  if (certificate === undefined) return connectTcp(where)
  return connectTls({ ...where, ...trustOnly(certificate, serverName), ALPNProtocols: ['h2'] })
}

function send(
  session: ClientHttp2Session,
  { method = 'GET', path, headers = [], body, message }: LoadRequest,
  resolve: (answer: Answer) => void,
  reject: (error: Error) => void,
): void {
  const own = headers.map(([name, value]) => [name.toLowerCase(), value] as const).filter(([name]) => name !== 'host')
  const call = message === undefined ? {} : { te: 'trailers', 'content-type': 'application/grpc' }
  const stream = session.request({
    ':method': message === undefined ? method : 'POST',
    ':path': path,
    ...Object.fromEntries(own),
    ...call,
  })
  const chunks: Buffer[] = []
  let head: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (found) => (head = found))
  stream.on('trailers', (found) => (trailers = found))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', reject)
  stream.on('end', () => {
    const answer = toAnswer(head, trailers, Buffer.concat(chunks))
    try {
      resolve(message === undefined ? answer : readCall(answer))
    } catch (error) {
      reject(error as Error)
    }
  })
  stream.end(message === undefined ? body : toFrame(Buffer.from(message, 'base64')))
}

function toAnswer(head: IncomingHttpHeaders, trailers: IncomingHttpHeaders, body: Buffer): Answer {
  const { ':status': status, ...rest } = head
  const fields = Object.entries({ ...rest, ...trailers })
  const headers = fields.map(([name, value]) => [name, [value].flat().join(', ')])
  return { status: Number(status), body, headers: Object.fromEntries(headers) as Answer['headers'] }
}

/** Whether the message is compressed (one byte), and its length. */
const prefix = 5

function toFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(prefix)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/**
 * An answer with the status of the call, and its message as the body. One that is not gRPC is
 * returned as it is. Throws if the call ends without a status or has not exactly one message.
 */
function readCall(answer: Answer): Answer {
  const { status, body, headers } = answer
  if (status !== 200 || headers['content-type']?.startsWith('application/grpc') !== true) return answer
  const code = headers['grpc-status']
  if (code === undefined || !/^\d{1,2}$/.test(code)) throw new Error('the call ended without a valid grpc-status')
  if (code !== '0') return { ...answer, status: Number(code), body: Buffer.from(headers['grpc-message'] ?? '') }
  if (body.length < prefix || body[0] !== 0 || body.readUInt32BE(1) !== body.length - prefix)
    throw new Error('a successful call has not exactly one message that is not compressed')
  return { ...answer, status: 0, body: body.subarray(prefix) }
}
