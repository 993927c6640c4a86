import { once } from 'node:events'
import { connect } from 'node:net'
import type { RawCase } from './corpus/request.ts'

/** All that a client got until its connection ended. */
export interface Heard {
  readonly bytes: string
  /** False: the other side still holds the connection when the time is over. */
  readonly ended: boolean
}

/** Longer than anybody who answers at all needs, on a machine that is out of breath too. */
const patience = 60_000

/**
 * Sends each piece on its own, at an empty one waits for an answer, then closes the client's half:
 * who is asked answers, and closes. So a case ends with an event on every machine, and whether the
 * connection went on shows by the request behind it.
 */
export async function talk(port: number, pieces: RawCase): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let bytes = ''
  const ended = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false)
      socket.destroy()
    }, patience)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  socket.setEncoding('latin1').on('data', (text: string) => (bytes += text))
  // A reset is one of the ways to end.
  socket.on('error', () => {})
  socket.on('end', () => socket.destroy())
  await send(socket, pieces)
  return { ended: await ended, bytes }
}

async function send(socket: ReturnType<typeof connect>, pieces: RawCase): Promise<void> {
  for (const [at, piece] of pieces.entries()) {
    if (at > 0 && piece === '') await Promise.race([once(socket, 'data'), once(socket, 'close')])
    else if (at > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    socket.write(piece, 'latin1')
  }
  socket.end()
}
