/**
 * What a program and its clients notice of the entrance. The raw corpus
 * (`scripts/entrance/corpus.ts`) says what is accepted; this is about streams, time, and the end of
 * workers.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { builtAddon, Client, eventually, get, Served } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

for (const bridge of ['duplex', 'exchange'] as const)
  describe(`a program behind the entrance (${bridge})`, options, () => {
    it('gets a large body as it was sent, by length and in chunks', async () => {
      await using served = await Served.start({ bridge })
      const body = randomBytes(5_000_000)
      const digest = createHash('sha256').update(body).digest('hex')
      const whole = JSON.parse(await served.text('/digest', { method: 'POST', body })) as object
      assert.deepEqual(whole, { length: body.length, digest, trailers: [] })
      const stream = new ReadableStream({
        start(controller) {
          for (let at = 0; at < body.length; at += 99_999) controller.enqueue(body.subarray(at, at + 99_999))
          controller.close()
        },
      })
      const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
      assert.deepEqual(JSON.parse(await served.text('/digest', init)), { length: body.length, digest, trailers: [] })
    })

    it('gets trailers with the names that the client gave them', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect()
      client.send(
        'POST /digest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 5\r\n\r\n',
      )
      await client.until('"trailers":["X-Sum","5"]')
      client.socket.destroy()
    })

    it('is not sent more of a body than it reads', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect().send('POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n')
      const chunk = Buffer.alloc(1_000_000)
      for (let n = 0; n < 30; n++) client.socket.write(chunk)
      const sent = (): number => client.socket.bytesWritten - client.socket.writableLength
      let before = -1
      await eventually(async () => {
        const now = served.native.stats()['bytes_in']!
        const isStill = now === before && now > 0
        before = now
        await new Promise((resolve) => setTimeout(resolve, 100))
        return isStill
      })
      assert.ok(before < 3_000_000, `${before} of ${sent()} bytes were read of a body that nobody reads`)
      await served.text('/read')
      await client.until('read')
      client.socket.destroy()
    })

    it('gets no further ahead of its client than a window', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect()
      client.socket.pause()
      client.send(get('/flow?bytes=50000000'))
      let before = ''
      await eventually(async () => {
        await new Promise((resolve) => setTimeout(resolve, 100))
        const now = await served.text('/written')
        const isStill = now === before && Number(now) > 0
        before = now
        return isStill
      })
      assert.ok(Number(before) < 20_000_000, `${before} bytes were written to a client that does not read`)
      let length = 0
      client.socket.removeAllListeners('data')
      client.socket.on('data', (text) => (length += text.length)).resume()
      await eventually(() => length > 50_000_000)
      client.socket.destroy()
    })

    it('hears that its client is gone', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect().send(get('/open'))
      await client.until('begun')
      client.socket.resetAndDestroy()
      await eventually(async () => (await served.text('/closed')) === '1')
    })

    it('may end a connection without an answer, or amid one', async () => {
      await using served = await Served.start({ bridge })
      const reset = served.connect().send(get('/reset'))
      await reset.closed
      assert.match(reset.bytes, /^HTTP\/1.1 502 /)
      const cut = served.connect().send(get('/cut'))
      await cut.closed
      assert.match(cut.bytes, /half$/)
      assert.equal(await served.text('/thread'), await served.text('/thread'))
    })

    it('may throw: others are answered', async () => {
      await using served = await Served.start({ bridge })
      const thrown = served.connect().send(get('/throw'))
      assert.match(await served.text('/thread'), /^\d+$/)
      thrown.socket.destroy()
    })

    it('takes upgrades as raw streams, each half of which ends by itself', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect().send(`${get('/up', 'Connection: Upgrade\r\nUpgrade: echo\r\n')}first`)
      await client.until('\r\n\r\nfirst')
      client.send('x'.repeat(1_000_000))
      await eventually(() => client.bytes.length > 1_000_000)
      client.socket.end('last')
      await client.closed
      assert.ok(client.bytes.endsWith('last'))
    })

    it('that sends 101 unasked does not keep the connection of a client that has ended its half', async () => {
      await using served = await Served.start({ bridge })
      const client = served.connect()
      client.socket.end(get('/raw-101'))
      await client.closed
    })

    it('sees the addresses of its client, and its field names in their order', async (test) => {
      if (bridge === 'exchange') return test.skip('connections of the exchange have addresses of their own')
      await using served = await Served.start({ bridge })
      const client = served.connect()
      await new Promise((resolve) => client.socket.once('connect', resolve))
      const { localPort } = client.socket
      client.send(get('/seen', 'x-ONE: 1\r\nA: b\r\nX-one: 2\r\n'))
      await client.until('}')
      const seen = JSON.parse(client.bytes.slice(client.bytes.indexOf('\r\n\r\n') + 4)) as object
      assert.deepEqual(seen, {
        rawHeaders: ['Host', 'a', 'x-ONE', '1', 'A', 'b', 'X-one', '2'],
        httpVersion: '1.1',
        remoteAddress: '127.0.0.1',
        remotePort: localPort,
        remoteFamily: 'IPv4',
        localAddress: '127.0.0.1',
        localPort: served.port,
        encrypted: null,
      })
      client.socket.destroy()
    })
  })

describe('a worker behind the entrance', options, () => {
  it('that loops stalls no other, and what it has not begun moves when it ends', async () => {
    await using served = await Served.start({ workers: 2 })
    const looping = served.connect().send(get('/loop'))
    await eventually(() => served.native.stats()['in_flight'] === 1)
    const answers = await Promise.all(Array.from({ length: 40 }, () => served.text('/thread', { method: 'POST' })))
    assert.equal(new Set(answers).size, 1)
    const idle = served.workers.find(({ threadId }) => String(threadId) !== answers[0])!
    await idle.terminate()
    // The request that made it loop was begun and may be repeated: it was, and makes the other one
    // loop.
    await eventually(() => served.native.stats()['retried'] === 1)
    looping.socket.destroy()
  })

  it('that ends has its requests answered: moved, repeated or refused', async () => {
    await using served = await Served.start({ workers: 1 })
    const [begun, posted] = [served.connect(), served.connect()]
    begun.send(get('/never'))
    posted.send('POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await eventually(() => served.native.stats()['in_flight'] === 2)
    const loop = served.connect().send('POST /loop HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await eventually(() => served.native.stats()['in_flight'] === 3)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const moved = served.connect().send('POST /thread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel')
    await eventually(() => served.native.stats()['in_flight'] === 4)
    moved.send('lo')
    const ending = served.workers[0]!
    await served.addWorker()
    await ending.terminate()
    await moved.until('200 OK')
    await posted.until('502 Bad Gateway')
    await loop.until('502 Bad Gateway')
    await eventually(() => served.native.stats()['retried'] === 1)
    assert.equal(served.native.stats()['moved'], 1)
    for (const client of [begun, posted, moved, loop]) client.socket.destroy()
  })

  it('loses none of a thousand requests that it has not begun', async () => {
    await using served = await Served.start()
    const loop = served.connect().send('POST /loop HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await eventually(() => served.native.stats()['in_flight'] === 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const clients = Array.from({ length: 1000 }, () =>
      served.connect().send('POST /thread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'),
    )
    await eventually(() => served.native.stats()['in_flight'] === 1001)
    await served.addWorker()
    await Promise.all(clients.map((client) => client.until('200 OK')))
    assert.equal(served.native.stats()['moved'], 1000)
    await served.workers[0]!.terminate()
    await loop.until('502 Bad Gateway')
    for (const client of clients) client.socket.destroy()
  })

  it('may end many times under load', async () => {
    await using served = await Served.start({ workers: 2 })
    let stop = false
    const statuses = new Map<number, number>()
    const ask = async (): Promise<void> => {
      while (!stop) {
        const response = await fetch(served.url('/thread'))
        await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      }
    }
    const clients = Array.from({ length: 20 }, ask)
    for (let n = 0; n < 25; n++) {
      await served.addWorker()
      await served.workers.shift()!.terminate()
    }
    stop = true
    await Promise.all(clients)
    assert.deepEqual([...statuses.keys()], [200])
    await eventually(() => served.native.stats()['in_flight'] === 0)
    assert.equal(served.native.stats()['panics'], 0)
  })

  it('that is missing is awaited for a while, then it is 503', async () => {
    await using served = await Served.start({ workers: 0, limits: { workerTimeout: 300 } })
    const response = await fetch(served.url('/'))
    assert.equal(response.status, 503)
    assert.equal(served.native.stats()['requests'], 1)
  })
})

describe('a client of the entrance', options, () => {
  it('has so long for a head, for a body and between requests', async () => {
    const limits = { headTimeout: 300, requestTimeout: 600, idleTimeout: 900 }
    await using served = await Served.start({ limits })
    const [head, body, idle, silent] = [served.connect(), served.connect(), served.connect(), served.connect()]
    head.send('GET / HT')
    body.send('POST /digest HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel')
    idle.send(get('/thread'))
    await Promise.all([head.closed, body.closed, idle.closed, silent.closed])
    assert.match(head.bytes, /^HTTP\/1.1 408 /)
    assert.match(body.bytes, /^HTTP\/1.1 408 /)
    assert.match(idle.bytes, /^HTTP\/1.1 200 OK(?!.*408)/s)
    // As from Node.
    assert.match(silent.bytes, /^HTTP\/1.1 408 /)
  })

  it('that does not read for too long is cut', async () => {
    await using served = await Served.start({ limits: { sendTimeout: 500 } })
    const client = served.connect()
    client.socket.pause()
    client.send(get('/flow?bytes=100000000'))
    await eventually(() => served.native.open === 1)
    await eventually(() => served.native.open === 0)
    client.socket.destroy()
  })

  it('beyond the limits is refused', async () => {
    await using served = await Served.start({ limits: { maxConnections: 2, maxBody: 100 } })
    const large = served.connect().send('POST /digest HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n')
    await large.closed
    const chunked = served
      .connect()
      .send('POST /digest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n')
    chunked.send(`${'x'.repeat(0x65)}\r\n`)
    await chunked.closed
    assert.match(large.bytes, /^HTTP\/1.1 413 /)
    assert.match(chunked.bytes, /^HTTP\/1.1 413 /)
    await eventually(() => served.native.open === 0)
    const open = [served.connect(), served.connect()]
    await eventually(() => served.native.open === 2)
    const third = new Client(served.port)
    await third.closed
    assert.match(third.bytes, /^HTTP\/1.1 503 |^$/)
    for (const client of open) client.socket.destroy()
  })

  it('is answered before the entrance closes its connection', async () => {
    await using served = await Served.start()
    const client = served.connect().send(get('/thread'))
    await client.until('200 OK')
    served.native.unlisten()
    served.native.drain(0)
    await client.closed
    await assert.rejects(fetch(served.url('/thread')))
  })
})
