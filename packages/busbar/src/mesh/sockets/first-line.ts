import type { Socket } from 'node:net'

/**
 * Reads up to the first newline and leaves the rest in the socket. Undefined where none comes within `limit` bytes and
 * `timeout` milliseconds.
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
  const timer = setTimeout(none, timeout)
  socket.on('readable', onReadable).once('end', none).once('close', none)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.off('readable', onReadable).off('end', none).off('close', none)
  }
}
