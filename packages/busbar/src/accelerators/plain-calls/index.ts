import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { parserOf } from '../../mesh/bytes/accept.ts'

/** Answers small typed calls at the gateway without a response object of Node. Relies on the parser that a connection shows. */
export function probe(): unknown {
  const socket = new Socket()
  createServer().emit('connection', socket)
  const found = parserOf(socket)
  socket.destroy()
  return found === undefined ? 'a connection does not show its parser' : undefined
}

/** The gateway asks `isChosen`. */
export const attachment = undefined
