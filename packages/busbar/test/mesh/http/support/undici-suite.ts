import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Readable, Writable, finished } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, suite, test } from 'node:test'
import {
  loadInstalled,
  ProgramFolder,
  type Answer,
  type Undici,
  type UndiciDispatcher,
  type Version,
} from './copies.ts'
import { hash, whole } from './program.ts'
import { comparableHeaders, describe, failure, neutral, openSides, type Side, type Sides } from './sides.ts'

/** A copy of undici, and where it calls the program. */
interface Caller {
  readonly undici: Undici
  readonly side: Side
  /** Joined to the options of every call. */
  readonly extra: object
}

type Way = 'wrapped' | 'by dispatcher' | 'wrapped, to the network'

/** Where it matters whose dispatcher is the global one: a copy that knows nothing of the mesh then has the built-in's. */
const ownDispatcher: readonly Way[] = ['wrapped', 'wrapped, to the network']
const allWays: readonly Way[] = ['wrapped', 'by dispatcher', 'wrapped, to the network']

/**
 * Each version in a process of its own: which copy's dispatcher is the global one depends on what was loaded first.
 * All ways must look like that version over a connection of its own.
 */
export function testUndici(version: Version): void {
  /** A copy that was loaded before the mesh is known to its dispatchers alone; one that is loaded after, to its hooks. */
  const early = loadInstalled(version)
  const folder = new ProgramFolder(version)
  let late: Undici
  let agent: UndiciDispatcher
  let sides: Sides

  suite(`a program's own ${version}`, () => {
    before(async () => {
      sides = await openSides()
      late = folder.load()
      agent = new early.Agent()
    })
    after(async () => {
      await agent.close()
      await late.getGlobalDispatcher().close()
      await early.getGlobalDispatcher().close()
      await sides[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    })

    function callerOf(way: Way | 'reference'): Caller {
      switch (way) {
        case 'wrapped':
          return { undici: late, side: sides.mesh, extra: {} }
        case 'by dispatcher':
          return { undici: early, side: sides.mesh, extra: {} }
        case 'wrapped, to the network':
          return { undici: late, side: sides.tcp, extra: {} }
        case 'reference':
          return { undici: early, side: sides.tcp, extra: { dispatcher: agent } }
      }
    }

    function same(name: string, observe: (caller: Caller) => unknown, ways: readonly Way[] = allWays): void {
      test(name, async () => {
        const reference = await observe(callerOf('reference'))
        ok(reference !== undefined)
        for (const way of ways) deepStrictEqual(await observe(callerOf(way)), reference, way)
      })
    }

    suite('request: what comes back', () => {
      for (const path of [
        '/json',
        '/text',
        '/bom',
        '/bytes',
        '/empty',
        '/latin1',
        '/large',
        '/chunks',
        '/split',
        '/headers',
        '/trailers',
        '/coded',
        '/nowhere',
        '/redirect',
      ])
        same(`of ${path}`, async (caller) => {
          const answer = await request(caller, path)
          return [headOf(answer), await answer.body.text(), answer.trailers]
        })
      for (const code of [200, 201, 204, 304, 404, 500])
        same(`with status ${code}`, async (caller) => {
          const answer = await request(caller, `/status?code=${code}&text=Some%20Reason`)
          return [headOf(answer), await answer.body.text()]
        })
      for (const path of ['/json', '/bom', '/bad-json', '/empty'])
        same(`of ${path} as JSON`, async (caller) => {
          const { body } = await request(caller, path)
          return body.json().catch((error: Error) => [error.name, error.message])
        })
      for (const path of ['/bytes', '/large', '/empty', '/chunks'])
        same(`of ${path} as bytes of all kinds`, async (caller) => {
          const buffer = await (await request(caller, path)).body.arrayBuffer()
          const bytes = await (await request(caller, path)).body.bytes()
          const blob = await (await request(caller, path)).body.blob()
          const node = await whole((await request(caller, path)).body)
          const kinds = [
            buffer.constructor.name,
            buffer.byteLength,
            bytes.constructor.name,
            blob.constructor.name,
            blob.type,
          ]
          return [kinds, [new Uint8Array(buffer), bytes, new Uint8Array(await blob.arrayBuffer()), node].map(hash)]
        })
      same('of HEAD', async (caller) => {
        const answer = await request(caller, '/json', { method: 'HEAD' })
        return [headOf(answer), await answer.body.text()]
      })
      same('as form data, which undici refuses', async (caller) => {
        const { body } = await request(caller, '/json')
        const refused = await failure(() => body.formData())
        await body.dump()
        return refused
      })
      same('raw headers', async (caller) => {
        const answer = await request(caller, '/json', { responseHeaders: 'raw' })
        const names = (answer.headers as unknown as (string | Buffer)[]).map(String).filter((_, at) => at % 2 === 0)
        await answer.body.dump()
        return names
          .map((name) => name.toLowerCase())
          .filter((name) => name.startsWith('content'))
          .toSorted()
      })
      same('information before the head', async (caller) => {
        const told: unknown[] = []
        const onInfo = (info: { statusCode: number; headers: unknown }) => told.push(info.statusCode, info.headers)
        const answer = await request(caller, '/hints', { onInfo })
        return [told, await answer.body.text()]
      })
      same(
        'context',
        async (caller) => {
          const answer = await request(caller, '/json')
          await answer.body.dump()
          return [answer.context]
        },
        ownDispatcher,
      )
      same('opaque', async (caller) => {
        const answer = await request(caller, '/json', { opaque: { mine: 1 } })
        await answer.body.dump()
        return answer.opaque
      })
      same('to a callback', async (caller) => {
        const { promise, resolve } = Promise.withResolvers<unknown[]>()
        const { undici, side, extra } = caller
        const returned = undici.request(`${side.at}/json`, { ...extra }, (...given: unknown[]) => resolve(given))
        const [error, answer] = (await promise) as [Error | null, Answer]
        return [returned, error, await answer.body.json()]
      })
    })

    suite('request: the body', () => {
      same("is of the version's own class and a Node stream", async (caller) => {
        const { body } = await request(caller, '/json')
        const kind = [
          body.constructor.name,
          body instanceof Readable,
          body instanceof EventEmitter,
          body.bodyUsed,
          body.readable,
        ]
        await body.dump()
        return kind
      })
      same('answers only once', async (caller) => {
        const { body } = await request(caller, '/json')
        const first = await body.json()
        return [
          first,
          body.bodyUsed,
          Readable.isDisturbed(body),
          await failure(() => body.text()),
          await failure(() => body.json()),
        ]
      })
      same('has ended once it was read', async (caller) => {
        const { body } = await request(caller, '/json')
        await body.text()
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => finished(body, resolve))
        const ended = [body.destroyed, body.readableEnded, body.closed]
        body.destroy()
        return [ended, await body.dump(), body.errored]
      })
      same('is dumped', async (caller) => {
        const small = await (await request(caller, '/json')).body.dump()
        const empty = await (await request(caller, '/empty')).body.dump()
        return [small ?? null, empty ?? null]
      })
      same('is dumped up to a limit', async (caller) => {
        const { body } = await request(caller, '/large?size=3000000')
        return [await failure(() => body.dump({ limit: 1000 })), body.destroyed]
      })
      same('gives data and end', async (caller) => {
        const { body } = await request(caller, '/large')
        const chunks: Buffer[] = []
        body.on('data', (chunk: Buffer) => chunks.push(chunk))
        await once(body, 'end')
        return [chunks.every((chunk) => Buffer.isBuffer(chunk)), hash(Buffer.concat(chunks))]
      })
      same('gives text in an encoding', async (caller) => {
        const { body } = await request(caller, '/split')
        body.setEncoding('utf8')
        let text = ''
        body.on('data', (chunk: string) => (text += chunk))
        await once(body, 'end')
        return text
      })
      same('is piped', async (caller) => {
        const { body } = await request(caller, '/large')
        const sink = new Collector()
        await pipeline(body, sink)
        return [hash(sink.bytes), body.destroyed]
      })
      same('is a web stream', async (caller) => {
        const { body } = await request(caller, '/chunks')
        const stream = body.body
        const text = await new Response(stream).text()
        return [text, body.bodyUsed, await failure(() => body.text())]
      })
      same('is locked by its web stream', async (caller) => {
        const { body } = await request(caller, '/json')
        const reader = body.body.getReader()
        const refused = await failure(() => body.text())
        await reader.cancel()
        return refused
      })
      same('is destroyed, which the program sees', async (caller) => {
        const before = caller.side.seen.length
        const { body } = await request(caller, '/endless')
        const closed = once(body, 'close').catch((error: unknown) => describe(error))
        body.on('error', () => {})
        body.destroy()
        return [await caller.side.seen[before]!.over, (await closed) !== undefined, body.destroyed]
      })
      same('is destroyed with an error', async (caller) => {
        const { body } = await request(caller, '/endless')
        const failed = once(body, 'error')
        body.destroy(new RangeError('enough'))
        return describe((await failed)[0])
      })
      same('is left by a loop, which the program sees', async (caller) => {
        const before = caller.side.seen.length
        for await (const chunk of (await request(caller, '/endless')).body) if (chunk.length > 0) break
        return caller.side.seen[before]!.over
      })
      same('waits for who reads it later', async (caller) => {
        const { body } = await request(caller, '/large?size=2000000')
        await new Promise((resolve) => setTimeout(resolve, 20))
        return hash(await whole(body))
      })
      same('emits nothing to who listens only after it was read', async (caller) => {
        const { body } = await request(caller, '/json')
        await body.text()
        let ends = 0
        body.on('end', () => ends++)
        body.on('data', () => ends++)
        await new Promise((resolve) => setImmediate(resolve))
        return ends
      })
    })

    suite('request: what is sent', () => {
      const bodies: Record<string, () => unknown> = {
        nothing: () => undefined,
        null: () => null,
        text: () => 'hé✓',
        'empty text': () => '',
        bytes: () => Buffer.from([0, 255]),
        'no bytes': () => new Uint8Array(0),
        'a view': () => new Uint16Array([1, 2]),
        'an array buffer': () => new Uint8Array([1, 2]).buffer,
        'a readable': () => Readable.from([Buffer.from('one'), Buffer.from('two')], { objectMode: false }),
        'a readable of objects': () => Readable.from(['one', 'two']),
        'an empty readable': () => Readable.from([]),
        'a blob': () => new Blob(['blob'], { type: 'text/x' }),
        'an iterable': () => [Buffer.from('one'), Buffer.from('two')],
        'an async iterable': () =>
          (async function* () {
            yield 'one'
            await Promise.resolve()
            yield Buffer.from('two')
          })(),
        'a web stream': () => ReadableStream.from([Buffer.from('web')]),
        'a large stream': () => Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(20_000, 'y'))),
      }
      for (const [name, body] of Object.entries(bodies))
        for (const method of ['POST', 'DELETE', undefined])
          same(`${name} by ${method ?? 'the default'}`, async (caller) => {
            const options = { body: body(), ...(method !== undefined && { method }) }
            return (await request(caller, '/echo', options)).body.json()
          })
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
        same(`${method} without a body`, async (caller) => (await request(caller, '/echo', { method })).body.text())
      const headers: Record<string, unknown> = {
        'a record': { 'X-One': '1', 'x-list': ['a', 'b'], 'x-number': 5, 'x-null': null, 'x-undefined': undefined },
        'a flat list': ['X-One', '1', 'x-one', '2'],
        'a Map': new Map([['x-one', '1']]),
        'a Headers': new Headers({ b: '2', a: '1' }),
        'a host': { host: 'elsewhere.example' },
        'the right length': { 'content-length': '4' },
        'a connection': { connection: 'close' },
        'non-ASCII': { 'x-latin': 'caf\u00e9' },
        empty: { 'x-empty': '' },
        'a boolean': { 'x-flag': true },
      }
      for (const [name, given] of Object.entries(headers))
        same(`headers: ${name}`, async (caller) =>
          (await request(caller, '/echo', { method: 'POST', body: 'four', headers: given })).body.json(),
        )
      same('a length for a stream', async (caller) => {
        const body = Readable.from([Buffer.from('one'), Buffer.from('two')])
        return (
          await request(caller, '/echo', { method: 'POST', body, headers: { 'content-length': '6' } })
        ).body.json()
      })
      same('a query', async (caller) =>
        (await request(caller, '/echo', { query: { a: 1, b: ['x', 'y'], c: 'ü &' } })).body.json(),
      )
      for (const path of ['/echo?a=b', '/echo#part', '/echo?', '/x/../echo', '/echo?ü', ''])
        same(`the path ${JSON.stringify(path)}`, async (caller) => {
          const answer = await request(caller, path)
          return [answer.statusCode, await answer.body.text()]
        })
      same('a URL object', async ({ undici, side, extra }) =>
        (await undici.request(new URL('/echo', side.at), { ...extra })).body.json(),
      )
      same('an object that is like a URL', async ({ undici, side, extra }) => {
        const { protocol, hostname, port } = new URL(side.at)
        return (await undici.request({ protocol, hostname, port, path: '/echo' }, { ...extra })).body.json()
      })
      same('a path among the options', async ({ undici, side, extra }) =>
        (await undici.request(side.at, { ...extra, path: '/echo?a' })).body.json(),
      )
      same(
        'a form of the copy',
        async (caller) => {
          const form = new caller.undici.FormData()
          form.append('a', 'b')
          const answer = await request(caller, '/form', { method: 'POST', body: form })
          return answer.body.json()
        },
        ownDispatcher,
      )
      same('an early answer', async (caller) => {
        const body = Readable.from(Array.from({ length: 5 }, () => Buffer.alloc(1000)))
        const answer = await request(caller, '/early-answer', { method: 'POST', body })
        return [answer.statusCode, await answer.body.text()]
      })
    })

    suite('request: what fails', () => {
      const wrong: Record<string, object> = {
        'a header with a line break': { headers: { a: 'b\nc' } },
        'a name that is none': { headers: { 'a b': 'c' } },
        'an uneven list': { headers: ['a'] },
        'an object for a header': { headers: { a: {} } },
        'a wrong length': { method: 'POST', body: 'four', headers: { 'content-length': '5' } },
        'a length that is none': { headers: { 'content-length': 'x' } },
        'transfer-encoding': { headers: { 'transfer-encoding': 'chunked' } },
        expect: { headers: { expect: '100-continue' } },
        'a method that is none': { method: 'A B' },
        CONNECT: { method: 'CONNECT' },
        'a body that is none': { method: 'POST', body: 5 },
        'a query beside one in the path': { path: '/a?b', query: { c: 1 } },
        'a timeout that is none': { headersTimeout: -1 },
        'a signal that is none': { signal: 'x' },
        'a callback that is none': { onInfo: 5 },
        'a high water mark that is none': { highWaterMark: -1 },
        'an agent': { agent: {} },
        throwOnError: { throwOnError: true, path: '/status?code=404' },
        redirections: { maxRedirections: 2, path: '/redirect' },
      }
      for (const [name, options] of Object.entries(wrong))
        same(
          name,
          async (caller) => {
            try {
              const answer = await request(caller, '/json', options)
              return [answer.statusCode, await answer.body.text()]
            } catch (error) {
              return describe(error)
            }
          },
          name === 'throwOnError' || name === 'redirections' ? ownDispatcher : allWays,
        )
      same('a stream that fails', async (caller) => {
        const body = new Readable({
          read() {
            this.destroy(new RangeError('no more'))
          },
        })
        return failure(() => request(caller, '/echo', { method: 'POST', body }))
      })
      same('an iterable that throws in the middle', async (caller) => {
        async function* chunks() {
          yield 'one'
          await new Promise((resolve) => setImmediate(resolve))
          throw new RangeError('no more')
        }
        return failure(() => request(caller, '/echo', { method: 'POST', body: chunks() }))
      })
      same('a stream that is longer than it said', (caller) =>
        failure(() =>
          request(caller, '/echo', {
            method: 'POST',
            body: Readable.from([Buffer.from('four')]),
            headers: { 'content-length': '2' },
          }),
        ),
      )
      same('a stream that is shorter than it said', (caller) =>
        failure(() =>
          request(caller, '/echo', {
            method: 'POST',
            body: Readable.from([Buffer.from('four')]),
            headers: { 'content-length': '9' },
          }),
        ),
      )
      same('a connection cut before the head', async (caller) => {
        const failed = (await request(caller, '/cut-early').catch((error: unknown) => error)) as Error
        return [
          describe(failed, 0),
          failed instanceof caller.undici.errors['SocketError']!,
          failed instanceof caller.undici.errors['UndiciError']!,
        ]
      })
      same('a connection cut in the body', async (caller) => {
        const { body, statusCode } = await request(caller, '/cut-late')
        const failed = await body.text().catch((error: unknown) => error)
        return [statusCode, describe(failed, 0), failed instanceof caller.undici.errors['SocketError']!]
      })
      same('a connection cut in a body that is listened to', async (caller) => {
        const { body } = await request(caller, '/cut-late')
        let text = ''
        body.on('data', (chunk: Buffer) => (text += String(chunk)))
        const [error] = await once(body, 'error', {}).catch((error: unknown) => [error])
        return [text, describe(error, 0), body.destroyed]
      })
      same('no head in time', async (caller) => {
        const before = caller.side.seen.length
        const failed = (await request(caller, '/never', { headersTimeout: 50 }).catch(
          (error: unknown) => error,
        )) as Error
        return [
          describe(failed),
          failed instanceof caller.undici.errors['HeadersTimeoutError']!,
          await caller.side.seen[before]!.over,
        ]
      })
      same('no body in time', async (caller) => {
        const before = caller.side.seen.length
        const { body } = await request(caller, '/head-then-never', { bodyTimeout: 50 })
        const failed = (await body.text().catch((error: unknown) => error)) as Error
        return [
          describe(failed),
          failed instanceof caller.undici.errors['BodyTimeoutError']!,
          await caller.side.seen[before]!.over,
        ]
      })
      test('a service of which no instance serves refuses, as a closed port does', async () => {
        for (const copy of [early, late]) {
          const refused = (await copy
            .request('http://absent.internal/')
            .catch((error: unknown) => error)) as NodeJS.ErrnoException
          equal(refused.code, 'ECONNREFUSED')
        }
      })
    })

    suite('request: giving up', () => {
      same('before the call', (caller) => failure(() => request(caller, '/json', { signal: AbortSignal.abort() })))
      same('while waiting, with a reason', async (caller) => {
        const controller = new AbortController()
        const reason = new RangeError('enough')
        const before = caller.side.seen.length
        const answer = request(caller, '/never', { signal: controller.signal }).catch(
          (error: unknown) => error === reason,
        )
        while (caller.side.seen.length <= before) await new Promise((resolve) => setImmediate(resolve))
        controller.abort(reason)
        return [await answer, await caller.side.seen[before]!.over]
      })
      same('by an emitter', async (caller) => {
        const signal = new EventEmitter()
        const answer = failure(() => request(caller, '/never', { signal }))
        setTimeout(() => signal.emit('abort'), 20)
        return answer
      })
      same('while the body is read', async (caller) => {
        const controller = new AbortController()
        const before = caller.side.seen.length
        const { body } = await request(caller, '/head-then-never', { signal: controller.signal })
        const text = failure(() => body.text())
        setImmediate(() => controller.abort())
        return [await text, await caller.side.seen[before]!.over]
      })
      same('before the body is read', async (caller) => {
        const controller = new AbortController()
        const { body } = await request(caller, '/head-then-never', { signal: controller.signal })
        controller.abort()
        return [body.destroyed, await failure(() => body.text())]
      })
      same('after the body was read', async (caller) => {
        const controller = new AbortController()
        const { body } = await request(caller, '/json', { signal: controller.signal })
        const read = await body.json()
        controller.abort()
        return [read, body.bodyUsed]
      })
    })

    suite('the other functions', () => {
      same('stream', async ({ undici, side, extra }) => {
        const sink = new Collector()
        const heads: unknown[] = []
        const result = (await undici.stream(`${side.at}/large`, { ...extra, method: 'GET', opaque: 1 }, (head) => {
          heads.push(head.statusCode, head.opaque, comparableHeaders(Object.entries(head.headers)))
          return sink
        })) as object
        return [heads, hash(sink.bytes), Object.keys(result)]
      })
      same('stream into a slow sink', async ({ undici, side, extra }) => {
        const sink = new Collector(1)
        await undici.stream(`${side.at}/large?size=1000000`, { ...extra, method: 'GET' }, () => sink)
        return hash(sink.bytes)
      })
      same('pipeline', async ({ undici, side, extra }) => {
        const duplex = undici.pipeline(`${side.at}/mirror`, { ...extra, method: 'POST' }, ({ body }) => body)
        const text = whole(duplex as unknown as Readable)
        duplex.write('one,')
        duplex.end('two')
        return String(await text)
      })
      same('fetch', async ({ undici, side, extra }) => {
        const response = await undici.fetch(`${side.at}/redirect?code=307`, { ...extra, method: 'POST', body: 'x' })
        const { method, headers, text } = (await response.json()) as { method: string; headers: string[]; text: string }
        // Said to trustworthy origins only, which loopback is.
        const common = headers.filter((line) => !line.startsWith('sec-fetch-mode'))
        return [response.redirected, neutral(side, response.url), method, common, text]
      })
      same('fetch of what is coded, aborted, cut', async ({ undici, side, extra }) => {
        const coded = await (await undici.fetch(`${side.at}/coded`, extra)).text()
        const aborted = await failure(() =>
          undici.fetch(`${side.at}/never`, { ...extra, signal: AbortSignal.timeout(20) }),
        )
        return [coded.length, aborted, await failure(() => undici.fetch(`${side.at}/cut-early`, extra))]
      })
      same(
        'request by the global dispatcher',
        async (caller) => {
          const { undici, side, extra } = caller
          const dispatcher = (extra as { dispatcher?: UndiciDispatcher }).dispatcher ?? undici.getGlobalDispatcher()
          const answer = await dispatcher.request({ origin: side.at, path: '/json', method: 'GET' })
          return [headOf(answer), await answer.body.json()]
        },
        ownDispatcher,
      )
      same(
        'request by a composed dispatcher',
        async (caller) => {
          const { undici, side, extra } = caller
          const base = (extra as { dispatcher?: UndiciDispatcher }).dispatcher ?? undici.getGlobalDispatcher()
          const dispatcher = base.compose(undici.interceptors.retry())
          const answer = await dispatcher.request({ origin: side.at, path: '/json', method: 'GET' })
          return [headOf(answer), await answer.body.json()]
        },
        ownDispatcher,
      )
      test('an ES module gets the same as a CommonJS one', async () => {
        const { all, request } = await folder.import()
        equal(request, late.request)
        equal(all.request, late.request)
        equal(late.request.length, early.request.length)
      })
      test("a global dispatcher of the program's own gets all of its calls", async () => {
        for (const undici of [early, late]) {
          using _ = keepGlobalDispatchers()
          const mock = new undici.MockAgent()
          mock.disableNetConnect()
          mock.get(sides.mesh.at).intercept({ path: '/json', method: 'GET' }).reply(200, 'mocked')
          undici.setGlobalDispatcher(mock)
          equal(await (await undici.request(`${sides.mesh.at}/json`)).body.text(), 'mocked')
          await mock.close()
        }
      })
    })
  })
}

function request({ undici, side, extra }: Caller, path: string, options: object = {}): Promise<Answer> {
  const { path: own, ...rest } = options as { path?: string }
  return undici.request(side.at + (own ?? path), { ...extra, ...rest })
}

function headOf(answer: Answer): unknown {
  const { statusCode, statusText, opaque } = answer
  const headers = comparableHeaders(Object.entries(answer.headers))
  return { keys: Object.keys(answer), statusCode, statusText, opaque, headers }
}

const slots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

/** Puts the global dispatchers back where they were. */
function keepGlobalDispatchers(): Disposable {
  const kept = slots.map((slot) => [slot, Reflect.get(globalThis, slot) as unknown] as const)
  return {
    [Symbol.dispose]() {
      for (const [slot, dispatcher] of kept) Reflect.set(globalThis, slot, dispatcher)
    },
  }
}

/** Keeps what is written to it, as slowly as it is told to. */
class Collector extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #delay: number | undefined

  constructor(delay?: number) {
    super()
    this.#delay = delay
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    if (this.#delay === undefined) done()
    else setTimeout(done, this.#delay)
  }
}
