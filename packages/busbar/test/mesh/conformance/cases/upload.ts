import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Caller, Case, Handler } from '../case.ts'

const kilobyte = Buffer.alloc(1024, 'abcdefgh')

/** Requests: what the program sees of them, and their bodies. */
export const uploadCases: readonly Case[] = [
  plain(
    'the properties of a request',
    (request, response) => {
      const { method, url, httpVersion, headers, rawHeaders, headersDistinct, complete, aborted } = request
      response.end(
        JSON.stringify({ method, url, httpVersion, headers, rawHeaders, headersDistinct, complete, aborted }),
      )
    },
    async (caller) => {
      const headers = ['X-A', '1', 'x-a', '2', 'Cookie', 'a=1', 'Cookie', 'b=2', 'Accept', '*/*', 'accept', 'text/html']
      await caller.send({ path: '/path?query=%20#not', headers: [...headers, 'User-Agent', 'a', 'User-Agent', 'b'] })
    },
  ),
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH', 'QUERY', 'REPORT'].map(
    (method) => plain(`method ${method}`, echoMethod, async (caller) => void (await caller.send({ method }))),
  ),
  plain('a body with a method that usually has none', readAll, async (caller) => {
    await caller.send({ method: 'GET', body: 'body of a GET' })
    await caller.send({ method: 'DELETE', body: 'body of a DELETE' })
  }),
  plain('a text body', readAll, async (caller) => void (await caller.send({ method: 'POST', body: 'äöü 😀' }))),
  plain('a body of bytes', readAll, async (caller) => void (await caller.send({ method: 'POST', body: kilobyte }))),
  plain('an empty upload', readAll, async (caller) => void (await caller.send({ method: 'POST', body: '' }))),
  plain('no body and no length', readAll, async (caller) => void (await caller.open({ method: 'POST' }).outcome())),
  plain('an upload of a megabyte at once', countBytes, async (caller) => {
    await caller.send({ method: 'POST', body: Buffer.alloc(1024 * 1024, 'x') })
  }),
  plain('chunks', readAll, async (caller) => {
    const call = caller.stream()
    await call.write('a')
    await call.write(Buffer.from('b'))
    await call.write('')
    await sleep(5)
    await call.write('ü')
    call.end()
  }),
  plain('a chunked body without chunks', readAll, async (caller) => caller.stream().end()),
  plain(
    'an upload with trailers',
    (request, response) => {
      request.resume()
      request.on('end', () =>
        response.end(
          JSON.stringify([request.trailers, request.rawTrailers, request.trailersDistinct, request.complete]),
        ),
      )
    },
    async (caller) => {
      const call = caller.stream({ headers: ['Trailer', 'X-T'] })
      await call.write('a')
      call.end(['X-T', '1', 'X-T', '2', 'X-U', 'v'])
    },
  ),
  plain(
    'an upload of trailers alone',
    (request, response) => {
      request.resume()
      request.on('end', () => response.end(JSON.stringify(request.trailers)))
    },
    async (caller) => caller.stream().end(['X-T', '1']),
  ),
  plain('chunks with a content-length', readAll, async (caller) => {
    const call = caller.open({ method: 'POST', headers: ['Content-Length', '4'], streamed: true })
    await call.write('ab')
    await call.write('cd')
    call.end()
  }),
  plain('an echo, piped', (request, response) => request.pipe(response), upload(512), { isDuplex: true }),
  plain(
    'an echo by pipeline',
    (request, response, log) => pipeline(request, response, (error) => log.add(`pipeline ${error?.code ?? 'ok'}`)),
    upload(64),
    { isDuplex: true },
  ),
  plain('four megabytes to a program that reads', countBytes, upload(4 * 1024)),
  plain(
    'four megabytes to a program that reads later',
    async (request, response) => {
      await sleep(20)
      countBytes(request, response)
    },
    upload(4 * 1024),
  ),
  plain(
    'four megabytes to a program that pauses',
    (request, response) => {
      let length = 0
      request.on('data', (chunk: Buffer) => {
        length += chunk.length
        request.pause()
        setImmediate(() => request.resume())
      })
      request.on('end', () => response.end(String(length)))
    },
    upload(4 * 1024),
  ),
  plain(
    'a body read by async iteration',
    async (request, response) => {
      let length = 0
      for await (const chunk of request) length += (chunk as Buffer).length
      response.end(String(length))
    },
    upload(256),
  ),
  plain(
    'a body read with an encoding',
    (request, response) => {
      request.setEncoding('utf8')
      let text = ''
      request.on('data', (chunk: string) => (text += chunk))
      request.on('end', () => response.end(text))
    },
    async (caller) => void (await caller.send({ method: 'POST', body: 'ä'.repeat(1000) })),
  ),
  plain(
    'a body read by read()',
    (request, response) => {
      let text = ''
      request.on('readable', () => {
        for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read() as Buffer | null)
          text += chunk.toString()
      })
      request.on('end', () => response.end(text))
    },
    async (caller) => void (await caller.send({ method: 'POST', body: 'x'.repeat(1000) })),
  ),
  plain(
    'a body that the program does not read',
    (_, response) => response.end('no thanks'),
    async (caller) => {
      await caller.send({ method: 'POST', body: 'x'.repeat(1000) })
      await caller.send({ method: 'POST', body: 'y' })
    },
  ),
  plain(
    'a large body that the program does not read',
    (_, response) => response.end('no thanks'),
    async (caller) => {
      await caller.send({ method: 'POST', body: 'x'.repeat(500_000) })
      await caller.send({ method: 'POST', body: 'y' })
    },
  ),
  plain(
    'a response before the body has arrived',
    (request, response, log) => {
      response.end('early')
      request.on('data', (chunk: Buffer) => log.add(`data ${chunk.toString()}`))
    },
    async (caller) => {
      const call = caller.stream()
      await call.outcome()
      await call.write('late')
      call.end()
    },
  ),
  plain(
    'a response before the body has arrived, which nothing reads',
    (_, response) => response.end('early'),
    async (caller) => {
      const call = caller.stream()
      await call.outcome()
      await call.write('late')
      call.end()
      await caller.send()
    },
  ),
  plain('consecutive calls on a keep-alive connection', readAll, async (caller) => {
    for (const body of ['a', 'b', 'c']) await caller.send({ method: 'POST', body })
  }),
  plain(
    'a response on the first chunk',
    (request, response) => {
      request.once('data', (chunk: Buffer) => response.write(`first ${chunk.toString()};`))
      request.on('end', () => response.end('end'))
    },
    async (caller) => {
      const call = caller.stream()
      await call.write('one')
      await call.recording.received(10)
      await call.write('two')
      call.end()
    },
  ),
  plain(
    'both directions alternately',
    (request, response) => {
      request.on('data', (chunk: Buffer) => response.write(chunk.toString().toUpperCase()))
      request.on('end', () => response.end())
    },
    async (caller) => {
      const call = caller.stream()
      for (let n = 1; n <= 5; n++) {
        await call.write('x')
        await call.recording.received(n)
      }
      call.end()
    },
  ),
  {
    name: 'its own request and response classes',
    program: (log) => customClasses(log),
    call: async (caller) => void (await caller.send({ method: 'POST', body: 'x' })),
  },
  {
    name: 'no host header',
    program: () => createServer((_, response) => void response.end('x')),
    call: async (caller) => {
      const rawHeaders = ['Connection', 'keep-alive']
      await caller.openRaw({ method: 'GET', path: '/', rawHeaders, body: null, streamed: false }).outcome()
    },
  },
  {
    name: 'no host header, to a server that does not require it',
    program: () => createServer({ requireHostHeader: false }, (_, response) => void response.end('x')),
    call: async (caller) => {
      const rawHeaders = ['Connection', 'keep-alive']
      await caller.openRaw({ method: 'GET', path: '/', rawHeaders, body: null, streamed: false }).outcome()
    },
  },
  {
    name: 'empty requests that the server optimizes',
    program: (log) =>
      createServer({ optimizeEmptyRequests: true } as object, (request, response) => {
        log.add(`destroyed ${request.destroyed}`)
        response.end('x')
      }),
  },
  {
    name: 'left to a byte stream: more headers than the server takes',
    handedOver: true,
    program: () =>
      Object.assign(
        createServer((request, response) => void response.end(JSON.stringify(request.headers))),
        { maxHeadersCount: 3 },
      ),
    call: async (caller) => void (await caller.send({ headers: ['X-A', '1', 'X-B', '2', 'X-C', '3'] })),
  },
]

function echoMethod(...[request, response]: Parameters<Handler>): void {
  response.end(`${request.method} ${request.url}`)
}

function readAll(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { complete, headers } = request
    response.end(
      JSON.stringify({ body: Buffer.concat(chunks).toString(), complete, length: headers['content-length'] }),
    )
  })
}

function countBytes(request: IncomingMessage, response: ServerResponse): void {
  let length = 0
  request.on('data', (chunk: Buffer) => (length += chunk.length))
  request.on('end', () => response.end(String(length)))
}

function upload(kilobytes: number): (caller: Caller) => Promise<void> {
  return async (caller) => {
    const call = caller.stream()
    for (let n = 0; n < kilobytes; n++) await call.write(kilobyte)
    call.end()
    await call.outcome()
  }
}

async function customClasses(log: { add(event: string): void }): Promise<ReturnType<typeof createServer>> {
  const { IncomingMessage, ServerResponse } = await import('node:http')
  class OwnRequest extends IncomingMessage {
    own = 'request'
  }
  class OwnResponse extends ServerResponse<OwnRequest> {
    own = 'response'
    override end(chunk?: unknown): this {
      log.add('own end')
      return super.end(chunk)
    }
  }
  return createServer({ IncomingMessage: OwnRequest, ServerResponse: OwnResponse }, (request, response) => {
    const isBase = request instanceof IncomingMessage && response instanceof ServerResponse
    const isOwn = request instanceof OwnRequest && response instanceof OwnResponse
    response.end(JSON.stringify([request.own, response.own, isBase, isOwn]))
  })
}
