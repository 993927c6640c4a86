import type { ServerResponse } from 'node:http'
import {
  decideHead,
  isHeadOut,
  putHeadOut,
  replaceSend,
  replaceSteps,
  restoreSteps,
  type Send,
  storeHeader,
  type StoreHeader,
  writeRaw,
} from '../../../node/response.ts'
import { ChunkFraming } from './chunk-framing.ts'
import { catchHead } from './response-head.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/** Takes the response's head as fields, and what is sent as its body. */
export function captureResponse(response: ServerResponse): void {
  replaceSteps(response, layOutHead, send)
}

const layOutHead: StoreHeader = function (firstLine, headers) {
  const socket = this.socket as VirtualSocket | null
  const head = socket?.exchange ? catchHead(this, headers) : undefined
  if (head === undefined) {
    restoreSteps(this)
    return storeHeader(this, firstLine, headers)
  }
  socket!.headCaught(head)
  if (head.framing === 'chunked') {
    this.chunkedEncoding = true
    const framing = new ChunkFraming(socket!)
    replaceSend(this, function (data, encoding, callback) {
      announceEnd(this)
      return framing.send(this, data, encoding as BufferEncoding | null | undefined, callback)
    })
  }
  decideHead(this, firstLine)
}

const send: Send = function (data, encoding, callback, byteLength) {
  if (!isHeadOut(this) && typeof callback === 'function' && sendWhole(this, data, encoding)) {
    putHeadOut(this)
    process.nextTick(callback, null)
    return true
  }
  announceEnd(this)
  return writeRaw(this, data, encoding, callback, byteLength)
}

/** A whole response in one piece, with nothing before it: no need to pass it through the socket's write queue. */
function sendWhole(response: ServerResponse, data: string | Uint8Array, encoding: unknown): boolean {
  const socket = response.socket as VirtualSocket | null
  return socket !== null && socket.response === response && socket.takeWhole(data, encoding)
}

/** `end` emits it once all was written. */
function announceEnd(response: ServerResponse): void {
  if (isHeadOut(response)) return
  putHeadOut(response)
  response.once('prefinish', ended)
}

function ended(this: ServerResponse): void {
  ;(this.socket as VirtualSocket | null)?.responseEnded?.()
}
