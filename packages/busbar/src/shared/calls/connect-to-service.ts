import { connect, type Socket } from 'node:net'
import type { CallAccess } from './call-access.ts'
import { writeForwardRequest } from './forward-request.ts'

/** Opens a connection to a service from the process that supervises the app. */
export function connectToService({ ports, token }: CallAccess, service: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: ports.find(({ route }) => route === undefined)!.port })
  // Writes are queued while a socket connects. The caller is not a service, so it has no name.
  socket.write(writeForwardRequest({ token, verb: 'connect', service, port: 80, caller: '', hops: 0 }))
  return socket
}
