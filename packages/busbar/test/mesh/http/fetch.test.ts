import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { comparableHeaders, describe, failure, neutral, openSides, type Side, type Sides } from './support/sides.ts'
import { hash } from './support/program.ts'

suite('fetch of a service', () => {
  let sides: Sides
  before(async () => (sides = await openSides()))
  after(() => sides[Symbol.asyncDispose]())

  /** Runs `observe` by the mesh and by a real connection: what the caller can see must be equal. */
  function same(name: string, observe: (side: Side) => unknown): void {
    test(name, async () => {
      const mesh = await observe(sides.mesh)
      const tcp = await observe(sides.tcp)
      deepStrictEqual(mesh, tcp)
      ok(mesh !== undefined)
    })
  }

  async function seen(side: Side, response: Response): Promise<unknown> {
    const { status, statusText, ok, redirected, type } = response
    const before = response.bodyUsed
    const text = await response.text()
    const url = neutral(side, response.url)
    const headers = comparableHeaders(response.headers)
    return {
      status,
      statusText,
      ok,
      redirected,
      type,
      url,
      headers,
      before,
      after: response.bodyUsed,
      text: neutral(side, text),
    }
  }

  suite('what comes back', () => {
    for (const path of [
      '/json',
      '/text',
      '/bom',
      '/bytes',
      '/empty',
      '/latin1',
      '/surrogate',
      '/large',
      '/chunks',
      '/split',
    ])
      same(`of ${path} as text`, async (side) => seen(side, await fetch(side.at + path)))
    for (const path of ['/json', '/bytes', '/empty', '/large', '/chunks'])
      same(`of ${path} as bytes, array buffer and blob`, async (side) => {
        const [bytes, buffer, blob] = await Promise.all([
          fetch(side.at + path).then((response) => response.bytes()),
          fetch(side.at + path).then((response) => response.arrayBuffer()),
          fetch(side.at + path).then((response) => response.blob()),
        ])
        const kinds = [bytes.constructor.name, buffer.constructor.name, blob.constructor.name]
        const whole = [bytes.byteLength === bytes.buffer.byteLength, blob.type, blob.size]
        return [kinds, whole, hash(bytes), hash(new Uint8Array(buffer)), hash(await blob.bytes())]
      })
    for (const path of ['/json', '/bom', '/bad-json', '/empty'])
      same(`of ${path} as JSON`, async (side) => {
        const response = await fetch(side.at + path)
        return response.json().catch((error: Error) => [error.name, error.message])
      })
    for (const code of [200, 201, 204, 205, 206, 299, 304, 400, 401, 404, 407, 418, 500, 503, 599])
      same(`with status ${code}`, async (side) => {
        try {
          return await seen(side, await fetch(`${side.at}/status?code=${code}`))
        } catch (error) {
          return describe(error)
        }
      })
    same('with a reason of its own', async (side) =>
      seen(side, await fetch(`${side.at}/status?code=200&text=Very%20Well`)),
    )
    same('with repeated and non-ASCII headers', async (side) => {
      const { headers } = await fetch(`${side.at}/headers`)
      return [comparableHeaders(headers), headers.getSetCookie(), headers.get('x-repeated'), headers.has('X-NUMBER')]
    })
    same('of HEAD', async (side) => {
      const response = await fetch(`${side.at}/json`, { method: 'HEAD' })
      return [response.body, await seen(side, response), await response.text()]
    })
    for (const path of ['/trailers', '/hints'])
      same(`of ${path}`, async (side) => seen(side, await fetch(side.at + path)))
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'deflate, gzip', 'unknown'])
      same(`in ${coding}`, async (side) => seen(side, await fetch(`${side.at}/coded?as=${encodeURIComponent(coding)}`)))
    same('badly coded', async (side) => {
      const response = await fetch(`${side.at}/coded-badly`)
      return failure(() => response.text())
    })
  })

  suite('the Response', () => {
    same('is one to instanceof, tags, prototype getters and inspect', async (side) => {
      const response = await fetch(`${side.at}/json`)
      const getter = (name: string) => Reflect.get(Response.prototype, name, response) as unknown
      return [
        response instanceof Response,
        response.headers instanceof Headers,
        response.constructor === Response,
        Object.prototype.toString.call(response),
        getter('status'),
        getter('ok'),
        getter('statusText'),
        inspect(response, { depth: 0 }).split(' ')[0],
        await failure(() => structuredClone(response)),
        await seen(side, response),
      ]
    })
    same('has headers that cannot be changed', async (side) => {
      const { headers } = await fetch(`${side.at}/json`)
      const copy = new Headers(headers)
      copy.set('x-own', '1')
      return [
        await failure(() => headers.set('a', 'b')),
        await failure(() => headers.append('a', 'b')),
        await failure(() => headers.delete('content-type')),
        comparableHeaders(copy),
      ]
    })
    same('answers only once', async (side) => {
      const response = await fetch(`${side.at}/json`)
      const first = await response.json()
      const again = [
        await failure(() => response.text()),
        await failure(() => response.json()),
        await failure(() => response.arrayBuffer()),
        await failure(() => response.bytes()),
        await failure(() => response.blob()),
        await failure(() => response.formData()),
        await failure(() => response.clone()),
      ]
      return [first, again, response.body?.locked, response.bodyUsed]
    })
    same('is locked by a reader', async (side) => {
      const response = await fetch(`${side.at}/text`)
      const reader = response.body!.getReader()
      const states = [
        response.bodyUsed,
        response.body!.locked,
        await failure(() => response.text()),
        await failure(() => response.clone()),
      ]
      const first = await reader.read()
      return [states, Buffer.from(first.value).toString(), first.value!.constructor.name, response.bodyUsed]
    })
    same('gives bytes into a buffer of the reader', async (side) => {
      const { body } = await fetch(`${side.at}/text`)
      const reader = body!.getReader({ mode: 'byob' })
      const read = [(await reader.read(new Uint8Array(5))).value, (await reader.read(new Uint8Array(100))).value]
      const end = await reader.read(new Uint8Array(1))
      return [...read.map((bytes) => Buffer.from(bytes!).toString()), end.done]
    })
    same('can be cloned before it is read, also twice', async (side) => {
      const response = await fetch(`${side.at}/chunks`)
      const copy = response.clone()
      const third = copy.clone()
      const urls = [copy, third].map(({ url }) => neutral(side, url))
      return [
        urls,
        await failure(() => copy.headers.set('a', 'b')),
        await seen(side, third),
        await seen(side, response),
        await copy.text(),
      ]
    })
    same('can be wrapped, iterated, piped on and made a Node stream', async (side) => {
      const wrapped = new Response((await fetch(`${side.at}/chunks`)).body, { status: 202 })
      const iterated: Buffer[] = []
      for await (const chunk of (await fetch(`${side.at}/chunks`)).body!) iterated.push(Buffer.from(chunk))
      const node = Readable.fromWeb((await fetch(`${side.at}/large`)).body!)
      const body = (await fetch(`${side.at}/large`)).body!
      const passedOn = await fetch(`${side.at}/echo`, { method: 'POST', body, duplex: 'half' })
      const { hash: echoed } = (await passedOn.json()) as { hash: string }
      return [
        await wrapped.text(),
        Buffer.concat(iterated).toString(),
        hash(Buffer.concat(await node.toArray())),
        echoed,
      ]
    })
    same('gives form data', async (side) => {
      const form = new FormData()
      form.append('name', 'välue')
      form.append('file', new File(['contents'], 'a.txt', { type: 'text/plain' }))
      const response = await fetch(`${side.at}/mirror`, { method: 'POST', body: form })
      const read = await response.formData()
      const file = read.get('file') as File
      const wrong = await failure(async () => (await fetch(`${side.at}/json`)).formData())
      return [read.get('name'), file.name, file.type, await file.text(), wrong]
    })
    test("answers everything that this Node's Response can do", async () => {
      const response = await fetch(`${sides.mesh.at}/json`)
      for (const name of Object.getOwnPropertyNames(Response.prototype)) ok(name in response, name)
      equal(Object.getPrototypeOf(Object.getPrototypeOf(response)), Response.prototype)
    })
  })

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

  suite('redirects', () => {
    for (const code of [301, 302, 303, 307, 308])
      for (const method of ['GET', 'POST', 'PUT', 'HEAD'])
        same(`${code} of ${method}`, async (side) => {
          const body = method === 'GET' || method === 'HEAD' ? undefined : 'payload'
          const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-kept': '1' }
          return seen(side, await fetch(`${side.at}/redirect?code=${code}`, { method, headers, ...(body && { body }) }))
        })
    same('to another service lose what was meant for the first', async (side) => {
      const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-kept': '1' }
      const to = encodeURIComponent(`${side.other}/echo`)
      return seen(side, await fetch(`${side.at}/redirect?to=${to}`, { headers }))
    })
    for (const redirect of ['error', 'manual'] as const)
      same(`with redirect: ${redirect}`, async (side) => {
        try {
          return await seen(side, await fetch(`${side.at}/redirect`, { redirect }))
        } catch (error) {
          return describe(error)
        }
      })
    same('without a location', async (side) => seen(side, await fetch(`${side.at}/nowhere`)))
    same('20 of them', async (side) => seen(side, await fetch(`${side.at}/around?n=19`)))
    same('21 of them', (side) => failure(() => fetch(`${side.at}/around?n=20`)))
    same('to another scheme', (side) => failure(() => fetch(`${side.at}/redirect?to=ftp://x/`)))
    same('to a URL with credentials', (side) =>
      failure(() => fetch(`${side.at}/redirect?to=${encodeURIComponent('http://a:b@catalog.internal/')}`)),
    )
    same('of a stream, which cannot be sent again', (side) =>
      failure(() =>
        fetch(`${side.at}/redirect?code=307`, {
          method: 'POST',
          body: ReadableStream.from([Buffer.from('x')]),
          duplex: 'half',
        }),
      ),
    )
    test('from a service to the network and back', async () => {
      const { mesh, tcp } = sides
      const out = await fetch(`${mesh.at}/redirect?to=${encodeURIComponent(`${tcp.at}/json`)}`)
      deepStrictEqual([out.redirected, out.url, out.status], [true, `${tcp.at}/json`, 200])
      await out.text()
      const back = await fetch(`${tcp.at}/redirect?to=${encodeURIComponent(`${mesh.at}/json`)}`)
      deepStrictEqual([back.redirected, back.url, back.status], [true, `${mesh.at}/json`, 200])
      deepStrictEqual(await back.json(), { hello: 'wörld', list: [1, 2, 3] })
    })
  })

  suite('giving up', () => {
    same('before the call', (side) => failure(() => fetch(`${side.at}/json`, { signal: AbortSignal.abort() })))
    same('with a reason of its own', async (side) => {
      const reason = { my: 'reason' }
      const controller = new AbortController()
      const answer = fetch(`${side.at}/never`, { signal: controller.signal })
      controller.abort(reason)
      return answer.then(
        () => 'answered',
        (error: unknown) => error === reason,
      )
    })
    same('while waiting for the head', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      const answer = failure(() => fetch(`${side.at}/never`, { signal: controller.signal }))
      const call = await arrival(side, before)
      controller.abort()
      return [await answer, await call.over]
    })
    same('by a timeout', async (side) => {
      const { name, code } = (await fetch(`${side.at}/never`, { signal: AbortSignal.timeout(30) }).catch(
        (error: unknown) => error,
      )) as DOMException
      return [name, code]
    })
    same('while the body is read whole', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      const text = failure(() => response.text())
      setImmediate(() => controller.abort())
      return [await text, await side.seen[before]!.over, response.bodyUsed]
    })
    same('while the body is read by a reader', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      const reader = response.body!.getReader()
      const first = await reader.read()
      const second = failure(() => reader.read())
      controller.abort()
      return [first.value?.length, await second, await failure(() => reader.closed)]
    })
    same('before the body is read', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      controller.abort()
      return [response.bodyUsed, await failure(() => response.text())]
    })
    same('after the body was read', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/json`, { signal: controller.signal })
      const text = await response.text()
      controller.abort()
      return [text, response.bodyUsed]
    })
    same('by cancelling the body is seen by the program', async (side) => {
      const before = side.seen.length
      const response = await fetch(`${side.at}/endless`)
      await response.body!.cancel()
      return [
        await side.seen[before]!.over,
        response.bodyUsed,
        response.body!.locked,
        await response.body!.getReader().read(),
      ]
    })
    same('by leaving a loop over the body is seen by the program', async (side) => {
      const before = side.seen.length
      for await (const chunk of (await fetch(`${side.at}/endless`)).body!) if (chunk.length > 0) break
      return side.seen[before]!.over
    })
    same('in the middle of an upload is seen by the program', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      // The built-in goes on reading a stream after an abort, so that it has to end.
      const body = new ReadableStream({
        async pull(stream) {
          await new Promise((resolve) => setImmediate(resolve))
          if (controller.signal.aborted) stream.close()
          else stream.enqueue(Buffer.from('x'))
        },
      })
      const init = { method: 'POST', body, duplex: 'half', signal: controller.signal } as const
      const answer = failure(() => fetch(`${side.at}/echo`, init))
      const call = await arrival(side, before)
      controller.abort()
      return [await answer, await call.over]
    })
    test('many calls may share one signal, which keeps no listener afterwards', async () => {
      const { signal } = new AbortController()
      const warnings: Error[] = []
      const warn = (warning: Error) => warnings.push(warning)
      process.on('warning', warn)
      await Promise.all(
        Array.from({ length: 40 }, async () => (await fetch(`${sides.mesh.at}/chunks`, { signal })).text()),
      )
      process.off('warning', warn)
      deepStrictEqual(warnings, [])
      equal(getEventListeners(signal, 'abort').length, 0)
    })
  })

  suite('failures of the program', () => {
    same('a connection cut before the head', (side) => failure(() => fetch(`${side.at}/cut-early`)))
    same('a connection cut in the body', async (side) => {
      const response = await fetch(`${side.at}/cut-late`)
      return [response.status, await failure(() => response.text()), response.bodyUsed]
    })
    same('a connection cut in a body that is read by a reader', async (side) => {
      const reader = (await fetch(`${side.at}/cut-late`)).body!.getReader()
      const first = await reader.read()
      return [Buffer.from(first.value).toString(), await failure(() => reader.read())]
    })
    test('a service of which no instance serves refuses, as a closed port does', async () => {
      const refused = (await fetch('http://absent.internal/').catch((error: unknown) => error)) as TypeError & {
        cause: NodeJS.ErrnoException
      }
      equal(refused.name, 'TypeError')
      equal(refused.message, 'fetch failed')
      equal(refused.cause.code, 'ECONNREFUSED')
      ok(refused.cause.message.includes('absent'))
    })
    test('https is refused with the way to write it', async () => {
      const refused = (await fetch('https://catalog.internal/').catch((error: unknown) => error)) as TypeError & {
        cause: Error
      }
      equal(refused.message, 'fetch failed')
      ok(refused.cause.message.includes('http://catalog.internal'), refused.cause.message)
    })
  })

  suite('backpressure', () => {
    test('a body that nobody reads stops the program, and a reader lets it go on', async () => {
      const response = await fetch(`${sides.mesh.at}/large?size=5000000`)
      await new Promise((resolve) => setImmediate(resolve))
      const bytes = await response.bytes()
      equal(bytes.length, 5_000_000)
    })
    test('an endless body is held up until it is read', async () => {
      const before = sides.mesh.seen.length
      const response = await fetch(`${sides.mesh.at}/endless`)
      const reader = response.body!.getReader()
      let length = 0
      while (length < 3_000_000) length += (await reader.read()).value!.length
      await reader.cancel()
      equal(await sides.mesh.seen[before]!.over, 'cut')
    })
  })

  suite('what stays as it was', () => {
    test('fetch looks like the built-in', () => {
      equal(fetch.name, 'fetch')
      equal(fetch.length, 1)
      const property = Object.getOwnPropertyDescriptor(globalThis, 'fetch')!
      deepStrictEqual([property.writable, property.enumerable, property.configurable], [true, true, true])
    })
    test('names of the network go to the network', async () => {
      equal((await fetch(`${sides.tcp.at}/json`)).url, `${sides.tcp.at}/json`)
      const failed = (await fetch('http://metadata.google.internal:8099/').catch((error: unknown) => error)) as {
        cause: { code: string }
      }
      ok(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ETIMEDOUT'].includes(failed.cause.code), failed.cause.code)
    })
  })
})

/** The next call that reaches the program. */
async function arrival(side: Side, before: number): Promise<Side['seen'][number]> {
  while (side.seen.length <= before) await new Promise((resolve) => setImmediate(resolve))
  return side.seen[before]!
}
