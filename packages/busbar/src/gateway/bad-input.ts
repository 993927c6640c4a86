import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Limits } from '../config/app.ts'
import type { Connections } from './connections.ts'
import { type ClientError, clientErrorProblem, methodOf, noTunnel } from './problems/gateway-problems.ts'
import type { GatewayServer } from './server.ts'

/** Responds to what is no request. Node's server would write a bare status line, or nothing. */
export function rejectBadInput(server: GatewayServer['server'], connections: Connections, limits: Limits): void {
  server.on('connect', (_req: IncomingMessage, socket: Socket) => {
    const connection = connections.of(socket)
    if (connection === undefined) socket.destroy()
    else connection.rejectTunnel(noTunnel)
  })
  server.on('clientError', (error: ClientError, socket) => {
    const problem = clientErrorProblem(error, limits)
    const connection = connections.of(socket as Socket)
    if (problem === undefined || connection === undefined) socket.destroy(error)
    else connection.rejectInput(problem, methodOf(error))
  })
}
