import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { BusbarError } from '../../contract/errors.ts'
import { refusal, type HttpEdge } from '../../contract/http/edge.ts'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** What becomes of a body: one of both, once. */
export interface TextReader {
  readonly done: (text: string) => void
  readonly failed: (error: BusbarError) => void
}

/**
 * Reads a request's body as text, of a limited size. Fails with BODY_TOO_LARGE, or with REQUEST_MALFORMED where it is no
 * UTF-8: JSON is (RFC 8259, 8.1), and replaced characters would be what nobody sent.
 */
export function readText(
  req: IncomingMessage,
  edge: Pick<HttpEdge, 'maxInputSize' | 'tooLarge'>,
  reader: TextReader,
): void {
  const chunks: Buffer[] = []
  let left = edge.maxInputSize
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    if ((left -= chunk.length) >= 0) return
    req.off('data', onData)
    chunks.length = 0
    reader.failed(edge.tooLarge())
  }
  req.on('data', onData)
  req.on('end', () => {
    if (left < 0) return
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    if (isUtf8(bytes)) reader.done(bytes.toString('utf8'))
    else reader.failed(refusal('REQUEST_MALFORMED', 'the input is no UTF-8', 'gateway'))
  })
  // It follows every request: an error, with its stack, is only made where there was no end.
  req.on('close', () => {
    if (left >= 0 && !req.readableEnded)
      reader.failed(refusal('CALL_ABORTED', 'the client ended before its input', 'gateway'))
  })
}
