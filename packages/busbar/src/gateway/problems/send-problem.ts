import type { IncomingMessage, ServerResponse } from 'node:http'
import { lingerBytes, lingerTime } from '../connection.ts'
import { renderProblem, type Problem } from './problem.ts'

/** A body of up to this size is read to its end, so that the connection can be reused. */
const drainedBytes = 64 * 1024

/**
 * Responds to a request whose body may be unread. Afterwards the connection is ready for the next
 * request, or closed. `instance`: the requested path, if it is known.
 */
export function sendProblem(
  req: IncomingMessage,
  res: ServerResponse,
  problem: Problem,
  instance: string | undefined,
): void {
  const { status, headers, body } = renderProblem(problem, instance)
  const closes = bodyIsLeft(req)
  if (closes) res.shouldKeepAlive = false
  res.writeHead(status, headers)
  if (!closes) return void res.end(body)
  // The whole response is sent now. It ends, and the connection with it, when the client has
  // stopped sending.
  if (req.method === 'HEAD') res.flushHeaders()
  else res.write(body)
  linger(req, () => res.end())
}

function bodyIsLeft(req: IncomingMessage): boolean {
  if (req.headers['transfer-encoding'] !== undefined) return !req.complete
  const length = req.headers['content-length']
  return length !== undefined && Number(length) > drainedBytes
}

/**
 * Reads on for a moment. Closing with unread bytes resets the connection, and the client may lose
 * the response (RFC 9112, 9.6).
 */
function linger(req: IncomingMessage, done: () => void): void {
  let left = lingerBytes
  const timer = setTimeout(done, lingerTime)
  const finish = () => {
    clearTimeout(timer)
    done()
  }
  req.on('data', (chunk: Buffer) => {
    if ((left -= chunk.length) < 0) finish()
  })
  req.once('end', finish)
  req.once('close', finish)
}
