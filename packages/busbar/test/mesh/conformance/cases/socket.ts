import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Caller, Case, Handler } from '../case.ts'
import type { ProgramLog } from '../program-log.ts'

/** The socket behind a request: its properties, writes, keep-alive and timeouts. */
export const socketCases: readonly Case[] = [
  plain('the properties of a socket', (request, response) => {
    const { socket } = request
    const { remoteAddress, remoteFamily, localAddress, localFamily, readyState, destroyed, readable, writable } = socket
    const { connecting, pending, allowHalfOpen } = socket
    response.end(
      JSON.stringify({
        remoteAddress,
        remoteFamily,
        localAddress,
        localFamily,
        readyState,
        destroyed,
        readable,
        writable,
        connecting,
        pending,
        allowHalfOpen,
        remotePort: typeof socket.remotePort,
        localPort: typeof socket.localPort,
        address: Object.keys(socket.address()).sort(),
        encrypted: (socket as { encrypted?: boolean }).encrypted ?? 'undefined',
        marks: [socket.readableHighWaterMark, socket.writableHighWaterMark],
        counts: [typeof socket.bytesRead, typeof socket.bytesWritten],
      }),
    )
  }),
  plain('the type of a socket', (request, response) => {
    const { socket } = request
    const is = [socket instanceof Socket, socket instanceof Duplex]
    const same = [request.connection === socket, response.socket === socket, response.connection === socket]
    const http = socket as unknown as { _httpMessage: unknown; server: { listening: boolean }; parser: object }
    const inside = [http._httpMessage === response, http.server.listening, typeof http.parser]
    const classes = [request instanceof IncomingMessage, response instanceof ServerResponse]
    response.end(JSON.stringify({ is, same, inside, classes }))
  }),
  plain('the methods of a socket', (request, response) => {
    const { socket } = request
    const answers = [
      socket.setNoDelay(true),
      socket.setKeepAlive(true, 1000),
      socket.ref(),
      socket.unref(),
      socket.ref(),
    ]
    response.end(JSON.stringify([...answers, socket.setTimeout(1000)].map((answer) => answer === socket)))
  }),
  plain('the socket after the response', (request, response, log) => {
    const { socket } = request
    response.on('close', () => log.add(`${response.socket === null} ${request.socket === socket} ${socket.destroyed}`))
    response.end('x')
  }),
  plain(
    'two consecutive calls share a connection',
    (request, response, log) => {
      countCall(request.socket, log)
      response.end('x')
    },
    twice,
  ),
  plain('two calls at once do not', answerInPairs(), async (caller) => {
    await Promise.all([caller.send(), caller.send()])
  }),
  plain(
    'a connection is not reused after an error',
    (request, response, log) => {
      countCall(request.socket, log)
      response.setHeader('Connection', 'close')
      response.end('x')
    },
    twice,
  ),
  plain(
    'a response written to the socket',
    (request) => {
      request.socket.write('HTTP/1.1 203 By Hand\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok')
    },
    oneAndDestroy,
  ),
  plain('a chunked response written to the socket', async (request) => {
    request.socket.write('HTTP/1.1 200 OK\r\nTransfer-Enc')
    await sleep(2)
    request.socket.write('oding: chunked\r\n\r\n2\r\nok\r\n')
    request.socket.end('3\r\nyes\r\n0\r\nX-T: 1\r\n\r\n')
  }),
  plain('a response without a length written to the socket', (request) =>
    request.socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'),
  ),
  plain('something that is not HTTP written to the socket', (request) => request.socket.end('hello\r\n\r\n')),
  plain('half a response written to the socket', (request) => request.socket.end('HTTP/1.1 200 OK\r\nContent-Le')),
  plain(
    'a body written past the response',
    (request, response) => {
      response.writeHead(200, { 'Content-Length': 5 })
      response.flushHeaders()
      request.socket.write('hello')
    },
    oneAndDestroy,
  ),
  plain('response.setTimeout', (_, response, log) => {
    response.setTimeout(20, () => {
      log.add('timed out')
      response.end('late')
    })
  }),
  plain('request.setTimeout', (request, response, log) => {
    request.setTimeout(20, () => {
      log.add('timed out')
      response.end('late')
    })
  }),
  plain('socket.setTimeout without a listener', (request) => request.socket.setTimeout(20)),
  plain('a timeout that activity postpones', async (_, response, log) => {
    response.setTimeout(400, () => log.add('timed out'))
    for (let n = 0; n < 4; n++) {
      response.write('x')
      await sleep(150)
    }
    response.setTimeout(0)
    response.end()
  }),
]

/** The number of this call on its connection. */
function countCall(socket: Socket & { seen?: number }, log: ProgramLog): void {
  socket.seen = (socket.seen ?? 0) + 1
  log.add(`call ${socket.seen} of the connection`)
}

/**
 * Answers two calls once both have arrived: on a busy machine, the first would else be over before.
 */
function answerInPairs(): Handler {
  const waiting = new WeakMap<ProgramLog, ServerResponse>()
  return (request, response, log) => {
    countCall(request.socket, log)
    const other = waiting.get(log)
    if (other === undefined) waiting.set(log, response)
    else for (const one of [other, response]) one.end('x')
  }
}

async function twice(caller: Caller): Promise<void> {
  await caller.send()
  await caller.send()
}

async function oneAndDestroy(caller: Caller): Promise<void> {
  const call = caller.open()
  await call.outcome()
  call.abort()
}
