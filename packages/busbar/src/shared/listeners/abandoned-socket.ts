import { connect } from 'node:net'

/**
 * Whether nobody listens on the Unix socket any more. The process ID in its name does not tell: the
 * process may be in another container, which has IDs of its own.
 */
export async function isAbandonedSocket(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ path })
  socket.once('connect', () => resolve(false))
  socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' || code === 'ENOENT'))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
