import { request, STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { HttpMesh } from '../mesh/mesh.ts'
import { endToEnd } from './end-to-end.ts'
import { openConnection } from './relay.ts'
import type { Way } from './routes.ts'

/**
 * Takes an upgrade to a service that is not in this thread: a connection of the mesh for it alone, on which the two speak
 * what they like once the service has agreed. An answer of another kind goes back as it is, and ends the connection:
 * whatever the client sends behind it has not gone by the routes. `onLost`: the service hung up without an answer.
 */
export function relayUpgrade(
  mesh: HttpMesh,
  { service }: Way,
  req: IncomingMessage,
  socket: Socket,
  head: Buffer,
  onLost: () => void,
): void {
  const outgoing = request({
    createConnection: () => openConnection(mesh, service),
    setHost: false,
    method: req.method,
    path: req.url,
    // `Connection` and `Upgrade` too: they are what this is about.
    headers: req.rawHeaders,
  })
  const giveUp = (): void => void outgoing.destroy()
  socket.once('close', giveUp)
  outgoing.on('upgrade', (answer, upstream, sentBehind) => {
    socket.off('close', giveUp)
    socket.write(headText(answer, answer.rawHeaders), 'latin1')
    if (sentBehind.length > 0) socket.write(sentBehind)
    if (head.length > 0) upstream.write(head)
    tie(socket, upstream)
  })
  outgoing.on('response', (answer) => {
    const fields = endToEnd(answer.rawHeaders, 'transfer-encoding')
    socket.write(headText(answer, [...fields, 'Connection', 'close']), 'latin1')
    pipeline(answer, socket, (error) => error && socket.destroy())
  })
  outgoing.on('error', () => (socket.writable ? onLost() : socket.destroy()))
  outgoing.end()
}

function tie(one: Socket, other: Socket): void {
  lead(one, other)
  lead(other, one)
}

/** `to` gets what `from` says, and hears how it ends: by half, as a whole, or by a fault. */
function lead(from: Socket, to: Socket): void {
  from.pipe(to)
  from.once('error', () => to.resetAndDestroy())
  // Nobody is left to read what it might still say.
  from.once('close', () => (from.readableEnded ? to.destroySoon() : to.destroy()))
}

function headText({ statusCode = 0, statusMessage }: IncomingMessage, fields: readonly string[]): string {
  const lines = fields.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return `HTTP/1.1 ${statusCode} ${statusMessage ?? STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n`
}
