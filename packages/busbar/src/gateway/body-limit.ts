import type { IncomingMessage } from 'node:http'

/** Judged by `content-length`, before anything is read. */
export function isTooLarge(req: IncomingMessage, maxBodySize: number): boolean {
  const length = req.headers['content-length']
  return length !== undefined && Number(length) > maxBodySize
}

/** Counts a body of unknown length as the parser delivers it. Bodies that state their length are not touched. */
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
