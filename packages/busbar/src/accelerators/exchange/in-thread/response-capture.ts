import { ChunkFraming } from './chunk-framing.ts'
import type { ResponseInternals, Send, StoreHeader } from '../../../node/parser.ts'
import { catchHead } from './response-head.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/**
 * Puts own functions in place of the two lowest methods of a `ServerResponse`: a program may give the response another
 * prototype (Express does), but nobody overrides these. All above them, from `writeHead` to `pipe`, is Node's own code.
 */
export function captureResponse(response: ResponseInternals): void {
  response._storeHeader = storeHeader
  response._send = send
}

const storeHeader: StoreHeader = function (firstLine, headers) {
  const socket = this.socket as VirtualSocket | null
  const head = socket?.exchange ? catchHead(this, headers) : undefined
  if (head === undefined) return writeAsText(this, firstLine, headers)
  socket!.headCaught(head)
  if (head.framing === 'chunked') {
    this.chunkedEncoding = true
    const framing = new ChunkFraming(socket!)
    this._send = function (data, encoding, callback) {
      announceEnd(this)
      return framing.send(this, data, encoding as BufferEncoding | null | undefined, callback)
    }
  }
  // Only ever asked for its presence: it says that the head is decided.
  this._header = firstLine
  this._headerSent = false
}

const send: Send = function (data, encoding, callback, byteLength) {
  if (!this._headerSent && typeof callback === 'function' && sendWhole(this, data, encoding)) {
    this._headerSent = true
    process.nextTick(callback, null)
    return true
  }
  announceEnd(this)
  return this._writeRaw(data, encoding, callback, byteLength)
}

/** A whole response in one piece, with nothing before it: no need to pass it through the socket's write queue. */
function sendWhole(response: ResponseInternals, data: string | Uint8Array, encoding: unknown): boolean {
  const socket = response.socket as VirtualSocket | null
  return socket !== null && socket._httpMessage === response && socket.takeWhole(data, encoding)
}

/** `end` emits it once all was written. */
function announceEnd(response: ResponseInternals): void {
  if (response._headerSent) return
  response._headerSent = true
  response.once('prefinish', ended)
}

function ended(this: ResponseInternals): void {
  ;(this.socket as VirtualSocket | null)?.responseEnded?.()
}

function writeAsText(response: ResponseInternals, firstLine: string, headers: unknown): void {
  delete (response as Partial<ResponseInternals>)._storeHeader
  delete (response as Partial<ResponseInternals>)._send
  response._storeHeader(firstLine, headers)
}
