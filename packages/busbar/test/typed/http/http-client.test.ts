import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe, type Client, type ClientInterceptor } from '../../../src/contract/client-entry.ts'
import { fn, service, stream, type } from '../../../src/contract/index.ts'

const shop = service('shop', {
  read: fn({ output: z.int(), idempotent: true }),
  write: fn({ output: z.int() }),
  ticks: stream({ output: type<number>() }),
})

/** A server that is not a typed service, or a broken one. */
class Peer implements AsyncDisposable {
  asked = 0
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(answer: (asked: number) => RequestListener): Promise<Peer> {
    const server = createServer((req, res) => answer(++peer.asked)(req, res))
    const peer = new Peer(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return peer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get calls(): Client<(typeof shop)['methods']> {
    return client(shop, this.url)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const busy: RequestListener = (_req, res) => {
  const problem = { status: 503, code: 'SERVICE_UNAVAILABLE', detail: 'not now' }
  res.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
}
const well: RequestListener = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('7')
const cut: RequestListener = (req) => req.socket.destroy()
const page: RequestListener = (_req, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>sign in</p>')
const half: RequestListener = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')

describe('a client over HTTP', () => {
  it('retries only idempotent calls', async () => {
    await using peer = await Peer.start((asked) => (asked === 2 ? well : busy))
    assert.equal(await peer.calls.read(), 7)
    assert.equal(peer.asked, 2)
    assert.equal((await safe(peer.calls.write()))[0]?.code, 'SERVICE_UNAVAILABLE')
    assert.equal(peer.asked, 3)
  })

  it('runs interceptors for calls and streams, the first one outermost', async () => {
    const ticking: RequestListener = (req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/x-ndjson' })
        .end(`"${String(req.headers['x-who'])}"\n{"$end":true}\n`)
    const seen: string[] = []
    const interceptor =
      (name: string): ClientInterceptor =>
      async ({ method, options }, next) => {
        seen.push(`${name} before ${method}`)
        const result = await next({ ...options, metadata: { ...options.metadata, 'x-who': name } })
        seen.push(`${name} after ${method}`)
        return result
      }
    await using peer = await Peer.start((asked) => (asked === 1 ? ticking : well))
    const calls = client(shop, peer.url, { use: [interceptor('outer'), interceptor('inner')] })
    const ticks = calls.ticks()
    assert.deepEqual(seen, [])
    assert.deepEqual(await ticks.next(), { done: false, value: 'inner' })
    assert.deepEqual(seen.splice(0), [
      'outer before ticks',
      'inner before ticks',
      'inner after ticks',
      'outer after ticks',
    ])
    await ticks.return?.()
    assert.equal(await calls.read(), 7)
    assert.deepEqual(seen, ['outer before read', 'inner before read', 'inner after read', 'outer after read'])
  })

  it('uses a custom serialiser', async () => {
    const echo: RequestListener = (req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      req.pipe(res)
    }
    const echoes = service('echoes', { say: fn({ input: type<Date>(), output: type<Date>() }), ping: fn() })
    const encoded: string[] = []
    const serialiser = {
      encode: (value: unknown) => {
        encoded.push(JSON.stringify(value))
        return encoded.at(-1)!
      },
      decode: (text: string) => new Date(JSON.parse(text) as string),
    }
    await using peer = await Peer.start((asked) => (asked === 1 ? echo : (_req, res) => res.writeHead(204).end()))
    const calls = client(echoes, peer.url, { serialiser })
    assert.deepEqual(await calls.say(new Date(0)), new Date(0))
    assert.deepEqual(encoded, ['"1970-01-01T00:00:00.000Z"'])
    assert.equal(await calls.ping(), undefined)
    assert.equal(encoded.length, 1)
  })

  it('does not exceed its retry budget', async () => {
    await using peer = await Peer.start(() => cut)
    const calls = client(shop, peer.url, { retryBudget: 0 })
    for (let at = 0; at < 8; at++) assert.equal((await safe(calls.read()))[0]?.code, 'SERVICE_HANGUP')
    assert.equal(peer.asked, 8 + 10)
  })

  it('gives up after two retries, or the configured number', async () => {
    await using peer = await Peer.start(() => cut)
    assert.equal((await safe(peer.calls.read()))[0]?.code, 'SERVICE_HANGUP')
    assert.equal(peer.asked, 3)
    assert.equal((await safe(client(shop, peer.url, { retries: 0 }).read()))[0]?.code, 'SERVICE_HANGUP')
    assert.equal(peer.asked, 4)
  })

  it('stops retrying when most calls fail, to avoid a retry storm', async () => {
    await using peer = await Peer.start(() => busy)
    const calls = client(shop, peer.url)
    for (let at = 0; at < 20; at++) await safe(calls.read())
    assert.ok(peer.asked <= 20 + 12, `asked ${peer.asked} times`)
  })

  it('does not retry after its deadline', async () => {
    await using peer = await Peer.start(() => (_req, res) => {
      const problem = { status: 503, code: 'RESOURCE_EXHAUSTED', detail: 'full', data: { retryAfter: 60 } }
      res.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
    })
    assert.equal((await safe(peer.calls.read(undefined, { timeout: 50 })))[0]?.code, 'DEADLINE_EXCEEDED')
    // On a busy machine the deadline may pass before the request.
    assert.ok(peer.asked <= 1)
  })

  it('reports an unreachable server', async () => {
    const peer = await Peer.start(() => well)
    const { url } = peer
    await peer[Symbol.asyncDispose]()
    assert.equal((await safe(client(shop, url).write()))[0]?.code, 'SERVICE_UNAVAILABLE')
  })

  for (const [what, answer] of Object.entries({ 'a page': page, 'half an answer': half }))
    it(`refuses ${what} as an answer`, async () => {
      await using peer = await Peer.start(() => answer)
      const [error] = await safe(peer.calls.write())
      assert.equal(error?.code, 'ANSWER_MALFORMED')
      assert.match(error.message, /shop\.write/)
    })

  it('interprets the status of an intermediary', async () => {
    for (const [status, code] of [
      [401, 'UNAUTHENTICATED'],
      [413, 'BODY_TOO_LARGE'],
      [502, 'SERVICE_HANGUP'],
      [504, 'DEADLINE_EXCEEDED'],
      [418, 'ANSWER_MALFORMED'],
    ] as const) {
      await using peer = await Peer.start(() => (_req, res) => res.writeHead(status).end('no'))
      assert.equal((await safe(peer.calls.write()))[0]?.code, code)
    }
  })

  it('detects a truncated stream', async () => {
    await using peer = await Peer.start(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('1\n2\n')
    })
    const seen: number[] = []
    await assert.rejects(
      async () => {
        for await (const tick of peer.calls.ticks()) seen.push(tick)
      },
      { code: 'SERVICE_HANGUP' },
    )
    assert.deepEqual(seen, [1, 2])
  })

  it('refuses metadata that would change the request', async () => {
    await using peer = await Peer.start(() => well)
    for (const name of [
      'Host',
      'content-length',
      'Content-Type',
      'accept',
      'transfer-encoding',
      'busbar-timeout',
      'Expect',
    ]) {
      const [error] = await safe(peer.calls.read(undefined, { metadata: { [name]: '1' } }))
      assert.equal(error?.code, 'INPUT_INVALID', name)
      if (error?.code === 'INPUT_INVALID') assert.deepEqual(error.data.issues[0]?.path, ['metadata', name])
    }
    assert.equal(peer.asked, 0)
  })

  it('sends nothing after its deadline', async () => {
    await using peer = await Peer.start(() => well)
    assert.equal((await safe(peer.calls.read(undefined, { timeout: -1 })))[0]?.code, 'DEADLINE_EXCEEDED')
    assert.equal(peer.asked, 0)
  })

  it('closes the connection at the deadline if the server continues', async () => {
    const closed = Promise.withResolvers<void>()
    await using peer = await Peer.start(() => (_req, res) => void res.on('close', closed.resolve))
    assert.equal((await safe(peer.calls.write(undefined, { timeout: 20 })))[0]?.code, 'DEADLINE_EXCEEDED')
    await closed.promise
  })
})
