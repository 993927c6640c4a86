/**
 * The handle under a `net.Socket` and the constructor's option for it (lib/net.js), by which a
 * connection moves from one socket object to another.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'

interface Internals extends Socket {
  /** Null once the socket is closed. */
  _handle: object | null
}

const FromHandle = Socket as unknown as new (options: object) => Socket

/**
 * A new socket with the connection of `socket`, from which nothing was read, as a server creates it
 * for a connection that it accepts: it reads already, and allows a half-open connection. `socket`
 * ends without its connection. Returns a closed `socket` as it is.
 */
export function moveConnection(socket: Socket): Socket {
  const source = socket as Internals
  const handle = source._handle
  if (handle === null || source.destroyed) return source
  source._handle = null
  const moved = new FromHandle({ handle, allowHalfOpen: true, readable: true, writable: true })
  source.destroy()
  return moved
}

/** Milliseconds that the probe's connection may take. */
const probeTimeout = 5000

/**
 * Undefined if the connection of a transferred socket can be moved, then carries data both ways and
 * outlives the end of its client's side and the socket that it came from.
 */
export async function socketHandleFault(): Promise<unknown> {
  const limit = { signal: AbortSignal.timeout(probeTimeout) }
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true })
  const client = new Socket()
  const sockets = [client]
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening', limit)
    const { address, port } = server.address() as AddressInfo
    client.connect(port, address).end('sent')
    const [[source]] = (await Promise.all([once(server, 'connection', limit), once(client, 'connect', limit)])) as [
      [Socket],
      unknown,
    ]
    const moved = moveConnection(transferred(source))
    sockets.push(moved)
    if (moved.remotePort !== client.localPort) return 'a socket does not take the connection of another one'
    const back = readAll(moved, limit).then((text) => moved.end(`${text} back`))
    const [text] = await Promise.all([readAll(client, limit), back])
    return text === 'sent back' ? undefined : `a moved connection answered "${text}"`
  } catch (error) {
    return error
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

/** Reads by events: the iterator of a socket may close its other side. */
async function readAll(socket: Socket, limit: { signal: AbortSignal }): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'end', limit)
  return text
}

/** `socket` as another thread receives it. */
function transferred(socket: Socket): Socket {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(socket, [socket as never])
  const { message } = receiveMessageOnPort(port2) as { message: Socket }
  port1.close()
  return message
}
