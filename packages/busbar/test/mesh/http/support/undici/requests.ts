import { Readable } from 'node:stream'
import { suite } from 'node:test'
import { ownDispatcher, request, type Bench } from './bench.ts'

/** What the program receives. */
export function testRequests(bench: Bench): void {
  const { same } = bench
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
      return (await request(caller, '/echo', { method: 'POST', body, headers: { 'content-length': '6' } })).body.json()
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
}
