import type { IncomingMessage, ServerResponse } from 'node:http'
import { lingerBytes, lingerTime } from './connection.ts'
import { renderProblem, type Problem } from './problem.ts'

/** A body up to this size is read to its end, so that the connection can be used again. */
const drainedBytes = 64 * 1024

/**
 * Answers a request whose body may not have been read. Afterwards the connection is either at the next request, or closed.
 * `instance`: the path that the client asked for, where it is known.
 */
export function answerProblem(
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
  // The answer goes out whole now; the response ends, and with it the connection, when the client has stopped sending.
  if (req.method === 'HEAD') res.flushHeaders()
  else res.write(body)
  linger(req, () => res.end())
}

function bodyIsLeft(req: IncomingMessage): boolean {
  if (req.headers['transfer-encoding'] !== undefined) return !req.complete
  const length = req.headers['content-length']
  return length !== undefined && Number(length) > drainedBytes
}

/** Reads on for a moment: closing on unread bytes resets the connection and may take the answer with it (RFC 9112, 9.6). */
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
