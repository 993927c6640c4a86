import { createServer } from 'node:http'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Caller, Case, Handler } from '../case.ts'

/** What the caller gets of a response that ends early. */
export const programGivesUp: readonly Case[] = [
  plain('response.destroy before the head', (_, response) => response.destroy()),
  plain('response.destroy with an error before the head', (_, response) => response.destroy(new Error('why'))),
  plain(
    'response.destroy after the head',
    async (_, response) => {
      response.flushHeaders()
      await sleep(5)
      response.destroy()
    },
    waitForHead,
  ),
  plain(
    'response.destroy in the body',
    behindPart((_, response) => response.destroy()),
  ),
  plain('response.destroy in a body with a length', async (_, response) => {
    response.writeHead(200, { 'Content-Length': 10 })
    response.write('part')
    await sleep(5)
    response.destroy()
  }),
  plain('response.destroy in a body that ends with the connection', async (_, response) => {
    response.useChunkedEncodingByDefault = false
    response.write('part')
    await sleep(5)
    response.destroy()
  }),
  plain('response.destroy in the tick of the first write', (_, response) => {
    response.write('part')
    response.destroy()
  }),
  plain('response.destroy in the tick of the end', (_, response) => {
    response.end('all of it')
    response.destroy()
  }),
  plain('response.destroy in the tick of the end of several writes', async (_, response) => {
    response.write('all ')
    await sleep(2)
    response.write('of ')
    response.end('it')
    response.destroy()
  }),
  plain('trailers after the end', (_, response) => {
    response.write('x')
    response.end()
    response.addTrailers({ 'X-T': 'late' })
  }),
  plain('request.destroy', (request) => request.destroy()),
  plain('request.destroy with an error', (request) => request.destroy(new Error('why'))),
  plain(
    'request.destroy in an upload',
    (request) => request.once('data', () => request.destroy()),
    async (caller) => {
      const call = caller.stream()
      await call.write('part')
      await call.outcome()
    },
  ),
  plain('socket.destroy', (request) => request.socket.destroy()),
  plain(
    'socket.destroy in the body',
    behindPart((request) => request.socket.destroy()),
  ),
  plain(
    'socket.destroySoon in the body',
    behindPart((request) => request.socket.destroySoon()),
  ),
  plain('socket.end before the response', (request) => request.socket.end()),
  plain('socket.resetAndDestroy', (request) => request.socket.resetAndDestroy()),
  resetting('socket.resetAndDestroy in the body', (_, response) => response.write('part')),
  resetting('socket.resetAndDestroy in a body that ends with the connection', (_, response) => {
    response.useChunkedEncodingByDefault = false
    response.write('part')
  }),
  resetting('socket.resetAndDestroy in a body without a length written to the socket', ({ socket }) =>
    socket.write('HTTP/1.1 200 OK\r\n\r\npart'),
  ),
  plain('a source that fails in a pipeline', (_, response, log) => {
    async function* source(): AsyncGenerator<string> {
      yield 'part'
      await sleep(5)
      throw new Error('why')
    }
    pipeline(source, response, (error) => log.add(`pipeline ${error?.message}`))
  }),
  plain(
    'a response shorter than its content-length',
    (_, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).end('short')
    },
    undefined,
    {
      program: withoutKeepAlive((_, response) => void response.writeHead(200, { 'Content-Length': 10 }).end('short')),
    },
  ),
  plain(
    'after a destroyed response the next call is answered',
    (request, response) => {
      if (request.url === '/dies') response.destroy()
      else response.end('x')
    },
    async (caller) => {
      await caller.send({ path: '/dies' })
      await caller.send()
    },
  ),
]

/** Acts when the first part of the response has been sent. */
function behindPart(act: (...values: Parameters<Handler>) => unknown): Handler {
  return async (request, response, log) => {
    response.write('part')
    await sleep(5)
    act(request, response, log)
  }
}

function withoutKeepAlive(handler: Parameters<typeof createServer>[1] & object): Case['program'] {
  return () => Object.assign(createServer({ keepAliveTimeoutBuffer: 1 } as object, handler), { keepAliveTimeout: 1 })
}

/** `begin`: writes four bytes of a body. The program resets the connection when they have come. */
function resetting(name: string, begin: Handler): Case {
  const handler: Handler = async (request, response, log) => {
    // The caller's word, since it may be in another worker.
    if (request.url === '/arrived') return void response.once('close', () => log.addAside('the part has arrived')).end()
    begin(request, response, log)
    await log.until('the part has arrived')
    request.socket.resetAndDestroy()
  }
  return plain(name, handler, async (caller) => {
    const call = caller.open()
    await call.recording.received(4)
    await caller.send({ path: '/arrived' })
    await call.outcome()
  })
}

async function waitForHead(caller: Caller): Promise<void> {
  const call = caller.open()
  await call.recording.head()
  await call.outcome()
}
