/** Between processes of one machine: a Unix socket in a folder that only this user can access. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { Hello } from './hello.ts'
import { type HandshakeResult, handshake } from './socket.ts'

/** Rejects with LINK_LOST if no worker of the app listens at `path`. */
export async function dialUnix(path: string, hello: Hello): Promise<HandshakeResult> {
  const socket = connect({ path })
  try {
    await once(socket, 'connect')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BusbarError('LINK_LOST', { message: `no worker accepts links at ${path} (${code})`, cause: error })
  }
  return await handshake(socket, hello, true)
}

export interface LinkListener {
  /** Accepts no more links. Open ones stay. Resolves when the path is free. */
  close(): Promise<void>
}

/** `refused` is called for peers that do not belong to the app. */
export async function listenUnix(
  path: string,
  hello: Hello,
  accepted: (result: HandshakeResult) => void,
  refused: (error: BusbarError) => void = () => {},
): Promise<LinkListener> {
  const inHandshake = new Set<Socket>()
  const server = createServer((socket) => {
    inHandshake.add(socket)
    void handshake(socket, hello, false)
      .then(accepted, refused)
      .finally(() => inHandshake.delete(socket))
  })
  server.listen({ path })
  await once(server, 'listening')
  // The peer dials again if its link could not be accepted.
  server.on('error', () => {})
  return { close: () => closed(server, inHandshake) }
}

/** Does not wait for connections as Node does: open links no longer belong to the listener. */
function closed(server: Server, inHandshake: ReadonlySet<Socket>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close()
  for (const socket of inHandshake) socket.destroy()
  // The handle closes, and its path is unlinked, in the next turn.
  setImmediate(resolve)
  return promise
}
