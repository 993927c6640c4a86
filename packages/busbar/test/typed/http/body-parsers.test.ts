import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { connect, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import { client } from '../../../src/contract/client-entry.ts'
import { fn, service, stream, type, type Log } from '../../../src/contract/index.ts'
import { nodeListener } from '../../../src/gateway/typed/adapters/index.ts'

type Middleware = (req: IncomingMessage & { body?: unknown }, res: unknown, next: () => void) => void
interface Express {
  (): RequestListener & { use(...handlers: (Middleware | RequestListener | string)[]): void }
  readonly json: (options?: object) => Middleware
  readonly urlencoded: (options: object) => Middleware
  readonly raw: (options: object) => Middleware
  readonly text: (options: object) => Middleware
}
const load = createRequire(import.meta.url)
const multer = load('multer') as () => { any(): Middleware; none(): Middleware }

const notes = service('notes', {
  add: fn({ input: z.object({ text: z.string(), at: z.date().optional() }), output: z.int() }),
  echo: fn({ input: type<unknown>(), output: type<unknown>() }),
  sum: fn({ input: z.array(z.number()), output: z.number(), http: 'POST /sum' }),
  words: stream({ input: z.object({ text: z.string() }), output: z.string() }),
  count: fn({ output: z.int() }),
})

const lines: string[] = []
const log: Log = { debug() {}, info() {}, warn() {}, error: (line) => void lines.push(line) }

/** A server with this middleware before the service. */
async function withApp(
  before: (express: Express) => readonly Middleware[],
  run: (url: string, version: string) => Promise<void>,
): Promise<void> {
  for (const version of ['express', 'express4']) {
    const express = load(version) as Express
    await using listener = nodeListener(
      notes.implement({
        add: ({ text, at }) => text.length + (at?.getTime() ?? 0),
        echo: (input) => input,
        sum: (numbers) => numbers.reduce((sum, number) => sum + number, 0),
        async *words({ text }) {
          yield* text.split(' ')
        },
        count: () => 7,
      }),
      { log, maxInputSize: 1000 },
    )
    const app = express()
    app.use(...before(express))
    app.use('/api', listener)
    const server: Server = createServer(app)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, version)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

async function post(
  url: string,
  body: RequestInit['body'],
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<[status: number, answer: any]> {
  const response = await fetch(url, { method: 'POST', headers, body: body ?? null, duplex: 'half' })
  const text = await response.text()
  return [response.status, text === '' ? undefined : JSON.parse(text)]
}

const stacks: Record<string, (express: Express) => readonly Middleware[]> = {
  'express.json()': ({ json }) => [json()],
  'express.json() and express.urlencoded()': ({ json, urlencoded }) => [json(), urlencoded({ extended: true })],
  'express.json() that takes any value': ({ json }) => [json({ strict: false })],
  'express.raw() of JSON': ({ raw }) => [raw({ type: 'application/json' })],
  'express.raw() of everything': ({ raw }) => [raw({ type: '*/*' })],
  'express.text() of everything': ({ text }) => [text({ type: '*/*' })],
  'express.urlencoded() and multer, which leave JSON alone': ({ urlencoded }) => [
    urlencoded({ extended: false }),
    multer().any(),
  ],
  'one who paused the body': () => [(req, _res, next) => void (req.pause(), setImmediate(next))],
  'one who reads it as text of his own': () => [
    (req, _res, next) => {
      let text = ''
      req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      req.on('end', () => {
        if (text !== '') req.body = JSON.parse(text)
        next()
      })
    },
  ],
  'one who asked for text and read nothing': () => [(req, _res, next) => (req.setEncoding('utf8'), next())],
  'one who still listens for it': () => [(req, _res, next) => (req.on('readable', () => {}), next())],
}

describe('a typed service behind a body parser', () => {
  for (const [name, stack] of Object.entries(stacks)) {
    it(`answers behind ${name}`, async () => {
      await withApp(stack, async (url) => {
        const calls = client(notes, url)
        assert.equal(await calls.add({ text: 'four', at: new Date(1000) }), 1004)
        assert.equal(await calls.sum([1, 2]), 3)
        assert.equal(await calls.count(), 7)
        const words: string[] = []
        for await (const word of calls.words({ text: 'a b' })) words.push(word)
        assert.deepEqual(words, ['a', 'b'])
        const values = { big: 12n, map: new Map([['a', 1]]), text: 'grün €', list: [undefined, NaN], plain: { $x: 1 } }
        assert.deepEqual(await calls.echo(values), values)
        await assert.rejects(calls.add({} as never), { code: 'INPUT_INVALID' })
      })
    })

    it(`refuses the same behind ${name}`, async () => {
      await withApp(stack, async (url) => {
        const polluted = await post(`${url}/notes/echo`, '{"a":1,"__proto__":{"b":1}}')
        assert.deepEqual([polluted[0], polluted[1]?.code], [422, 'INPUT_INVALID'])
        const form = { 'content-type': 'application/x-www-form-urlencoded' }
        // A parser that parses everything as JSON fails earlier.
        if (name.startsWith('one who reads')) return
        assert.equal((await post(`${url}/notes/add`, 'text=a', form))[0], 415)
        assert.equal((await post(`${url}/notes/add`, JSON.stringify({ text: 'x'.repeat(2000) })))[0], 413)
      })
    })
  }

  it('accepts a text, parsed or not', async () => {
    for (const [value, stack] of [
      ['text', stacks['express.json() that takes any value']],
      ['7', stacks['express.json() that takes any value']],
      ['text', stacks['express.text() of everything']],
      ['7', stacks['express.text() of everything']],
    ] as const)
      await withApp(stack!, async (url) => assert.equal(await client(notes, url).echo(value), value))
  })

  it('accepts a body that a parser has inflated, and answers 415 to a compressed one', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = gzipSync('{"text":"four"}')
    await withApp(stacks['express.json()']!, async (url) => {
      assert.deepEqual(await post(`${url}/notes/add`, body, headers), [200, 4])
    })
    await withApp(
      () => [(_req, _res, next) => next()],
      async (url) => {
        assert.equal((await post(`${url}/notes/add`, body, headers))[0], 415)
      },
    )
  })

  it('answers 415 to a form that a parser has read', async () => {
    const form = new FormData()
    form.set('text', 'a')
    for (const stack of [() => [multer().any()], () => [multer().none()]])
      await withApp(stack, async (url) => assert.equal((await post(`${url}/notes/add`, form, {}))[0], 415))
  })
})

describe('a typed service with a consumed or destroyed body', () => {
  const swallowed: Record<string, Middleware> = {
    'was read without setting req.body': (req, _res, next) => void req.resume().on('end', next),
    'was read in part': (req, _res, next) => void req.once('readable', () => (req.read(5), next())),
    'flows to another reader': (req, _res, next) => {
      req.once('data', () => setImmediate(next))
    },
  }
  for (const [what, middleware] of Object.entries(swallowed))
    it(`answers with an error of the program if it ${what}`, async () => {
      await withApp(
        () => [middleware],
        async (url) => {
          lines.length = 0
          const [status, problem] = await post(`${url}/notes/add`, '{"text":"a"}')
          assert.deepEqual([status, problem.code], [500, 'INTERNAL'])
          assert.match(lines.join('\n'), /notes\.add failed .*body.*read before/s)
        },
      )
    })

  it('answers if it was empty and already read', async () => {
    await withApp(
      () => [swallowed['was read without setting req.body']!],
      async (url) => {
        const body = new ReadableStream({ start: (controller) => controller.close() })
        assert.deepEqual(await post(`${url}/notes/count`, body, {}), [200, 7])
      },
    )
  })

  it('makes no call if it was destroyed, and does not wait', async () => {
    const came = Promise.withResolvers<IncomingMessage>()
    await withApp(
      () => [
        (req, _res, next) => {
          req.destroy()
          setImmediate(() => {
            next()
            came.resolve(req)
          })
        },
      ],
      async (url) => {
        const sent = request(`${url}/notes/add`, { method: 'POST', headers: { 'content-type': 'application/json' } })
        sent.end('{"text":"a"}')
        await assert.rejects(once(sent, 'response'), { code: 'ECONNRESET' })
        const { listenerCount } = await came.promise.then((req) => ({ listenerCount: req.listenerCount('data') }))
        assert.equal(listenerCount, 0)
      },
    )
  })

  it('ends when the client disconnects within the body', async () => {
    const came = Promise.withResolvers<IncomingMessage>()
    await withApp(
      () => [
        (req, _res, next) => {
          if (req.url === '/api/notes/add') came.resolve(req)
          next()
        },
      ],
      async (url) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.write(
          'POST /api/notes/add HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
        )
        const req = await came.promise
        socket.destroy()
        if (!req.closed) await new Promise<void>((resolve) => req.on('close', resolve))
        assert.equal(await client(notes, url).count(), 7)
      },
    )
  })
})
