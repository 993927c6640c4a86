import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { readStream, settle, type BodyLimits, type TextReader } from './body-stream.ts'
import { textOf } from './parsed-body.ts'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads a request's body as text, of a limited size; a stated length is within it already. Fails with BODY_TOO_LARGE, or
 * with REQUEST_MALFORMED where it is no UTF-8.
 */
export function readText(req: IncomingMessage, limits: BodyLimits, reader: TextReader): void {
  if (isFedByParser(req)) takeFromParser(req, reader)
  else readStream(req, limits, reader)
}

/** Of a request that has none: Node would let a stream flow to its end for it, once it is answered. */
export function leaveBody(req: IncomingMessage): void {
  if (isFedByParser(req)) endOf(req)
}

/** Of Node's HTTP server (24.21), as its own fast way for requests without a body relies on it (`_dumpAndCloseReadable`). */
interface ParsedRequest extends IncomingMessage {
  readonly socket: Socket & { readonly parser?: { readonly incoming: IncomingMessage | null } | null }
  readonly _readableState: { ended: boolean; endEmitted: boolean }
  _consuming: boolean
  [taken]?: Taken
}

/** On a request whose body is taken from the parser: what has come of it, and for whom. */
const taken = Symbol('taken')

interface Taken {
  readonly chunks: Buffer[]
  readonly reader: TextReader
}

/** Whether it is had without its stream, as its last byte comes. */
export function canTakeText(req: IncomingMessage): boolean {
  return isFedByParser(req)
}

/** Nothing of it has arrived, Node's parser will bring it all by `push`, and nobody else has laid hands on that. */
function isFedByParser(req: IncomingMessage): req is ParsedRequest {
  const { parser } = (req as ParsedRequest).socket
  return (
    parser?.incoming === req &&
    !req.complete &&
    req.readableLength === 0 &&
    req.readableFlowing === null &&
    req.headers['transfer-encoding'] === undefined &&
    req.headers['content-encoding'] === undefined &&
    !Object.hasOwn(req, 'push')
  )
}

/**
 * Takes the pieces from the parser's hand. The stream between would pass them on by two ticks and three events, which is a
 * tenth of what a small request costs; it is left as one that has been read to its end.
 */
function takeFromParser(req: ParsedRequest, reader: TextReader): void {
  req._consuming = true
  req[taken] = { chunks: [], reader }
  req.push = take
}

/**
 * One function for all requests. With a closure for each as its `push`, V8 kept every request until a full collection (Node
 * 24.21; 90 MB in two seconds instead of 3).
 */
function take(this: ParsedRequest, chunk: Buffer | null): boolean {
  const { chunks, reader } = this[taken]!
  if (chunk !== null) {
    chunks.push(chunk)
    return true
  }
  endOf(this)
  settle(() => textOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)), reader)
  return false
}

/** As if it had been read: then the parser lets go of it, and nothing is left to do when its answer is out. */
function endOf(req: ParsedRequest): void {
  req._consuming = true
  req._readableState.ended = true
  req._readableState.endEmitted = true
}
