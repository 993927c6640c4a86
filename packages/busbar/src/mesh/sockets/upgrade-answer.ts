import type { Duplex } from 'node:stream'
import { noStatus } from '../../shared/metrics/edge-table.ts'

/** The status of an upgrade whose first bytes are no head of HTTP/1. */
const upgraded = 101

const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)\b/

/**
 * Calls `answered` once: with the status of the head that a program writes to the socket of an
 * upgrade, or with {@link noStatus} if the socket closes before anything is written. Node gives the
 * program no response object for an upgrade, so what it writes tells whether it accepts.
 */
export function onUpgradeAnswer(socket: Duplex, answered: (status: number) => void): void {
  let isAnswered = false
  const answer = (status: number): void => {
    if (isAnswered) return
    isAnswered = true
    stops.forEach((stop) => stop())
    answered(status)
  }
  const close = (): void => answer(noStatus)
  const stops = [
    replace(socket, 'write', (chunk) => answer(statusOf(chunk))),
    // Without a chunk, nothing is written.
    replace(socket, 'end', (chunk) => hasBytes(chunk) && answer(statusOf(chunk))),
    () => void socket.off('close', close),
  ]
  socket.once('close', close)
}

/**
 * Calls `seen` with the first argument before each call of a method. Returns what restores it,
 * unless somebody else has replaced it since.
 */
function replace(socket: Duplex, method: 'write' | 'end', seen: (chunk: unknown) => void): () => void {
  const own = Object.getOwnPropertyDescriptor(socket, method)
  const original = socket[method]
  const value = function (this: Duplex, ...args: unknown[]): unknown {
    seen(args[0])
    return Reflect.apply(original, this, args)
  }
  Object.defineProperty(socket, method, { value, configurable: true, writable: true })
  return () => {
    if (Object.getOwnPropertyDescriptor(socket, method)?.value !== value) return
    if (own === undefined) Reflect.deleteProperty(socket, method)
    else Object.defineProperty(socket, method, own)
  }
}

function hasBytes(chunk: unknown): boolean {
  return typeof chunk === 'string' || ArrayBuffer.isView(chunk)
}

function statusOf(chunk: unknown): number {
  const text = ArrayBuffer.isView(chunk)
    ? Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.byteLength, 12)).toString('latin1')
    : String(chunk)
  const status = statusLine.exec(text)?.[1]
  return status === undefined ? upgraded : Number(status)
}
