import { constants } from 'node:os'
import { Socket } from 'node:net'
import { type AskedRefusal, type Preamble, writePreamble } from '../mesh/relay/preamble.ts'

/** `net.Socket.prototype.connect`. */
export type Connect = (this: Socket, ...args: unknown[]) => Socket

/** Asks the app whether it would take a connection; `answer` gets the error that the client is to see, or null. */
export function ask(
  connect: Connect,
  port: number,
  preamble: Preamble,
  answer: (refusal: NodeJS.ErrnoException | null) => void,
): void {
  const socket = new Socket()
  let text = ''
  const refuse = (refusal: AskedRefusal): void => answer(toError(refusal, preamble))
  socket.setEncoding('utf8')
  socket.on('data', (more: string) => (text += more))
  socket.on('end', () => {
    const refusal = parse(text)
    if (refusal === null) answer(null)
    else refuse(refusal ?? unreachable(preamble, 'the app is stopping'))
  })
  socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    const why = code === 'ECONNREFUSED' ? 'the app that this program belongs to does not run any more' : code
    refuse(unreachable(preamble, why))
  })
  connect.call(socket, { host: '127.0.0.1', port })
  socket.write(writePreamble(preamble))
}

/** Undefined where the app closed the connection without an answer. */
function parse(text: string): AskedRefusal | null | undefined {
  try {
    return JSON.parse(text) as AskedRefusal | null
  } catch {
    return undefined
  }
}

function unreachable({ service, port }: Preamble, why: string): AskedRefusal {
  return { code: 'ECONNREFUSED', message: `connect ECONNREFUSED ${service}.internal:${port} (${why})` }
}

function toError({ message, code }: AskedRefusal, { service, port }: Preamble): NodeJS.ErrnoException {
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
