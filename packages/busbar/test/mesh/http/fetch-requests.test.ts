import { equal, rejects } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareFetch } from './support/compare-fetch.ts'
import { failure, neutral, type Side } from './support/mesh-and-tcp.ts'

suite('fetch of a service: what is sent', () => {
  const compared = compareFetch()
  const { same } = compared

  suite('what is sent', () => {
    const bodies: Record<string, () => RequestInit['body']> = {
      text: () => 'hé✓',
      'empty text': () => '',
      'a lone surrogate': () => 'a\ud800b',
      bytes: () => new Uint8Array([0, 1, 255]),
      'no bytes': () => new Uint8Array(0),
      'a view': () => new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
      'an array buffer': () => new Uint8Array([9, 8]).buffer,
      'a data view': () => new DataView(new Uint8Array([7, 6]).buffer),
      parameters: () => new URLSearchParams({ a: '1', b: 'ü' }),
      'a blob': () => new Blob(['blob'], { type: 'text/x-blob' }),
      'a blob without type': () => new Blob(['blob']),
    }
    for (const [name, body] of Object.entries(bodies))
      for (const method of ['POST', 'DELETE'])
        same(`${name} by ${method}`, async (side) => (await fetch(`${side.at}/echo`, { method, body: body() })).json())
    for (const method of ['GET', 'get', 'HEAD', 'POST', 'put', 'PATCH', 'DELETE', 'OPTIONS', 'options'])
      same(`${method} without a body`, async (side) => (await fetch(`${side.at}/echo`, { method })).text())
    const headers: Record<string, RequestInit['headers']> = {
      'a record': { 'X-One': '1', accept: 'a/b', 'User-Agent': 'me', 'content-type': 'application/json' },
      pairs: [
        ['X-One', '1'],
        ['x-one', '2'],
        ['X-Two', ' padded '],
      ],
      'a Headers': new Headers({ b: '2', a: '1', 'accept-language': 'de' }),
      'a number': { 'x-number': 5 as unknown as string },
      'an encoding': { 'accept-encoding': 'identity' },
      'a range': { range: 'bytes=0-1' },
      'a condition': { 'if-none-match': '"x"' },
      'a host': { host: 'elsewhere' },
      'non-ASCII': { 'x-latin': 'caf\u00e9' },
      'a mode': { 'sec-fetch-mode': 'navigate' },
      'a cookie and authorization': { cookie: 'a=1', authorization: 'Bearer x' },
      'a prototype': Object.create({ 'x-inherited': '1' }) as Record<string, string>,
    }
    for (const [name, init] of Object.entries(headers))
      same(`headers: ${name}`, async (side) => (await fetch(`${side.at}/echo`, { headers: init })).json())
    const options: Record<string, RequestInit> = {
      'cache: no-store': { cache: 'no-store' },
      'cache: no-cache': { cache: 'no-cache' },
      'credentials: include': { credentials: 'include' },
      'mode: same-origin': { mode: 'same-origin' },
      'referrer policy': { referrerPolicy: 'no-referrer' },
      keepalive: { keepalive: true },
      'undefined ones': {
        method: undefined,
        body: undefined,
        headers: undefined,
        signal: undefined,
      },
      'null ones': { body: null, signal: null },
      'unknown ones': { next: { revalidate: 5 } } as RequestInit,
    }
    for (const [name, init] of Object.entries(options))
      same(`options: ${name}`, async (side) => (await fetch(`${side.at}/echo`, init)).json())
    same('a form', async (side) => {
      const form = new FormData()
      form.append('a', '1')
      form.append('file', new Blob(['x'.repeat(100_000)]), 'large.bin')
      return (await fetch(`${side.at}/form`, { method: 'POST', body: form })).json()
    })
    same('a stream', async (side) => {
      const body = ReadableStream.from([Buffer.from('a'), Buffer.from('b'.repeat(200_000))])
      return (await fetch(`${side.at}/echo`, { method: 'PUT', body, duplex: 'half' })).json()
    })
    same('an async iterable', async (side) => {
      async function* chunks() {
        yield Buffer.from('one')
        await Promise.resolve()
        yield Buffer.from('two')
      }
      const init = { method: 'POST', body: chunks(), duplex: 'half' } as unknown as RequestInit
      return (await fetch(`${side.at}/echo`, init)).json()
    })
    same('a Request', async (side) => {
      const request = new Request(`${side.at}/echo`, { method: 'POST', body: 'requested', headers: { 'x-a': '1' } })
      const answer = await (await fetch(request)).json()
      return [answer, request.bodyUsed, await failure(() => fetch(request))]
    })
    same('a Request and an init', async (side) => {
      const request = new Request(`${side.at}/echo`, { headers: { 'x-a': '1' } })
      return (await fetch(request, { method: 'PUT', body: 'changed' })).json()
    })
    for (const path of [
      '/echo?a=1&b=%20c',
      '/echo?q=a b',
      "/echo?it's",
      '/x/../echo',
      '/%2e/echo',
      '/echo?',
      '/echo#part',
      '/echo?a#b',
      '/ech\to',
      '//echo',
      '/echo?ü=ß',
      '',
      '\\echo',
      '/echo?a=[1]|{2}',
    ])
      same(`the path ${JSON.stringify(path)}`, async (side) => {
        const response = await fetch(side.at + path)
        return [response.status, neutral(side, response.url), await response.text()]
      })
    same('a URL object', async (side) => (await fetch(new URL('/echo?x', side.at))).json())
    test('any spelling of the name, with any port', async () => {
      for (const at of ['HTTP://Catalog.INTERNAL', 'http://catalog.internal:80', 'http://catalog.internal:3000'])
        equal((await fetch(`${at}/json`)).status, 200)
      const response = await fetch('http://Catalog.internal:80/json')
      equal(response.url, 'http://catalog.internal/json')
    })
  })

  suite('what cannot be sent', () => {
    const wrong: Record<string, (side: Side) => unknown> = {
      'a header with a line break': (side) => fetch(side.at, { headers: { a: 'b\nc' } }),
      'a header without a name': (side) => fetch(side.at, { headers: { '': 'b' } }),
      'a header beyond Latin-1': (side) => fetch(side.at, { headers: { a: '✓' } }),
      'an uneven pair': (side) => fetch(side.at, { headers: [['a']] as unknown as Headers }),
      'headers that are none': (side) => fetch(side.at, { headers: 5 as unknown as Headers }),
      'a method that is none': (side) => fetch(side.at, { method: 'A B' }),
      CONNECT: (side) => fetch(side.at, { method: 'CONNECT' }),
      TRACE: (side) => fetch(side.at, { method: 'TRACE' }),
      'a body by GET': (side) => fetch(side.at, JSON.parse('{"method":"GET","body":"x"}') as RequestInit),
      'a stream without duplex': (side) => fetch(side.at, { method: 'POST', body: new ReadableStream() }),
      'a signal that is none': (side) => fetch(side.at, { signal: {} as AbortSignal }),
      'a redirect mode that is none': (side) => fetch(side.at, { redirect: 'sometimes' as RequestInit['redirect'] }),
      'transfer-encoding': (side) => fetch(side.at, { headers: { 'transfer-encoding': 'chunked' } }),
      'a length that is wrong': (side) =>
        fetch(side.at, { method: 'POST', body: 'x', headers: { 'content-length': '5' } }),
      credentials: (side) => fetch(side.at.replace('//', '//user:pass@')),
      'an init that is none': (side) => fetch(side.at, 5 as unknown as RequestInit),
      'a getter that throws': (side) =>
        fetch(side.at, {
          get method(): string {
            throw new RangeError('from a getter')
          },
        }),
    }
    for (const [name, run] of Object.entries(wrong)) same(name, (side) => failure(() => run(side)))
    test('nothing at all', async () => {
      await rejects((fetch as unknown as () => Promise<unknown>)(), TypeError)
    })
  })
})
