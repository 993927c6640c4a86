import { Socket } from 'node:net'
import { connectToInstance } from './connect.ts'
import { healthCheckCaller } from './preamble.ts'

/** Opens a connection for a health check to the private socket of an instance. */
export function connectForHealthCheck(path: string): Socket {
  const socket = new Socket()
  const refused = (): Error => new Error('its server does not listen')
  connectToInstance(socket, path, 80, { hops: 0, caller: healthCheckCaller }, refused)
  return socket
}
