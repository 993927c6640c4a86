import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * How long, in milliseconds, and for how many bytes a refused client may go on sending before its
 * connection is destroyed.
 */
export const lingerTime = 1000
const lingerBytes = 4 * 1024 * 1024

/** Ends the responses that wait for the rest of a body. */
const ends = new WeakMap<ServerResponse, () => void>()

/**
 * Reads on for a moment, then ends the response, all of which has been written. Closing with unread
 * bytes resets the connection, and the client may lose the response (RFC 9112, 9.6).
 */
export function linger(req: IncomingMessage, res: ServerResponse): void {
  let left = lingerBytes
  const finish = (): void => {
    clearTimeout(timer)
    res.end()
  }
  const timer = setTimeout(finish, lingerTime)
  ends.set(res, finish)
  req.on('data', (chunk: Buffer) => {
    if ((left -= chunk.length) < 0) finish()
  })
  req.once('end', finish)
  req.once('close', finish)
}

/** The rest of the body cannot be read. */
export function endLinger(res: ServerResponse): void {
  ends.get(res)?.()
}

/** Discards the rest of the body, which the program can no longer read. */
export function discardBody(req: IncomingMessage, onTooMuch: () => void): void {
  let left = lingerBytes
  req.push = (chunk: Buffer | null) => {
    if (chunk !== null && (left -= chunk.length) < 0) onTooMuch()
    return true
  }
  req.resume()
}
