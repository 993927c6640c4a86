/** Between processes of one machine: a Unix socket in a folder that is only this user's. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { Hello } from '../links/hello.ts'
import { type Greeted, greet } from './socket.ts'

/** Rejects with LINK_LOST when nobody listens there, or somebody else. */
export async function dialUnix(path: string, hello: Hello): Promise<Greeted> {
  const socket = connect({ path })
  try {
    await once(socket, 'connect')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BusbarError('LINK_LOST', { message: `nobody takes links at ${path} (${code})`, cause: error })
  }
  return await greet(socket, hello, true)
}

export interface LinkListener {
  /** Takes no more links; those there are stay. Resolves when the path is free. */
  close(): Promise<void>
}

/** `refused`: somebody came who does not belong to the app. */
export async function listenUnix(
  path: string,
  hello: Hello,
  taken: (greeted: Greeted) => void,
  refused: (error: BusbarError) => void = () => {},
): Promise<LinkListener> {
  const greeting = new Set<Socket>()
  const server = createServer((socket) => {
    greeting.add(socket)
    void greet(socket, hello, false)
      .then(taken, refused)
      .finally(() => greeting.delete(socket))
  })
  server.listen({ path })
  await once(server, 'listening')
  // A link that could not be accepted is dialled again.
  server.on('error', () => {})
  return { close: () => closed(server, greeting) }
}

/** Node waits for every connection that a server made; those that became links are not the listener's any more. */
function closed(server: Server, greeting: ReadonlySet<Socket>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close()
  for (const socket of greeting) socket.destroy()
  // The handle is closed, and its path unlinked, in the next turn.
  setImmediate(resolve)
  return promise
}
