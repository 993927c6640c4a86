import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Caller, Case } from '../case.ts'
import type { ProgramLog } from '../program-log.ts'

/** What stands behind a request: information, the socket, timeouts, the server's count of connections. */
export const connectionCases: readonly Case[] = [...informationCases(), ...socketCases(), ...serverCases()]

function informationCases(): Case[] {
  return [
    plain('early hints', (_, response) => {
      response.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b.js>; rel=preload'], 'x-more': '1' })
      response.end('x')
    }),
    plain('processing', (_, response) => {
      response.writeProcessing()
      response.end('x')
    }),
    plain('several kinds of information over time', async (_, response) => {
      response.writeProcessing()
      await sleep(2)
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.writeEarlyHints({ link: '</b.css>; rel=preload' })
      await sleep(2)
      response.setHeader('X-A', '1')
      response.end('x')
    }),
    plain('information before a large answer', (_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.end('x'.repeat(200_000))
    }),
    plain('corked information', (_, response) => {
      response.cork()
      response.writeProcessing()
      response.write('x')
      response.uncork()
      response.end()
    }),
    plain(
      'information is there before the answer',
      (_, response, log) => {
        response.writeEarlyHints({ link: '</a.css>; rel=preload' })
        void log.until('hint seen').then(() => response.end('x'))
      },
      async (caller, log) => {
        const call = caller.open()
        await call.recording.informed()
        log.add('hint seen')
        await call.outcome()
      },
    ),
    plain('information that may not be sent', (_, response, log) => {
      for (const status of [99, 101, 200])
        try {
          ;(response as unknown as { writeInformation(status: number): void }).writeInformation(status)
        } catch (error) {
          log.add(String((error as { code?: string }).code))
        }
      response.end('x')
    }),
    plain(
      'expect: 100-continue',
      (request, response) => request.pipe(response),
      async (caller) => {
        const call = caller.stream({ headers: ['Expect', '100-continue'] })
        await call.recording.informed()
        await call.write('body')
        call.end()
      },
    ),
    {
      name: 'expect: 100-continue, which the program decides',
      program: (log) => {
        const server = createServer()
        return server.on('checkContinue', (request, response) => {
          // Whether the rest of a refused request still arrives is a race.
          if (request.url === '/no') return response.writeHead(417).end('no')
          log.watch(request, response)
          response.writeContinue()
          request.pipe(response)
        })
      },
      call: async (caller) => {
        const accepted = caller.stream({ path: '/yes', headers: ['Expect', '100-continue'] })
        await accepted.recording.informed()
        await accepted.write('body')
        accepted.end()
        await accepted.outcome()
        const refused = caller.stream({ path: '/no', headers: ['Expect', '100-continue'] })
        await refused.outcome()
        refused.end()
      },
    },
    {
      name: 'another expectation',
      program: () => createServer((_, response) => void response.end('x')),
      call: async (caller) => void (await caller.send({ headers: ['Expect', 'miracles'] })),
    },
    {
      name: 'another expectation, which the program decides',
      program: () =>
        createServer().on('checkExpectation', (request, response) => void response.end(request.headers.expect)),
      call: async (caller) => void (await caller.send({ headers: ['Expect', 'miracles'] })),
    },
  ]
}

function socketCases(): Case[] {
  return [
    plain('what a socket says of itself', (request, response) => {
      const { socket } = request
      const { remoteAddress, remoteFamily, localAddress, localFamily, readyState, destroyed, readable, writable } =
        socket
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
    plain('what a socket is', (request, response) => {
      const { socket } = request
      const is = [socket instanceof Socket, socket instanceof Duplex]
      const same = [request.connection === socket, response.socket === socket, response.connection === socket]
      const http = socket as unknown as { _httpMessage: unknown; server: { listening: boolean }; parser: object }
      const inside = [http._httpMessage === response, http.server.listening, typeof http.parser]
      const classes = [request instanceof IncomingMessage, response instanceof ServerResponse]
      response.end(JSON.stringify({ is, same, inside, classes }))
    }),
    plain('what a socket can be asked to do', (request, response) => {
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
    plain('the socket after the answer', (request, response, log) => {
      const { socket } = request
      response.on('close', () =>
        log.add(`${response.socket === null} ${request.socket === socket} ${socket.destroyed}`),
      )
      response.end('x')
    }),
    plain(
      'two calls in turn share a connection',
      (request, response, log) => {
        const socket = request.socket as { seen?: number }
        socket.seen = (socket.seen ?? 0) + 1
        log.add(`call ${socket.seen} of the connection`)
        response.end('x')
      },
      async (caller) => {
        await caller.send()
        await caller.send()
      },
    ),
    plain(
      'two calls at once do not',
      (request, response, log) => {
        const socket = request.socket as { seen?: number }
        socket.seen = (socket.seen ?? 0) + 1
        log.add(`call ${socket.seen} of the connection`)
        setTimeout(() => response.end('x'), 5)
      },
      async (caller) => {
        await Promise.all([caller.send(), caller.send()])
      },
    ),
    plain(
      'a connection that an error spoilt is not used again',
      (request, response, log) => {
        const socket = request.socket as { seen?: number }
        socket.seen = (socket.seen ?? 0) + 1
        log.add(`call ${socket.seen} of the connection`)
        response.setHeader('Connection', 'close')
        response.end('x')
      },
      async (caller) => {
        await caller.send()
        await caller.send()
      },
    ),
    plain(
      'an answer written to the socket',
      (request) => {
        request.socket.write('HTTP/1.1 203 By Hand\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok')
      },
      oneAndDestroy,
    ),
    plain('an answer in chunks written to the socket', async (request) => {
      request.socket.write('HTTP/1.1 200 OK\r\nTransfer-Enc')
      await sleep(2)
      request.socket.write('oding: chunked\r\n\r\n2\r\nok\r\n')
      request.socket.end('3\r\nyes\r\n0\r\nX-T: 1\r\n\r\n')
    }),
    plain('an answer without a length written to the socket', (request) =>
      request.socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'),
    ),
    plain('what is not HTTP written to the socket', (request) => request.socket.end('hello\r\n\r\n')),
    plain('half an answer written to the socket', (request) => request.socket.end('HTTP/1.1 200 OK\r\nContent-Le')),
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
    plain('a timeout that activity puts off', async (_, response, log) => {
      response.setTimeout(400, () => log.add('timed out'))
      for (let n = 0; n < 4; n++) {
        response.write('x')
        await sleep(150)
      }
      response.setTimeout(0)
      response.end()
    }),
  ]
}

function serverCases(): Case[] {
  return [
    {
      name: 'server.timeout',
      program: (log) => {
        const server = createServer((request, response) => log.watch(request, response))
        server.setTimeout(20)
        return server
      },
    },
    {
      name: 'server.timeout with a listener',
      program: (log) => {
        const responses: ServerResponse[] = []
        const server = createServer((request, response) => {
          log.watch(request, response)
          responses.push(response)
        })
        server.setTimeout(20, () => responses[0]!.end('late'))
        return server
      },
    },
    {
      name: 'the timeout of a whole request',
      program: (log) => {
        const options = { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 }
        return createServer(options, (request, response) => {
          log.watch(request, response)
          request.resume()
        })
      },
      call: async (caller) => {
        const call = caller.stream()
        await call.write('x')
        await call.outcome()
      },
    },
    {
      name: 'a call that takes longer than the timeout of requests',
      program: (log) => {
        const options = { requestTimeout: 20, headersTimeout: 20, connectionsCheckingInterval: 5 }
        return createServer(options, (request, response) => {
          log.watch(request, response)
          setTimeout(() => response.end('late'), 60)
        })
      },
    },
    {
      name: 'connection events, one for each connection',
      program: (log) => {
        const server = createServer((_, response) => setTimeout(() => response.end('x'), 5))
        return server.on('connection', (socket) => log.add(`connection ${socket instanceof Socket}`))
      },
      call: async (caller) => {
        await caller.send()
        await Promise.all([caller.send(), caller.send()])
        await caller.send()
      },
    },
    {
      name: 'a limit on the number of connections',
      program: (log) => {
        const server = createServer((_, response) => setTimeout(() => response.end('x'), 20))
        server.maxConnections = 1
        return server.on('drop', (data) =>
          log.add(
            `drop ${Object.keys(data ?? {})
              .sort()
              .join()}`,
          ),
        )
      },
      call: async (caller) => {
        const [first, second] = [caller.send(), caller.send()]
        await Promise.all([first, second])
      },
    },
    serverCase('getConnections counts', async (server, caller, log) => {
      log.add(`${await connections(server)} before`)
      await Promise.all([caller.send(), caller.send()])
      log.add(`${await connections(server)} kept`)
      server.closeIdleConnections()
      await sleep(5)
      log.add(`${await connections(server)} after`)
    }),
    serverCase('close ends idle connections', async (server, caller, log) => {
      await caller.send()
      server.close(() => log.add('closed'))
      await log.until('closed')
    }),
    serverCase('close waits for the call that is underway', async (server, caller, log) => {
      const call = caller.open({ path: '/slow', connection: 'close' })
      await log.until('called')
      server.close(() => log.add('closed'))
      await call.outcome()
      await log.until('closed')
    }),
    serverCase('closeIdleConnections leaves the call that is underway', async (server, caller, log) => {
      const call = caller.open({ path: '/slow' })
      await log.until('called')
      server.closeIdleConnections()
      await call.outcome()
    }),
    serverCase('closeAllConnections cuts the call that is underway', async (server, caller, log) => {
      const call = caller.open({ path: '/slow' })
      await log.until('called')
      server.closeAllConnections()
      await call.outcome()
    }),
    {
      name: 'an idle connection is closed after the keep-alive timeout',
      program: (log) => {
        const options = { keepAliveTimeout: 10, keepAliveTimeoutBuffer: 1 } as object
        const server = createServer(options, (request, response) => {
          if (request.url === '/first') request.socket.on('close', () => log.add('closed'))
          response.end('x')
        })
        return server
      },
      call: async (caller, log) => {
        await caller.send({ path: '/first' })
        await log.until('closed')
        await caller.send()
      },
    },
    {
      name: 'events in the order that a listener for everything sees',
      program: (log) => {
        const server = createServer((request, response) => {
          traceEvents(log, 'response', response)
          traceEvents(log, 'request', request)
          request.resume()
          request.on('end', () => response.end('x'))
        })
        return server
      },
      call: async (caller) => void (await caller.send({ method: 'POST', body: 'x' })),
    },
  ]
}

/** A case that has the server itself at hand. */
function serverCase(
  name: string,
  call: (server: ReturnType<typeof createServer>, caller: Caller, log: ProgramLog) => Promise<void>,
): Case {
  let server: ReturnType<typeof createServer>
  return {
    name,
    holdsServer: true,
    program(log) {
      server = createServer((request, response) => {
        log.add('called')
        setTimeout(() => response.end('x'), request.url === '/slow' ? 30 : 1)
      })
      return server
    },
    call: (caller, log) => call(server, caller, log),
  }
}

async function connections(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

async function oneAndDestroy(caller: Caller): Promise<void> {
  const call = caller.open()
  await call.outcome()
  call.abort()
}

function traceEvents(
  log: ProgramLog,
  name: string,
  emitter: { emit(event: string, ...values: unknown[]): boolean },
): void {
  const emit = emitter.emit.bind(emitter)
  emitter.emit = function (event, ...values) {
    log.add(`${name} emits ${event}`)
    return emit(event, ...values)
  }
}
