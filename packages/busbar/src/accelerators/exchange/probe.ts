import { deepStrictEqual } from 'node:assert'
import { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListener } from 'node:http'
import { Socket } from 'node:net'
import type { LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import type { ExchangeHandler } from '../../mesh/http/exchange.ts'
import { InThreadExchange } from './in-thread/in-thread-exchange.ts'
import { connectionsFault } from '../../node/connections.ts'
import { handleSocketFault } from '../../node/handle-socket.ts'
import { methodNumbers, parserFault } from '../../node/parser.ts'
import { probeServer } from '../../node/probe-server.ts'
import { requestHeadersFault } from '../../node/request-headers.ts'
import { responseFault, restoreLowLevelMethods } from '../../node/response.ts'
import { streamsFault } from '../../node/streams.ts'
import { subscribersFault } from '../../node/subscribers.ts'

const capabilities = [
  parserFault,
  requestHeadersFault,
  responseFault,
  connectionsFault,
  handleSocketFault,
  streamsFault,
  subscribersFault,
]

/** Undefined if Node's HTTP internals behave as the exchange requires. Takes some milliseconds. */
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

/** Programs that respond within the tick of the request, each by another part of Node's code. */
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

/** The captured response must equal what the parser finds in the text that Node writes. */
function checkAgainstText(program: RequestListener): void {
  const caught = run(program)
  const written = run((request, response) => {
    restoreLowLevelMethods(response)
    program(request, response)
  })
  deepStrictEqual(caught, written)
  deepStrictEqual(caught.at(-1)?.[0], 'end')
}

function checkRequest(): void {
  let seen: IncomingMessage | undefined
  const events = run((request, response) => {
    seen = request
    response.end()
  })
  const { method, url, headers, complete, readableLength } = seen!
  deepStrictEqual([method, url, headers.host, complete, readableLength], ['POST', '/path', 'self', true, 4])
  deepStrictEqual(events.at(-1)?.[0], 'end')
}

function checkHangup(): void {
  let is: boolean[] = []
  const events = run((request, response) => {
    is = [request.socket instanceof Socket, request instanceof IncomingMessage, response instanceof ServerResponse]
    request.socket.destroy()
  })
  deepStrictEqual(is, [true, true, true])
  deepStrictEqual(events.at(-1)?.[0], 'error')
}

/** Throws errors to the probe, instead of causing an uncaught exception. */
class Probe extends InThreadExchange {
  override threw(error: unknown): void {
    throw error
  }
}

/** One call, begun and delivered at once instead of in later turns. */
function run(program: RequestListener): unknown[][] {
  const events: unknown[][] = []
  const server = probeServer(program)
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
  const exchange = new Probe(endpoint, request, plan, { service: 'self-check', hops: 1 }, recorder(events))
  exchange.start()
  exchange.deliver()
  // The pool then closes the connection instead of keeping it.
  server.close()
  return events
}

function recorder(events: unknown[][]): ExchangeHandler {
  return {
    onInformation: (status, headers) => void events.push(['information', status, { ...headers }]),
    onHead: ({ status, statusText, headers, rawHeaders }) => {
      // The time may change between two runs.
      const lines = rawHeaders!.map((text, index) => (rawHeaders![index - 1] === 'Date' ? 'now' : text))
      events.push(['head', status, statusText, { ...headers, date: 'now' }, lines])
    },
    onData: (chunk) => events.push(['data', chunk.toString()]) > 0,
    onEnd: (trailers) => void events.push(['end', { ...trailers }]),
    onError: () => void events.push(['error']),
  }
}
