import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'
import { startHost } from '../../src/contract/host/host.ts'
import { client } from '../../src/contract/client.ts'
import { fn, service, stream, type } from '../../src/contract/index.ts'
import { typedListener } from '../../src/gateway/typed/listener.ts'
import { type GatewaySetup, type RawClient, TestGateway } from '../support/gateway.ts'

const Text = z.object({ text: z.string() })

const words = service('words', {
  echo: fn({ input: Text, output: Text }),
  /** Answers after so many milliseconds. */
  later: fn({ input: z.object({ ms: z.int() }), output: z.int() }),
  found: fn({ input: z.object({ id: z.string() }), output: Text, http: 'GET /words/{id}', status: 203 }),
  nothing: fn({}),
  named: fn({ output: Text }),
  refused: fn({ errors: { NOT_THERE: z.object({ why: z.string() }) } }),
  broken: fn({ output: Text }),
  untyped: fn({ output: type<unknown>() }),
  /** Its result can be awaited, and is no promise of this realm: as the queries of some databases are none. */
  query: fn({ output: Text }),
  count: stream({ output: z.int() }),
})

const aborted: string[] = []
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const implementation = words.implement({
  echo: (input) => input,
  async later({ ms }, { signal }) {
    signal.addEventListener('abort', () => aborted.push(`after ${ms}`))
    await sleep(ms, undefined, { signal })
    return ms
  },
  found: async ({ id }) => ({ text: id }),
  nothing() {},
  named(_, { setHeader }) {
    setHeader('x-name', 'words')
    return { text: 'named' }
  },
  refused: (_, { fail }) => fail('NOT_THERE', { why: 'it is not' }),
  broken: () => ({ text: 1 }) as never,
  untyped: async () => ({ list: [1, 'zwei', null], text: 'größer €' }),
  query: () => runInNewContext("Promise.resolve({ text: 'a row' })") as never,
  async *count() {
    yield 1
    yield 2
  },
})

type Way = 'by the gateway' | 'by a server of its own'

async function start(way: Way, limits: GatewaySetup['limits'] = {}): Promise<TestGateway> {
  const host = await startHost(implementation, { name: 'words', log: silent, clone: false, maxInFlight: 5000, client })
  const listener = typedListener(host, { maxInputSize: 1000, cors: ['https://page.example'] })
  return TestGateway.start({
    services: {
      words: way === 'by the gateway' ? { listener, typed: host } : listener,
      web(req, res) {
        const [, ms = '0'] = /(\d+)$/.exec(req.url!) ?? []
        req.resume().on('end', () => setTimeout(() => res.end(`web ${req.url}`), Number(ms)))
      },
    },
    routes: { '/api': 'words', '/web': 'web' },
    limits: { keepAliveTimeout: 1000, ...limits },
  })
}

function post(path: string, body?: unknown, more = ''): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type = body === undefined ? '' : 'Content-Type: application/json\r\n'
  return `POST /api/${path} HTTP/1.1\r\nHost: a\r\n${type}${more}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${Buffer.from(text).toString('latin1')}`
}

function get(path: string, more = '', version = '1.1'): string {
  return `GET ${path} HTTP/${version}\r\nHost: a\r\n${more}\r\n`
}

const bye = get('/web/bye', 'Connection: close\r\n')
const echo = (text: string): string => post('echo', { text })

/** What a client sends, in pieces that go out one after the other. */
const scripts: Readonly<Record<string, readonly string[]>> = {
  'a call': [echo('one'), bye],
  'a call by a path': [get('/api/words/a%20b?x=1'), bye],
  'a call with the name of its service': [post('words/echo', { text: 'one' }), bye],
  'calls one after the other': [echo('one'), echo('two'), post('untyped'), bye],
  'calls at once, the later ones sooner': [
    [post('later', { ms: 30 }), post('later', { ms: 20 }), echo('three'), post('later', { ms: 1 }), bye].join(''),
  ],
  'calls among requests to a program': [
    [echo('one'), get('/web/20'), echo('two'), post('later', { ms: 10 }), get('/web/0'), echo('three'), bye].join(''),
  ],
  'a hundred calls at once': [Array.from({ length: 100 }, (_, at) => echo(String(at))).join('') + bye],
  'a stream behind a call, and a call behind it': [
    [post('later', { ms: 10 }), post('count'), echo('behind'), bye].join(''),
  ],
  'a result without a value': [post('nothing'), bye],
  'a header of its own, and a call behind it': [post('named') + echo('behind') + bye],
  'a declared error': [post('refused') + echo('behind') + bye],
  'an input that is not valid': [post('echo', { text: 1 }) + echo('behind') + bye],
  'an input that is no JSON': [post('echo', '{"text":') + echo('behind') + bye],
  'an input that is no UTF-8': [
    'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"text":"\xff"}' +
      echo('behind') +
      bye,
  ],
  'an input of another type': [
    'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}' + bye,
  ],
  'an input that is too large': [post('echo', { text: 'x'.repeat(2000) }) + bye],
  'a method that there is none of': [post('ecko') + echo('behind') + bye],
  'a verb that it has not': [get('/api/echo') + bye],
  'an answer that is cut short by HEAD': [`HEAD /api/words/1 HTTP/1.1\r\nHost: a\r\n\r\n${echo('behind')}${bye}`],
  'a question of another origin': [
    post('echo', { text: 'one' }, 'Origin: https://page.example\r\n'),
    'OPTIONS /api/echo HTTP/1.1\r\nHost: a\r\nOrigin: https://page.example\r\nAccess-Control-Request-Method: POST\r\n\r\n',
    bye,
  ],
  'an input in pieces': [...post('echo', { text: 'grün €' }).match(/[^]/g)!, bye],
  'an input in chunks': [
    'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    'c\r\n{"text":"ab"\r\n1\r\n}\r\n0\r\n\r\n',
    bye,
  ],
  'an input that waits to be asked for': [
    'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n',
    '{"text":"a"}',
    bye,
  ],
  'the old version of HTTP': [get('/api/words/1', '', '1.0')],
  'the old version of HTTP, kept alive': [get('/api/words/1', 'Connection: keep-alive\r\n', '1.0'), bye],
  'a call that ends its connection': [post('echo', { text: 'last' }, 'Connection: close\r\n')],
  'a call that ends its connection, behind others': [
    post('later', { ms: 5 }) + post('echo', { text: 'last' }, 'Connection: close\r\n') + echo('never'),
  ],
  'a target that is a URL': [`GET http://a/api/words/1 HTTP/1.1\r\nHost: a\r\n\r\n${bye}`],
  'no Host': [echo('one') + 'POST /api/nothing HTTP/1.1\r\n\r\n'],
  'two Hosts': [`POST /api/nothing HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n`],
  'what is no HTTP, behind a call': [`${post('later', { ms: 10 })}no request\r\n\r\n`],
  'an upgrade that nobody takes': [
    echo('one') + get('/web/1', 'Connection: Upgrade\r\nUpgrade: else\r\n'),
    get('/api/words/1', 'Connection: Upgrade\r\nUpgrade: else\r\n'),
    bye,
  ],
  'an upgrade that nobody takes, behind a call': [
    post('later', { ms: 10 }) + get('/web/1', 'Connection: Upgrade\r\nUpgrade: else\r\n') + echo('behind') + bye,
  ],
}

describe('a typed call is answered the same by the gateway and by a server of its own, for', () => {
  const gateways = new Map<Way, TestGateway>()
  before(async () => {
    for (const way of ['by the gateway', 'by a server of its own'] as const) gateways.set(way, await start(way))
  })
  after(async () => {
    for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]()
  })

  for (const [what, pieces] of Object.entries(scripts))
    it(what, async () => {
      const [own, other] = await Promise.all([...gateways.values()].map((gateway) => said(gateway, pieces)))
      assert.match(own!, /^HTTP\/1\.1 \d{3} /)
      assert.equal(own, other)
      for (const { gateway } of gateways.values()) await until(() => gateway.inFlight === 0)
    })

  for (const [what, request] of [
    ['is answered at once', echo('one')],
    ['is answered later', post('later', { ms: 20 })],
    ['is followed by another', post('later', { ms: 20 }) + echo('behind')],
  ] as const)
    it(`a client that ends its side behind a call that ${what}`, async () => {
      const [own, other] = await Promise.all(
        [...gateways.values()].map(async (gateway) => {
          const client = await gateway.raw()
          client.socket.end(request)
          return withoutClock(await client.closed())
        }),
      )
      assert.equal(own, other)
    })
})

describe('a typed call that the gateway answers', () => {
  it('may take longer than a connection is kept without a request', async () => {
    await using gateway = await start('by the gateway', { keepAliveTimeout: 50 })
    const client = await gateway.raw()
    client.write(echo('one'))
    await client.until(/one/)
    // Node adds a second to what it says.
    client.write(post('later', { ms: 1300 }))
    await client.until(/\r\n\r\n1300$/)
    client.write(get('/web/1301'))
    await client.until(/web \/1301/)
    client.write(post('later', { ms: 1302 }))
    await client.until(/\r\n\r\n1302$/)
    client.socket.destroy()
  })

  it('waits for what can be awaited, whatever it is', async () => {
    await using gateway = await start('by the gateway')
    assert.match(await gateway.send(post('query') + bye), /^HTTP\/1\.1 200 [^]*\r\n\r\n\{"text":"a row"\}HTTP/)
  })

  it('leaves a connection that ends when it has been idle for so long', async () => {
    await using gateway = await start('by the gateway', { keepAliveTimeout: 50 })
    assert.match(await gateway.send(echo('one')), /one/)
    assert.match(await gateway.send(echo('one') + get('/web/1')), /one[^]*web \/1/)
    assert.match(await gateway.send(get('/web/1') + echo('one')), /web \/1[^]*one/)
    await until(() => gateway.gateway.connections === 0)
  })

  it('is aborted when its client goes away, alone or with another one behind it', async () => {
    await using gateway = await start('by the gateway')
    aborted.length = 0
    const client = await gateway.raw()
    const other = await gateway.raw()
    client.write(post('later', { ms: 5001 }) + post('later', { ms: 5002 }))
    other.write(post('later', { ms: 5003 }))
    await until(() => gateway.gateway.inFlight === 3)
    client.socket.destroy()
    other.socket.destroy()
    await until(() => gateway.gateway.connections === 0 && aborted.length >= 3)
    assert.deepEqual(aborted.toSorted(), ['after 5001', 'after 5002', 'after 5003'])
    assert.equal(gateway.gateway.inFlight, 0)
  })

  it('is answered with the end of its connection when the gateway stops', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.write(post('later', { ms: 50 }))
    await until(() => gateway.gateway.inFlight === 1)
    await gateway.stop(2000)
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*Connection: close\r\n\r\n50$/)
  })

  it('is 504 when it takes longer than it may', async () => {
    await using gateway = await start('by the gateway', { responseTimeout: 50 })
    const answer = await gateway.send(post('later', { ms: 500 }))
    assert.match(answer, /^HTTP\/1\.1 504 [^]*RESPONSE_TIMEOUT/)
  })

  it('is 502 when its worker ends', async () => {
    await using gateway = await start('by the gateway')
    const answer = gateway.send(post('later', { ms: 500 }))
    await until(() => gateway.gateway.inFlight === 1)
    gateway.gateway.fail({ status: 500, code: 'WORKER_DIED' } as never, 'words')
    assert.match(await answer, /^HTTP\/1\.1 502 [^]*SERVICE_HANGUP/)
  })

  it('is not made when its input does not come to its end', async () => {
    await using gateway = await start('by the gateway', { requestTimeout: 100, headerTimeout: 100 })
    const answer = await gateway.send(post('echo', { text: 'half' }).slice(0, -3))
    assert.match(answer, /^HTTP\/1\.1 408 /)
    await until(() => gateway.gateway.inFlight === 0)
  })

  it('may be followed by many others before it is answered', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.write(post('later', { ms: 50 }) + echo('again').repeat(900) + bye)
    assert.equal((await client.closed()).match(/HTTP\/1\.1 200/g)?.length, 902)
  })

  it('is not begun for a client that does not read its answers', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.socket.pause()
    const large = post('echo', { text: 'x'.repeat(900) })
    for (let sent = 0; sent < 40_000; sent += 500) {
      client.write(large.repeat(500))
      await Promise.race([sleep(20), ...(client.socket.writableNeedDrain ? [once(client.socket, 'drain')] : [])])
      if (client.socket.writableLength > 1e6) break
    }
    assert.ok(client.socket.writableLength > 1e6, 'the gateway has read on')
    client.socket.destroy()
  })

  it('gets no header that would make another answer of it', async () => {
    const sly = service('sly', { set: fn({ input: z.array(z.string()), output: z.string() }) })
    const implemented = sly.implement({
      set([name = '', value = ''], { setHeader }) {
        assert.throws(() => setHeader(name, value), TypeError)
        return 'kept'
      },
    })
    const call = client(sly, implemented)
    for (const pair of [
      ['x-a', 'b\r\nset-cookie: c'],
      ['x a', 'b'],
      ['Content-Length', '3'],
      ['connection', 'close'],
    ])
      assert.equal(await call.set(pair), 'kept')
    await call[Symbol.asyncDispose]()
  })
})

/** All that comes until the connection ends, but for the clock. */
async function said(gateway: TestGateway, pieces: readonly string[]): Promise<string> {
  const client = await gateway.raw()
  for (const piece of pieces) {
    client.write(piece)
    await heardOf(client, piece)
  }
  return withoutClock(await client.closed())
}

/** An answer that is forwarded says at another place that it comes in chunks, and has others. */
function withoutClock(text: string): string {
  return text
    .replaceAll(/(Transfer-Encoding: chunked\r\n)(Connection: .*\r\nKeep-Alive: .*\r\n)/g, '$2$1')
    .replaceAll(/^[\da-f]+\r\n/gim, '')
    .replaceAll('\n\r\n', '\n')
    .replaceAll(/^Date: .*$/gim, 'Date: now')
    .replaceAll(/"id":"[\w-]+"/g, '"id":"one"')
}

/** Pieces of a request may go out fast; behind a whole one its answer is waited for. */
async function heardOf(client: RawClient, piece: string): Promise<void> {
  if (piece.length === 1) await new Promise(setImmediate)
  else await Promise.race([sleep(30), once(client.socket, 'close')])
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2)
}
