import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../problem.ts'

/** Answers in the program's place, and closes the connection. */
export function answerProblem(
  { status, statusText, headers, body }: Problem,
  request: IncomingMessage,
  socket: Socket,
): void {
  const fields = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${status} ${statusText}`, ...fields].join('\r\n')
  // Not an upgrade any more, and its body is nobody's.
  const message = request as IncomingMessage & { upgrade: boolean }
  message.upgrade = false
  message.resume()
  socket.write(`${head}\r\n\r\n${request.method === 'HEAD' ? '' : body}`)
  socket.destroySoon()
}
