import type { ServerResponse } from 'node:http'
import {
  decideHead,
  isHeadOut,
  putHeadOut,
  replaceSend,
  replaceLowLevelMethods,
  restoreLowLevelMethods,
  type Send,
  sendsByOriginalMethods,
  storeHeader,
  type StoreHeader,
  writeRaw,
} from '../../../node/response.ts'
import { ChunkFraming, type TrailerReceiver } from './chunk-framing.ts'
import { type CapturedHead, captureHead } from './response-head.ts'

/** The socket of a captured response. */
export interface CapturingSocket extends TrailerReceiver {
  /** The call that the socket carries; null between two calls. */
  readonly exchange: object | null
  readonly response: ServerResponse | null
  headCaptured(head: CapturedHead): void
  /** Returns false if the data is not the complete response, or cannot be sent at once. */
  sendWhole(data: string | Uint8Array, encoding: unknown): boolean
  responseEnded(): void
}

/**
 * Captures the head of a response as fields, and what is sent after it as the body. If the program
 * has replaced methods that send, the response stays text.
 */
export function captureResponse(response: ServerResponse): void {
  if (sendsByOriginalMethods(response)) replaceLowLevelMethods(response, buildHead, send)
}

const buildHead: StoreHeader = function (firstLine, headers) {
  const socket = socketOf(this)
  const head = socket?.exchange ? captureHead(this, headers) : undefined
  if (head === undefined) {
    restoreLowLevelMethods(this)
    return storeHeader(this, firstLine, headers)
  }
  socket!.headCaptured(head)
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

/** Sends a complete response in one piece, past the socket's write queue, if nothing is queued. */
function sendWhole(response: ServerResponse, data: string | Uint8Array, encoding: unknown): boolean {
  const socket = socketOf(response)
  return socket !== null && socket.response === response && socket.sendWhole(data, encoding)
}

/** `end` emits `prefinish` once everything was written. */
function announceEnd(response: ServerResponse): void {
  if (isHeadOut(response)) return
  putHeadOut(response)
  response.once('prefinish', ended)
}

function ended(this: ServerResponse): void {
  socketOf(this)?.responseEnded?.()
}

function socketOf({ socket }: ServerResponse): CapturingSocket | null {
  return socket as unknown as CapturingSocket | null
}
