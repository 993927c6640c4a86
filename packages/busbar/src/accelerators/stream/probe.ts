import { ClientRequest } from 'node:http'
import type { LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import { Router } from '../../mesh/routing/router.ts'
import type { PrivateListener } from '../../mesh/sockets/instance/private-listener.ts'
import { probeServer } from '../../node/probe-server.ts'
import { openInMemory } from './open-in-memory.ts'

/** Milliseconds that the probe's call may take. It usually takes one. */
const probeTimeout = 5000

/**
 * Undefined if a request in memory, by Node's own client and server, gets the right response, and
 * both sides see the connection as they should.
 */
export async function streamFault(): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const timer = setTimeout(resolve, probeTimeout, 'no answer came')
  try {
    const server = probeServer((incoming, response) => void incoming.setEncoding('latin1').pipe(response))
    const listener = { acceptFromMesh: (socket: object) => server.emit('connection', socket) }
    const endpoint: LocalEndpoint = {
      at: 'here',
      service: 'probe',
      server,
      state: 'serving',
      listener: listener as unknown as PrivateListener,
      enter: (_, callback) => callback(),
    }
    const origin = { hops: 1, caller: undefined, to: endpoint }
    const socket = openInMemory({ router: new Router([]), maxHops: 1 }, 'probe', 80, {}, origin)
    let text = socket.connecting ? '' : 'connected at once '
    socket.on('close', (hadError) => resolve(text === 'echo' && !hadError ? undefined : `it answered ${text}`))
    // Not by `request`, which a tracing agent may have replaced.
    const outgoing = new ClientRequest({ createConnection: () => socket, method: 'POST' }, (answer) => {
      answer.setEncoding('latin1').on('data', (more: string) => (text += more))
    })
    outgoing.on('error', resolve)
    outgoing.end('echo')
    return await promise
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
  }
}
