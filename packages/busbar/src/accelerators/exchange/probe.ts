import { deepStrictEqual } from 'node:assert'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListener } from 'node:http'
import { Socket } from 'node:net'
import type { LocalEndpoint } from '../../mesh/endpoint.ts'
import type { ExchangeHandler } from '../../mesh/http/exchange.ts'
import { InThreadExchange } from './in-thread/in-thread-exchange.ts'
import { connectionsFault } from '../../node/connections.ts'
import { handleSocketFault } from '../../node/handle-socket.ts'
import { methodNumbers, parserFault } from '../../node/parser.ts'
import { responseFault, restoreSteps } from '../../node/response.ts'
import { streamsFault } from '../../node/streams.ts'
import { subscribersFault } from '../../node/subscribers.ts'

const capabilities = [parserFault, responseFault, connectionsFault, handleSocketFault, streamsFault, subscribersFault]

/** Undefined where this Node's HTTP internals behave as the exchange relies upon; tried in some milliseconds. */
export function exchangeFault(): unknown {
  for (const probe of capabilities) {
    const fault = probe()
    if (fault !== undefined) return fault
  }
  return findFault()
}

function findFault(): unknown {
  try {
    for (const program of programs) checkAgainstText(program)
    checkRequest()
    checkHangup()
    return undefined
  } catch (error) {
    return error
  }
}

/** Answers within the tick of the request, each by another part of Node's code. */
const programs: readonly RequestListener[] = [
  (_, response) => {
    response.setHeader('X-A', ['1', '2'])
    response.setHeader('Set-Cookie', ['a', 'b'])
    response.end('body')
  },
  (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.writeHead(201, 'Made', ['X-A', '1', 'X-A', '2', 'Trailer', 'X-T'])
    response.write('bo')
    response.addTrailers({ 'X-T': 'v' })
    response.end(Buffer.from('dy'))
  },
  (_, response) => response.writeHead(200, { 'Content-Length': 4, 'Keep-Alive': 'timeout=9' }).end('body', 'latin1'),
  (_, response) => response.writeHead(304, { ETag: 'x', Connection: 'close' }).end(),
]

/** What was caught as fields has to be what the parser finds in the text that Node writes of the same. */
function checkAgainstText(program: RequestListener): void {
  const caught = run(program)
  const written = run((request, response) => {
    restoreSteps(response)
    program(request, response)
  })
  deepStrictEqual(caught, written)
  deepStrictEqual(caught.at(-1)?.[0], 'end')
}

function checkRequest(): void {
  let seen: IncomingMessage | undefined
  const told = run((request, response) => {
    seen = request
    response.end()
  })
  const { method, url, headers, complete, readableLength } = seen!
  deepStrictEqual([method, url, headers.host, complete, readableLength], ['POST', '/path', 'self', true, 4])
  deepStrictEqual(told.at(-1)?.[0], 'end')
}

function checkHangup(): void {
  let is: boolean[] = []
  const told = run((request, response) => {
    is = [request.socket instanceof Socket, request instanceof IncomingMessage, response instanceof ServerResponse]
    request.socket.destroy()
  })
  deepStrictEqual(is, [true, true, true])
  deepStrictEqual(told.at(-1)?.[0], 'error')
}

/** What goes wrong comes out, instead of being somebody's uncaught exception. */
class Probe extends InThreadExchange {
  override threw(error: unknown): void {
    throw error
  }
}

/** One call, begun and told at once instead of in turns of their own. */
function run(program: RequestListener): unknown[][] {
  const told: unknown[][] = []
  const server = createServer(program)
  // No call goes to one that does not listen.
  Object.defineProperty(server, 'listening', { value: true })
  server.emit('listening')
  const endpoint: LocalEndpoint = {
    at: 'here',
    service: 'self-check',
    server,
    state: 'serving',
    enter: (_, callback) => callback(),
  }
  const rawHeaders = ['Host', 'self', 'Content-Length', '4']
  const request = { method: 'POST', path: '/path', rawHeaders, body: 'body', streamed: false }
  const plan = { method: methodNumbers().get('POST')!, keepAlive: true, contentLength: 4, chunked: false }
  const exchange = new Probe(endpoint, request, plan, { service: 'self-check', hops: 1 }, recorder(told))
  exchange.start()
  exchange.tell()
  // The connection goes when it is to be kept: nobody listens any more.
  server.close()
  return told
}

function recorder(told: unknown[][]): ExchangeHandler {
  return {
    onInformation: (status, headers) => void told.push(['information', status, { ...headers }]),
    onHead: ({ status, statusText, headers, rawHeaders }) => {
      // The clock may go on between two runs.
      const lines = rawHeaders!.map((text, index) => (rawHeaders![index - 1] === 'Date' ? 'now' : text))
      told.push(['head', status, statusText, { ...headers, date: 'now' }, lines])
    },
    onData: (chunk) => told.push(['data', chunk.toString()]) > 0,
    onEnd: (trailers) => void told.push(['end', { ...trailers }]),
    onError: () => void told.push(['error']),
  }
}
