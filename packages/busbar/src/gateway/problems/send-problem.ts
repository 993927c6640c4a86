import type { IncomingMessage, ServerResponse } from 'node:http'
import { linger } from './linger.ts'
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
  linger(req, res)
}

function bodyIsLeft(req: IncomingMessage): boolean {
  if (req.headers['transfer-encoding'] !== undefined) return !req.complete
  const length = req.headers['content-length']
  return length !== undefined && Number(length) > drainedBytes
}
