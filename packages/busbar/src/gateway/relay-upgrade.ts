import { request, STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { headBytes, sendOwnHead } from '../mesh/http/own-head.ts'
import type { HttpMesh } from '../mesh/mesh.ts'
import { whenStalled } from './connection.ts'
import { endToEnd } from './end-to-end.ts'
import { openConnection } from './forward.ts'
import type { Way } from './routes.ts'

export interface RelayedUpgrade {
  readonly mesh: HttpMesh
  readonly way: Way
  readonly req: IncomingMessage
  readonly socket: Socket
  /** What the client sent behind its request. */
  readonly head: Buffer
  /** Milliseconds until an answer must have begun; 0: no limit. */
  readonly responseTimeout: number
  /** The service hung up without an answer. */
  readonly onLost: () => void
  readonly onOverdue: () => void
  /** It answered with what is no HTTP. */
  readonly onUnreadable: () => void
}

/**
 * Takes an upgrade to a service that is not in this thread: a connection of the mesh for it alone,
 * on which the two speak what they like once the service has agreed. An answer of another kind goes
 * back as it is, and ends the connection: whatever the client sends behind it has not gone by the
 * routes.
 */
export function relayUpgrade({ mesh, way, req, socket, head, responseTimeout, ...told }: RelayedUpgrade): void {
  const { onLost, onOverdue, onUnreadable } = told
  const outgoing = ask(mesh, way, req)
  let isAnswered = false
  const giveUp = (): void => void outgoing.destroy()
  const overdue = (): void => {
    isAnswered = true
    giveUp()
    onOverdue()
  }
  const timer = responseTimeout === 0 ? undefined : setTimeout(overdue, responseTimeout)
  socket.once('close', giveUp)
  outgoing.once('close', () => clearTimeout(timer))
  outgoing.on('upgrade', (answer, upstream, sentBehind) => {
    clearTimeout(timer)
    socket.off('close', giveUp)
    socket.write(headText(answer, answer.rawHeaders), 'latin1')
    if (sentBehind.length > 0) socket.write(sentBehind)
    if (head.length > 0) upstream.write(head)
    tie(socket, upstream)
  })
  outgoing.on('response', (answer) => {
    clearTimeout(timer)
    if (!socket.writable) return giveUp()
    isAnswered = true
    if (answer.statusCode! < 200) {
      giveUp()
      return onUnreadable()
    }
    const fields = endToEnd(answer.rawHeaders, { anew: true })
    socket.write(headText(answer, [...fields, 'Connection', 'close']), 'latin1')
    answer.once('error', () => socket.destroy())
    answer.pipe(socket)
    // What else the client sends is for nobody; when it has no more to send, it does not wait for
    // ever.
    const hasEnded = (): void => whenStalled(socket, () => socket.destroy())
    if (socket.readableEnded) hasEnded()
    else socket.resume().once('end', hasEnded)
  })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (isAnswered) return
    if (!socket.writable) socket.destroy()
    else if (error.code?.startsWith('HPE_') === true) onUnreadable()
    else onLost()
  })
  outgoing.end()
}

function ask(mesh: HttpMesh, way: Way, req: IncomingMessage): ClientRequest {
  const head = headBytes({
    method: req.method!,
    path: req.url!,
    rawHeaders: req.rawHeaders,
    httpVersion: req.httpVersionMinor === 0 ? '1.0' : '1.1',
  })
  const outgoing = request({ createConnection: () => openConnection(mesh, way), setHost: false, method: req.method })
  sendOwnHead(outgoing, head)
  return outgoing
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
