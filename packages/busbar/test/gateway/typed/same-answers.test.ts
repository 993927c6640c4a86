import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawClient, TestGateway } from '../../support/http/test-gateway.ts'
import { type Host, start, post, get, bye, echo, until } from './words-gateway.ts'

/** What a client sends, in pieces. */
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
  'headers that are lists': [post('listed') + post('listed', undefined, 'Origin: https://page.example\r\n') + bye],
  'a large result, and a call behind it': [post('large') + echo('behind') + bye],
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
  const gateways = new Map<Host, TestGateway>()
  before(async () => {
    for (const way of ['by the gateway', 'by a server of its own'] as const) gateways.set(way, await start(way))
  })
  after(async () => {
    for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]()
  })

  for (const [what, pieces] of Object.entries(scripts))
    it(what, async () => {
      const [own, other] = await Promise.all([...gateways.values()].map((gateway) => responsesTo(gateway, pieces)))
      assert.match(own!, /^HTTP\/1\.1 \d{3} /)
      assert.equal(own, other)
      for (const { gateway } of gateways.values()) await until(() => gateway.inFlight === 0)
    })

  it('the method sees the same fields, whoever has read them', async () => {
    const usual =
      'X-Name: \t a  b \r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\nX-Empty:\r\nX-Latin: gr\xfcn\r\n'
    const gateway = gateways.get('by the gateway')!
    // Node's own server reads a request with `TE`, which no service sees.
    const texts = await Promise.all(
      ['', 'TE: trailers\r\n'].map((more) => gateway.send(post('heard', undefined, usual + more) + bye)),
    )
    const [own, other] = texts.map((text) => JSON.parse(/\{.*\}/.exec(text)![0]) as Record<string, string>)
    assert.equal(own!['x-forwarded-for'], '127.0.0.1')
    assert.equal(own!['x-name'], 'a  b')
    assert.deepEqual(own, other)
  })

  for (const event of ['request.start', 'response.created', 'response.finish'])
    it(`a program that watches http.server.${event} sees the call`, async () => {
      let seen = 0
      const look = (): void => void seen++
      subscribe(`http.server.${event}`, look)
      try {
        await gateways.get('by the gateway')!.send(echo('one') + bye)
      } finally {
        unsubscribe(`http.server.${event}`, look)
      }
      assert.equal(seen, 2)
    })

  for (const [what, request] of [
    ['is answered at once', echo('one')],
    ['is answered later', post('later', { ms: 20 })],
    ['is followed by another', post('later', { ms: 20 }) + echo('behind')],
  ] as const)
    it(`a client that half-closes after a call that ${what}`, async () => {
      const [own, other] = await Promise.all(
        [...gateways.values()].map(async (gateway) => {
          const client = await gateway.raw()
          client.socket.end(request)
          return normalized(await client.closed())
        }),
      )
      assert.equal(own, other)
    })
})

/** All that arrives until the connection ends, normalized. */
async function responsesTo(gateway: TestGateway, pieces: readonly string[]): Promise<string> {
  const client = await gateway.raw()
  for (const piece of pieces) {
    client.write(piece)
    await paceAfter(client, piece)
  }
  return normalized(await client.closed())
}

/** Removes times and ids. In a forwarded response, chunks and the order of some fields differ. */
function normalized(text: string): string {
  return text
    .replaceAll(/(Transfer-Encoding: chunked\r\n)(Connection: .*\r\nKeep-Alive: .*\r\n)/g, '$2$1')
    .replaceAll(/^[\da-f]+\r\n/gim, '')
    .replaceAll('\n\r\n', '\n')
    .replaceAll(/^Date: .*$/gim, 'Date: now')
    .replaceAll(/"id":"[\w-]+"/g, '"id":"one"')
}

/** Sends pieces of a request fast. Waits for the response after a complete request. */
async function paceAfter(client: RawClient, piece: string): Promise<void> {
  if (piece.length === 1) await new Promise(setImmediate)
  else await Promise.race([sleep(30), once(client.socket, 'close')])
}
