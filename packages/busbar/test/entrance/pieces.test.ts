/**
 * Bodies in tiny pieces, which cost more memory and more framing than their bytes, and in a large
 * one.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { builtAddon, Client, eventually, get, Served } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const count = 10_000

/** Resolves when nothing more is read from clients. */
async function untilQuiet(served: Served): Promise<number> {
  let before = -1
  let quiet = 0
  await eventually(() => {
    const read = served.native.stats()['bytes_in']!
    quiet = read === before ? quiet + 1 : 0
    before = read
    return quiet === 20
  })
  return before
}

describe('a body in tiny pieces', options, () => {
  it('is read no further than its program can hold', async () => {
    await using served = await Served.start()
    const client = new Client(served.port)
    // Node itself takes 64 Ki of them before a program reads any.
    const chunks = '1\r\nx\r\n'.repeat(40 * count)
    client.send(`POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    const read = await untilQuiet(served)
    assert.ok(read < chunks.length / 3, `${read} of ${chunks.length} bytes`)
    await served.text('/read')
    await client.until('\r\n\r\nread')
    client.socket.destroy()
  })

  it('arrives whole over HTTP/2', async () => {
    await using served = await Served.start()
    const session = connect(served.url('/'))
    const stream = session.request({ ':path': '/unread', ':method': 'POST' })
    for (let n = 0; n < count; n++) stream.write('x')
    stream.end()
    await untilQuiet(served)
    await served.text('/read')
    assert.equal(await text(stream), 'read')
    const digest = session.request({ ':path': '/digest', ':method': 'POST' })
    for (let n = 0; n < count; n++) digest.write('x')
    digest.end()
    assert.match(await text(digest), new RegExp(`"length":${count},`))
    session.destroy()
  })
})

describe('a response in tiny pieces', options, () => {
  for (const [protocol, ask] of [
    ['HTTP/1.1', (served: Served) => served.text('/tiny')],
    ['HTTP/2', overHttp2],
  ] as const)
    it(`arrives whole over ${protocol}`, async () => {
      await using served = await Served.start()
      assert.equal((await ask(served)).length, 60_000)
    })
})

describe('a response in one large piece', options, () => {
  it('is followed by the response to the next request of its connection', async () => {
    await using served = await Served.start()
    const client = new Client(served.port)
    client.send(get('/large') + get('/closed'))
    await client.until('xHTTP/1.1 200 ')
    client.send(get('/seen', 'Connection: close\r\n'))
    await client.closed
    assert.match(client.bytes, /xHTTP\/1\.1 200 [^]*\r\n\r\n0HTTP\/1\.1 200 /)
    assert.equal(served.native.stats()['in_flight'], 0)
  })
})

describe('a response of bytes', options, () => {
  it('arrives whole behind its head, whatever its length', async () => {
    await using served = await Served.start()
    for (const length of [1, 300, 64 * 1024 - 200, 64 * 1024, 64 * 1024 + 1, 300_000]) {
      const response = await fetch(served.url(`/bytes?length=${length}`))
      assert.equal(response.headers.get('x-name'), 'caf\u00e9')
      const bytes = new Uint8Array(await response.arrayBuffer())
      assert.equal(bytes.length, length)
      assert.ok(
        bytes.every((byte, at) => byte === at % 251),
        `${length} bytes`,
      )
    }
  })
})

async function overHttp2(served: Served): Promise<string> {
  const session = connect(served.url('/'))
  const body = await text(session.request({ ':path': '/tiny' }))
  session.destroy()
  return body
}
