import { createServer, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller, Case } from '../case.ts'
import type { ProgramLog } from '../program-log.ts'

/** The server behind a request: its timeouts, its connection count, how it closes. */
export const serverCases: readonly Case[] = [
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
    name: 'requestTimeout',
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
      // On a busy machine a request takes some time to arrive.
      const options = { requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 }
      return createServer(options, (request, response) => {
        log.watch(request, response)
        setTimeout(() => response.end('late'), 500)
      })
    },
  },
  {
    name: 'connection events, one for each connection',
    program: (log) => {
      const answer = answersPairs()
      const server = createServer((request, response) =>
        request.url === '/pair' ? answer(response) : response.end('x'),
      )
      return server.on('connection', (socket) => log.add(`connection ${socket instanceof Socket}`))
    },
    call: async (caller) => {
      await caller.send()
      await Promise.all([caller.send({ path: '/pair' }), caller.send({ path: '/pair' })])
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
    await Promise.all([caller.send({ path: '/pair' }), caller.send({ path: '/pair' })])
    log.add(`${await connections(server)} kept`)
    // A connection becomes idle a moment after its client has the answer, and closes after that.
    do {
      server.closeIdleConnections()
      await sleep(1)
    } while ((await connections(server)) > 0)
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
    name: 'the order of all events',
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

/** A case that has access to the server itself. */
function serverCase(
  name: string,
  call: (server: ReturnType<typeof createServer>, caller: Caller, log: ProgramLog) => Promise<void>,
): Case {
  let server: ReturnType<typeof createServer>
  return {
    name,
    holdsServer: true,
    program(log) {
      const answer = answersPairs()
      server = createServer((request, response) => {
        log.add('called')
        if (request.url === '/pair') answer(response)
        else setTimeout(() => response.end('x'), request.url === '/slow' ? 30 : 1)
      })
      return server
    },
    call: (caller, log) => call(server, caller, log),
  }
}

/** Answers when two requests wait, so that each of them needs a connection. */
function answersPairs(): (response: ServerResponse) => void {
  const waiting: ServerResponse[] = []
  return (response) => {
    waiting.push(response)
    if (waiting.length === 2) for (const one of waiting.splice(0)) one.end('x')
  }
}

async function connections(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
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
