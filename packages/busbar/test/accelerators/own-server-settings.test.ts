/** What a program sets on its own server applies to the requests that the gateway passes to it. */
import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

interface Program {
  readonly source: string
  /** Status and body of the response. */
  readonly expected: readonly [status: number | undefined, body: string]
}

const programs: Readonly<Record<string, Program>> = {
  'reads-headers-distinct': {
    source: `http.createServer((req, res) => res.end(req.headersDistinct['x-forwarded-prefix']?.join()))`,
    expected: [200, '/reads-headers-distinct'],
  },
  'joins-headers': {
    source: `http.createServer({ joinDuplicateHeaders: true }, (req, res) => res.end(req.headers.age))`,
    expected: [200, '1, 2'],
  },
  'has-unique-headers': {
    source: `http.createServer({ uniqueHeaders: ['x-list'] }, (_, res) => {
      res.setHeader('x-list', ['a', 'b']).end('list')
    })`,
    expected: [200, 'list a; b'],
  },
  'rejects-writes': {
    source: `http.createServer({ rejectNonStandardBodyWrites: true }, (_, res) => {
      res.statusCode = 204
      try { res.write('body') } catch (error) { res.socket.end('HTTP/1.1 200 OK\\r\\n\\r\\n' + error.code) }
    })`,
    expected: [200, 'ERR_HTTP_BODY_NOT_ALLOWED'],
  },
  'buffers-little': {
    source: `http.createServer({ highWaterMark: 10 }, (_, res) => res.end(String(res.writableHighWaterMark)))`,
    expected: [200, '10'],
  },
  'limits-the-size': {
    source: `http.createServer({ maxHeaderSize: 100 }, (_, res) => res.end('too large'))`,
    expected: [431, ''],
  },
  'limits-headers': {
    source: `Object.assign(http.createServer((_, res) => res.end('too many')), { maxHeadersCount: 2 })`,
    expected: [431, ''],
  },
  'marks-connections': {
    source: `http.createServer((req, res) => res.end(req.socket.mark)).on('connection', (socket) => (socket.mark = 'marked'))`,
    expected: [200, 'marked'],
  },
  'times-out': {
    source: `http.createServer(() => {}).setTimeout(20, (socket) => socket.end('HTTP/1.1 408 Slow\\r\\nContent-Length: 4\\r\\n\\r\\nslow'))`,
    expected: [408, 'slow'],
  },
  'ends-slow-requests': {
    source: `http.createServer((req) => req.socket.setTimeout(20)).on('timeout', (socket) => {
      socket.end('HTTP/1.1 408 Slow\\r\\nContent-Length: 4\\r\\n\\r\\nslow')
    })`,
    expected: [408, 'slow'],
  },
}

/** Has no settings. Answers with the port of its connection's other end. */
const standard = `http.createServer((req, res) => res.end(String(req.socket.remotePort)))`

const head = `const http = require('node:http')\n`

for (const accelerators of [[], ['handover']] as const)
  test(`a server's own settings, with ${accelerators[0] ?? 'no accelerators'}`, async (t) => {
    const sources = Object.entries({ ...programs, standard: { source: standard } })
    using folder = new TestFolder(
      Object.fromEntries(sources.map(([name, { source }]) => [`${name}/index.cjs`, `${head}${source}.listen(3000)`])),
    )
    const services = Object.fromEntries(
      sources.map(([name]) => [name, { file: folder.at(`${name}/index.cjs`), run: 'shared' as const }]),
    )
    const routes = sources.map(([service]) => ({ host: undefined, prefix: `/${service}`, service }))
    await using app = await TestApp.start({ accelerators, services, gateway: { entry: undefined, routes } })
    for (const [name, { expected }] of Object.entries(programs))
      await t.test(name, async () => {
        deepEqual((await ask(new URL(name, app.url))).answer, expected)
      })
    await t.test('a program without settings has the connection of the client if it is handed over', async () => {
      const { answer, localPort } = await ask(new URL('standard', app.url))
      equal(answer[1] === String(localPort), accelerators.length > 0)
    })
  })

async function ask(url: URL) {
  const outgoing = request(url, { agent: false, headers: ['host', url.host, 'age', '1', 'age', '2'] })
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage]
  const { localPort } = response.socket
  const list = response.headers['x-list']
  const body = await text(response)
  return { answer: [response.statusCode, list === undefined ? body : `${body} ${String(list)}`], localPort }
}
