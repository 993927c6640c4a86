import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { refusal, type HttpEdge } from '../../contract/http/edge.ts'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * A request's body as text, of a limited size. Rejects with BODY_TOO_LARGE, or with REQUEST_MALFORMED where it is no
 * UTF-8: JSON is (RFC 8259, 8.1), and replaced characters would be what nobody sent.
 */
export function readText(req: IncomingMessage, edge: Pick<HttpEdge, 'maxInputSize' | 'tooLarge'>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let left = edge.maxInputSize
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    if ((left -= chunk.length) >= 0) return
    req.off('data', onData)
    chunks.length = 0
    reject(edge.tooLarge())
  }
  req.on('data', onData)
  req.once('end', () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    if (isUtf8(bytes)) resolve(bytes.toString('utf8'))
    else reject(refusal('REQUEST_MALFORMED', 'the input is no UTF-8', 'gateway'))
  })
  // It follows every request: an error, with its stack, is only made where there was no end.
  req.once('close', () => {
    if (!req.readableEnded) reject(refusal('CALL_ABORTED', 'the client ended before its input', 'gateway'))
  })
  return promise
}
