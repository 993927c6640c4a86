import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { parserOf } from '../../mesh/bytes/accept.ts'
import { connectHere } from '../../mesh/bytes/connect.ts'
import type { LocalEndpoint } from '../../mesh/endpoint.ts'
import { listenVirtually } from '../../mesh/listener.ts'
import { Router } from '../../mesh/router.ts'

/** Milliseconds that a call may take. It takes one. */
const probeTime = 5000

function parserFault(): unknown {
  const socket = new Socket()
  createServer().emit('connection', socket)
  const found = parserOf(socket)
  socket.destroy()
  return found === undefined ? 'a connection does not show its parser' : undefined
}

/** One request over the byte stream, with the answer as it must be. Its hops and its count are taken where the parser tells of it. */
export async function streamFault(): Promise<unknown> {
  const fault = parserFault()
  if (fault !== undefined) return fault
  const server = createServer((request, response) => void response.end(`${request.method} ${request.url}`))
  listenVirtually(server, { address: '127.0.0.1', family: 'IPv4', port: 80 })
  const endpoint: LocalEndpoint = {
    at: 'here',
    service: 'probe',
    server,
    state: 'serving',
    enter: (_, callback) => callback(),
  }
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const timer = setTimeout(resolve, probeTime, 'no answer came')
  let text = ''
  try {
    const mesh = { router: new Router([]), maxHops: 1 }
    const socket = connectHere(mesh, endpoint, 1).setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk)).on('error', resolve)
    socket.on('close', () => resolve(text.endsWith('\r\n\r\nGET /path') ? undefined : `it answered ${text}`))
    socket.write('GET /path HTTP/1.0\r\n\r\n')
    return await promise
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
    server.close()
  }
}
