import { once } from 'node:events'
import { connect } from 'node:net'
import type { RawCase } from './corpus/request.ts'

/** What a client received until its connection ended. */
export interface RawExchange {
  readonly bytes: string
  /** False: the server still holds the connection after the time-out. */
  readonly ended: boolean
}

/** Milliseconds; longer than any response takes on a busy machine. */
const exchangeTimeout = 60_000

/**
 * Sends each piece on its own, waits for data at an empty one, then closes the client's half of the
 * connection. The server answers and closes too, so every case ends with an event. A request at the
 * end of the case shows whether the connection was still usable.
 */
export async function exchangeRaw(port: number, pieces: RawCase): Promise<RawExchange> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let bytes = ''
  const ended = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false)
      socket.destroy()
    }, exchangeTimeout)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  socket.setEncoding('latin1').on('data', (text: string) => (bytes += text))
  // A connection may also end by a reset. Any other error is one of the machine, such as a full
  // table of ports.
  let failed: NodeJS.ErrnoException | undefined
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!['ECONNRESET', 'EPIPE'].includes(error.code!)) failed = error
  })
  socket.on('end', () => socket.destroy())
  await send(socket, pieces)
  const outcome = { ended: await ended, bytes }
  if (failed !== undefined) throw failed
  return outcome
}

async function send(socket: ReturnType<typeof connect>, pieces: RawCase): Promise<void> {
  for (const [at, piece] of pieces.entries()) {
    if (at > 0 && piece === '') await Promise.race([once(socket, 'data'), once(socket, 'close')])
    else if (at > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    socket.write(piece, 'latin1')
  }
  socket.end()
}
