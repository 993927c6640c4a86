import { constants } from 'node:os'
import { Socket } from 'node:net'
import { type ForwardRefusal, type ForwardRequest, writeForwardRequest } from '../shared/calls/forward-request.ts'

/** `net.Socket.prototype.connect`. */
export type Connect = (this: Socket, ...args: unknown[]) => Socket

/**
 * Asks the app whether it would accept a connection. `callback` gets the error for the client, or
 * null.
 */
export function checkConnection(
  connect: Connect,
  port: number,
  request: ForwardRequest,
  callback: (refusal: NodeJS.ErrnoException | null) => void,
): void {
  const socket = new Socket()
  let text = ''
  const refuse = (refusal: ForwardRefusal): void => callback(toError(refusal, request))
  socket.setEncoding('utf8')
  socket.on('data', (more: string) => (text += more))
  socket.on('end', () => {
    const refusal = parse(text)
    if (refusal === null) callback(null)
    else refuse(refusal ?? unreachable(request, 'the app is stopping'))
  })
  socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    const why = code === 'ECONNREFUSED' ? 'the app of this program is not running' : code
    refuse(unreachable(request, why))
  })
  connect.call(socket, { host: '127.0.0.1', port })
  socket.write(writeForwardRequest(request))
}

/** Returns undefined if the app closed the connection without an answer. */
function parse(text: string): ForwardRefusal | null | undefined {
  try {
    return JSON.parse(text) as ForwardRefusal | null
  } catch {
    return undefined
  }
}

function unreachable({ service, port }: ForwardRequest, why: string): ForwardRefusal {
  return { code: 'ECONNREFUSED', message: `connect ECONNREFUSED ${service}.internal:${port} (${why})` }
}

function toError({ message, code }: ForwardRefusal, { service, port }: ForwardRequest): NodeJS.ErrnoException {
  const errno = -(constants.errno as Readonly<Record<string, number>>)[code]!
  return Object.assign(new Error(message), {
    code,
    errno,
    syscall: 'connect',
    address: `${service}.internal`,
    port,
    service,
  })
}
