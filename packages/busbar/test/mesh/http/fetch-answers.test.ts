import { equal, ok } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compareFetch, seen } from './support/compare-fetch.ts'
import { hash } from './support/program.ts'
import { comparableHeaders, describe, failure, neutral } from './support/mesh-and-tcp.ts'
import { unless } from '../../support/mesh/accelerators.ts'

suite('fetch of a service: what comes back', () => {
  const compared = compareFetch()
  const { same } = compared

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
    for (const code of [204, 304])
      same(`with status ${code} and a length`, async (side) =>
        seen(side, await fetch(`${side.at}/status?code=${code}&length=10`)),
      )
    same('with a reason of its own', async (side) =>
      seen(side, await fetch(`${side.at}/status?code=200&text=Very%20Well`)),
    )
    same('with repeated and non-ASCII headers', async (side) => {
      const { headers } = await fetch(`${side.at}/headers`)
      return [comparableHeaders(headers), headers.getSetCookie(), headers.get('x-repeated'), headers.has('X-NUMBER')]
    })
    same('of HEAD, on a connection that then closes', async (side) => {
      const { headers } = await fetch(`${side.at}/json`, { method: 'HEAD' })
      return [headers.get('connection'), headers.get('keep-alive')]
    })
    same('of HEAD', async (side) => {
      const response = await fetch(`${side.at}/json`, { method: 'HEAD' })
      return [response.body, await seen(side, response), await response.text()]
    })
    for (const path of ['/trailers', '/hints', '/latin1-words'])
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
      // `fetch` cancels the unread body of a response that is garbage collected, so this one is
      // used below.
      const source = await fetch(`${side.at}/chunks`)
      const wrapped = new Response(source.body, { status: 202 })
      const iterated: Buffer[] = []
      for await (const chunk of (await fetch(`${side.at}/chunks`)).body!) iterated.push(Buffer.from(chunk))
      const node = Readable.fromWeb((await fetch(`${side.at}/large`)).body!)
      const body = (await fetch(`${side.at}/large`)).body!
      const passedOn = await fetch(`${side.at}/echo`, { method: 'POST', body, duplex: 'half' })
      const { hash: echoed } = (await passedOn.json()) as { hash: string }
      return [
        await wrapped.text(),
        source.bodyUsed,
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
    test("answers everything that this Node's Response can do", { skip: unless('exchange') }, async () => {
      const response = await fetch(`${compared.sides.mesh.at}/json`)
      for (const name of Object.getOwnPropertyNames(Response.prototype)) ok(name in response, name)
      equal(Object.getPrototypeOf(Object.getPrototypeOf(response)), Response.prototype)
    })
  })

  suite('backpressure', () => {
    test('a body without a reader pauses the program, and a reader resumes it', async () => {
      const response = await fetch(`${compared.sides.mesh.at}/large?size=5000000`)
      await new Promise((resolve) => setImmediate(resolve))
      const bytes = await response.bytes()
      equal(bytes.length, 5_000_000)
    })
    test('a body that has become unreachable is cancelled, which the program sees', async () => {
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as () => void
      const { seen, at } = compared.sides.mesh
      const before = seen.length
      await (async () => void (await fetch(`${at}/endless`)))()
      let fate: string | undefined
      void seen[before]!.over.then((over) => (fate = over))
      while (fate === undefined) {
        collect()
        await new Promise((resolve) => setImmediate(resolve))
      }
      equal(fate, 'cut')
    })
    test('an endless body is paused until it is read', async () => {
      const before = compared.sides.mesh.seen.length
      const response = await fetch(`${compared.sides.mesh.at}/endless`)
      const reader = response.body!.getReader()
      let length = 0
      while (length < 3_000_000) length += (await reader.read()).value!.length
      await reader.cancel()
      equal(await compared.sides.mesh.seen[before]!.over, 'cut')
    })
  })
})
