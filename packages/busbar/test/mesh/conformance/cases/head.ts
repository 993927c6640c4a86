import { createServer } from 'node:http'
import { plain } from '../case.ts'
import type { Case, Handler } from '../case.ts'

/** Status, reason and headers. */
export const headCases: readonly Case[] = [
  plain('headers set one by one', (_, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.setHeader('X-Multi', ['a', 'b'])
    response.setHeader('Set-Cookie', ['a=1', 'b=2'])
    response.end('{"a":1}')
  }),
  plain('writeHead with a reason phrase and a record', (_, response) =>
    response.writeHead(201, 'Made', { 'X-A': '1', 'content-length': 2 }).end('ok'),
  ),
  plain('writeHead with a flat list', (_, response) =>
    response.writeHead(200, ['X-A', '1', 'X-A', '2', 'Set-Cookie', 'a', 'Set-Cookie', 'b']).end('ok'),
  ),
  plain('writeHead with a list of pairs', (_, response) => {
    const pairs = [
      ['X-A', '1'],
      ['X-A', '2'],
      ['Set-Cookie', 'a'],
    ]
    response.writeHead(200, pairs as unknown as string[]).end('ok')
  }),
  plain('writeHead over headers set before', (_, response) => {
    response.setHeader('x-a', '0')
    response.setHeader('X-B', 'kept')
    response.writeHead(200, ['X-A', '1', 'X-A', '2']).end('ok')
  }),
  plain('writeHead with a record over headers set before', (_, response) => {
    response.setHeader('x-a', '0')
    response.writeHead(202, { 'X-A': 1, 'X-C': ['1', '2'] }).end('ok')
  }),
  plain('appendHeader and removeHeader', (_, response) => {
    response.appendHeader('X-A', '1')
    response.appendHeader('x-a', ['2', '3'])
    response.setHeader('X-B', 'gone')
    response.removeHeader('x-b')
    response.end()
  }),
  plain('setHeaders from a Headers object', (_, response) => {
    const headers = new Headers({ 'X-A': '1' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    response.setHeaders(headers).end('ok')
  }),
  plain('several cookies in one header', (_, response) => {
    response.setHeader('Cookie', ['a=1', 'b=2'])
    response.end()
  }),
  plain('numbers and empty values as headers', (_, response) => {
    response.setHeader('X-Number', 42)
    response.setHeader('X-Empty', '')
    response.setHeader('X-None', [])
    response.end()
  }),
  plain('values with leading and trailing spaces', (_, response) => {
    response.setHeader('X-Spaces', '  a b\t')
    response.end('x')
  }),
  plain('latin1 values with a text body', (_, response) => {
    response.setHeader('X-Name', 'café')
    response.end('Käse')
  }),
  plain('latin1 values with a body of bytes', (_, response) => {
    response.setHeader('X-Name', 'café')
    response.end(Buffer.from('Käse'))
  }),
  plain('content-disposition with a length', (_, response) => {
    response.setHeader('Content-Length', 2)
    response.setHeader('Content-Disposition', 'attachment; filename="ä.txt"')
    response.end('ok')
  }),
  plain('a header called __proto__', (_, response) => {
    response.setHeader('__proto__', 'x')
    response.end('x')
  }),
  plain('headers named like properties of objects', (_, response) => {
    response.setHeader('constructor', 'x')
    response.setHeader('toString', 'y')
    response.appendHeader('toString', 'z')
    response.end('x')
  }),
  plain('200 headers', (_, response) => {
    for (let n = 0; n < 200; n++) response.setHeader(`X-${n}`, `value ${n}`)
    response.end('x')
  }),
  plain('more headers than a client accepts', (_, response) => {
    response.setHeader('X-Long', 'x'.repeat(20_000))
    response.end('x')
  }),
  plain('its own reason phrase', (_, response) => {
    response.statusMessage = 'Fine by me'
    response.end()
  }),
  plain('an empty reason phrase', (_, response) => response.writeHead(200, '').end()),
  plain('a reason phrase in latin1', (_, response) => response.writeHead(200, 'Schön').end()),
  ...[200, 201, 206, 299, 301, 400, 404, 418, 500, 599, 600, 999].map((status) =>
    plain(`status ${status}`, (_, response) => response.writeHead(status).end('body')),
  ),
  ...[204, 304].flatMap((status) => [
    plain(`status ${status}`, (_, response) => response.writeHead(status, { ETag: 'x' }).end()),
    plain(`status ${status} with a body that is not sent`, (_, response) => response.writeHead(status).end('no')),
    plain(`status ${status} with a length`, (_, response) => response.writeHead(status, { 'Content-Length': 5 }).end()),
    plain(`status ${status} in chunks`, (_, response) =>
      response.writeHead(status, { 'Transfer-Encoding': 'chunked' }).end(),
    ),
  ]),
  plain('HEAD with headers', (_, response) => response.writeHead(200, { 'X-A': '1' }).end('hidden'), headOf),
  plain('HEAD with a length', (_, response) => response.writeHead(200, { 'Content-Length': 6 }).end('hidden'), headOf),
  plain('HEAD with writes', hidden, headOf),
  plain('HEAD in chunks', (_, response) => response.writeHead(200, { 'Transfer-Encoding': 'chunked' }).end(), headOf),
  plain('no date', (_, response) => {
    response.sendDate = false
    response.end('x')
  }),
  plain('its own date', (_, response) => response.setHeader('Date', 'yesterday').end('x')),
  plain('date removed', (_, response) => {
    response.removeHeader('Date')
    response.end('x')
  }),
  plain('connection: close by the program', (_, response) => response.setHeader('Connection', 'close').end('x'), twice),
  plain('connection header removed', (_, response) => {
    response.removeHeader('Connection')
    response.end('x')
  }),
  plain('its own keep-alive header', (_, response) => response.setHeader('Keep-Alive', 'timeout=99').end('x')),
  plain('shouldKeepAlive turned off', (_, response) => {
    response.shouldKeepAlive = false
    response.end('x')
  }),
  plain(
    'connection: close by the caller',
    (request, response) => response.end(request.headers.connection),
    async (caller) => {
      await caller.send({ connection: 'close' })
    },
  ),
  plain('length removed', (_, response) => {
    response.removeHeader('Content-Length')
    response.end('x')
  }),
  plain('length and chunks removed: the body ends with the connection', (_, response) => {
    response.removeHeader('Content-Length')
    response.removeHeader('Transfer-Encoding')
    response.end('until the end')
  }),
  plain('no chunks by default: the body ends with the connection', (_, response) => {
    response.useChunkedEncodingByDefault = false
    response.write('until ')
    response.end('the end')
  }),
  plain('a length and chunks at once', (_, response) =>
    response.writeHead(200, { 'Content-Length': 2, 'Transfer-Encoding': 'chunked' }).end('ok'),
  ),
  plain('another transfer coding before the chunks', (_, response) =>
    response.writeHead(200, { 'Transfer-Encoding': 'gzip, chunked' }).end('ok'),
  ),
  plain('a length that is not a number', (_, response) =>
    response.writeHead(200, { 'Content-Length': 'two' }).end('ok'),
  ),
  plain('two lengths', (_, response) =>
    response.writeHead(200, ['Content-Length', '2', 'Content-Length', '2']).end('ok'),
  ),
  plain('an upgrade header without an upgrade', (_, response) =>
    response.writeHead(200, { Upgrade: 'h2c', Connection: 'upgrade' }).end('ok'),
  ),
  plain('headersSent', (_, response, log) => {
    log.add(`before ${response.headersSent}`)
    response.writeHead(200)
    log.add(`after ${response.headersSent}`)
    response.end('x', () => log.add(`finished ${response.writableFinished}, socket ${response.socket === null}`))
    log.add(`ended ${response.writableEnded}`)
  }),
  plain('invalid values', (_, response, log) => {
    attempt(log, () => response.setHeader('bad name', 'x'))
    attempt(log, () => response.setHeader('x', 'a\nb'))
    attempt(log, () => response.setHeader('x', undefined as unknown as string))
    attempt(log, () => response.writeHead(99))
    attempt(log, () => response.writeHead(200, 'a\nb'))
    response.statusMessage = 'OK'
    attempt(log, () => response.writeHead(200, { 'bad name': 'x' }))
    attempt(log, () => response.writeHead(200, { x: 'a\nb' }))
    attempt(log, () => response.writeHead(200, ['x']))
    attempt(log, () => response.writeHead(200, { Trailer: 'X', 'Content-Length': 1 }))
    response.end('x')
  }),
  plain('headers after the head is sent', (_, response, log) => {
    response.write('x')
    attempt(log, () => response.setHeader('x', '1'))
    attempt(log, () => response.removeHeader('x'))
    attempt(log, () => response.writeHead(200))
    response.end()
  }),
  plain('flushHeaders before the body', async (_, response) => {
    response.setHeader('X-A', '1')
    response.flushHeaders()
    await new Promise(setImmediate)
    response.end('late')
  }),
  plain(
    'headers are there before the body is',
    (_, response, log) => {
      response.flushHeaders()
      void log.until('head seen').then(() => response.end('late'))
    },
    async (caller, log) => {
      const call = caller.open()
      await call.recording.head()
      log.add('head seen')
      await call.outcome()
    },
  ),
  {
    name: 'headers that the server joins',
    program: (log) =>
      createServer({ uniqueHeaders: ['X-One'], joinDuplicateHeaders: true }, (request, response) => {
        log.watch(request, response)
        log.add(JSON.stringify(request.headers))
        response.setHeader('X-One', ['a', 'b'])
        response.end('x')
      }),
    call: async (caller) => void (await caller.send({ headers: ['X-A', '1', 'X-A', '2', 'From', 'a', 'From', 'b'] })),
  },
  {
    name: 'the limit of requests per connection',
    program: (log) => {
      const server = createServer((request, response) => {
        log.watch(request, response)
        response.end('x')
      })
      server.maxRequestsPerSocket = 2
      return server
    },
    call: async (caller) => {
      for (let n = 0; n < 5; n++) await caller.send()
    },
  },
  {
    name: 'no keep-alive timeout',
    program: () =>
      Object.assign(
        createServer((_, response) => void response.end('x')),
        { keepAliveTimeout: 0 },
      ),
  },
]

async function headOf(caller: { send(options: object): Promise<unknown> }): Promise<void> {
  await caller.send({ method: 'HEAD' })
}

async function twice(caller: { send(): Promise<unknown> }): Promise<void> {
  await caller.send()
  await caller.send()
}

function hidden(...[, response]: Parameters<Handler>): void {
  response.write('hid')
  response.end('den')
}

function attempt(log: { add(event: string): void }, action: () => unknown): void {
  try {
    action()
    log.add('allowed')
  } catch (error) {
    log.add(String((error as { code?: string }).code))
  }
}
