import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Port, PortHandlers } from './listener-spec.ts'

/** Connections that wait while the app restarts. */
const mostWaiting = 511

interface ActivatedPort {
  readonly server: Server
  handlers: PortHandlers | undefined
  readonly waiting: Socket[]
}

/**
 * By descriptor. They belong to the process: a server that closes would close the descriptor, which
 * nobody could open again.
 */
const ports = new Map<number, ActivatedPort>()

/** Opens a port that another process has bound, or takes it over from an app that has stopped. */
export async function openActivatedPort(descriptor: number, handlers: PortHandlers): Promise<Port> {
  const port = ports.get(descriptor) ?? (await listenOn(descriptor))
  port.handlers = handlers
  for (const socket of port.waiting.splice(0)) handlers.connection(socket)
  const { port: number } = port.server.address() as AddressInfo
  return {
    port: number,
    close: async () => {
      if (port.handlers === handlers) port.handlers = undefined
    },
  }
}

async function listenOn(descriptor: number): Promise<ActivatedPort> {
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true })
  const port: ActivatedPort = { server, handlers: undefined, waiting: [] }
  server.on('connection', (socket) => {
    if (port.handlers !== undefined) port.handlers.connection(socket)
    else if (port.waiting.length < mostWaiting) port.waiting.push(socket)
    else socket.destroy()
  })
  await once(server.listen({ fd: descriptor }), 'listening')
  if (typeof server.address() !== 'object') throw new Error('it is not a TCP socket')
  server.on('error', (error) => port.handlers?.error(error))
  // The app keeps the process alive, not this.
  server.unref()
  ports.set(descriptor, port)
  return port
}
