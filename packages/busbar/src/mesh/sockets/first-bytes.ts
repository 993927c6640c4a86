/** Reads the beginning of a connection and leaves the rest in the socket. */
import type { Socket } from 'node:net'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'

/**
 * Reads the first line. Undefined if no newline arrives within `limit` bytes and `timeout`
 * milliseconds.
 */
export async function readFirstLine(socket: Socket, limit: number, timeout: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  let read = Buffer.alloc(0)
  const onReadable = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      read = Buffer.concat([read, chunk])
      const end = read.indexOf('\n')
      if (end < 0 && read.length <= limit) continue
      if (end < 0 || end > limit) return resolve(undefined)
      socket.off('readable', onReadable)
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1))
      return resolve(read.toString('latin1', 0, end))
    }
  }
  const none = (): void => resolve(undefined)
  const clear = startRunningTimeout(timeout, none)
  socket.on('readable', onReadable).once('end', none).once('close', none)
  try {
    return await promise
  } finally {
    clear()
    socket.off('readable', onReadable).off('end', none).off('close', none)
  }
}

/** The start of an HTTP/2 connection (RFC 9113, 3.4). No HTTP/1 method has this name. */
const http2Preface = Buffer.from('PRI')

/**
 * Waits for the client's first bytes and puts them back. True if they start an HTTP/2 connection;
 * `mayBeHttp2`: false to only wait for the first byte.
 *
 * A program sees a connection once its client speaks. One that was opened in advance would keep a
 * server from closing that waits for its connections to become idle.
 */
export async function startsHttp2(socket: Socket, mayBeHttp2: boolean): Promise<boolean> {
  const count = mayBeHttp2 ? http2Preface.length : 1
  const { promise, resolve } = Promise.withResolvers<void>()
  let seen = Buffer.alloc(0)
  const onReadable = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
      seen = Buffer.concat([seen, chunk])
    if (seen.length >= count || (seen.length > 0 && !http2Preface.subarray(0, seen.length).equals(seen))) resolve()
  }
  const over = (): void => resolve()
  socket.on('readable', onReadable).once('end', over).once('close', over)
  if (socket.destroyed) resolve()
  onReadable()
  await promise
  socket.off('readable', onReadable).off('end', over).off('close', over)
  if (seen.length > 0 && !socket.destroyed) socket.unshift(seen)
  await settled()
  return seen.subarray(0, count).equals(http2Preface)
}

/**
 * Resolves when the ticks are over in which the stream handles `off('readable')` and `unshift()`.
 * To a server that gets the socket earlier, they emit `'resume'` after its `pause()`. Node's HTTP
 * server then reads and keeps the whole body of a request that its program does not read.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
