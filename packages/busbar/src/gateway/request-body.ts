import type { IncomingMessage } from 'node:http'

/** True if the request's head announces a body, even an empty one. */
export function announcesBody(req: IncomingMessage): boolean {
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}

/** Checks `content-length`, before anything is read. */
export function isTooLarge(req: IncomingMessage, maxBodySize: number): boolean {
  const length = req.headers['content-length']
  return length !== undefined && Number(length) > maxBodySize
}

/**
 * Limits a body of unknown length as the parser delivers it. Bodies with a length are not touched.
 */
export function limitUnknownLength(req: IncomingMessage, maxBodySize: number, onExceeded: () => void): void {
  if (req.headers['transfer-encoding'] === undefined) return
  const push = req.push.bind(req)
  let left = maxBodySize
  req.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null && (left -= chunk.length) < 0) {
      onExceeded()
      return true
    }
    return push(chunk, encoding)
  }
}
