import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { type RawClient, TestGateway } from '../support/gateway.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const fast: RequestListener = (_, res) => void res.end('fast')

/** A connection that has been used and is idle. */
async function keptBy(gateway: TestGateway): Promise<RawClient> {
  const client = await gateway.raw()
  client.write(request('/fast'))
  await client.until(/fast$/)
  return client
}

interface Streaming {
  readonly stream: RequestListener
  /** How to end the answer. */
  readonly begun: Promise<() => void>
}

/** A service that has begun its answer. */
function streaming(): Streaming {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  const stream: RequestListener = (_, res) => {
    res.write('a')
    resolve(() => res.end('b'))
  }
  return { stream, begun: promise }
}

async function asked(gateway: TestGateway, begun: Streaming['begun']): Promise<{ client: RawClient; end: () => void }> {
  const client = await gateway.raw()
  client.write(request('/stream'))
  const end = await begun
  await client.until(/1\r\na\r\n/)
  return { client, end }
}

describe('stop', () => {
  it('answers what is in flight, says connection: close, and closes what is quiet', async () => {
    const asked = Promise.withResolvers<() => void>()
    await using gateway = await TestGateway.start({
      services: { slow: (_, res) => asked.resolve(() => res.end('done')), fast },
    })
    const idle = await keptBy(gateway)
    const busy = await gateway.raw()
    busy.write(request('/slow'))
    const answer = await asked.promise
    const stopped = gateway.stop(10_000)
    await idle.closed()
    assert.equal(gateway.gateway.inFlight, 1)
    answer()
    assert.match(await busy.closed(), /^HTTP\/1\.1 200 [^]*connection: close\r\n[^]*done$/i)
    await stopped
    assert.equal(gateway.gateway.connections, 0)
  })

  it('answers the next request on a connection that was idle, and says connection: close', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const kept = await keptBy(gateway)
    const stopped = gateway.stop(20_000, 5000)
    kept.write(request('/fast'))
    assert.match(
      await kept.closed(),
      /connection: keep-alive[^]*fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i,
    )
    await stopped
  })

  it('answers what had arrived before it came to look whether a connection is quiet', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const kept = await keptBy(gateway)
    const stopped = gateway.stop(20_000, 20)
    kept.write(request('/fast'))
    const end = performance.now() + 100
    while (performance.now() < end);
    assert.match(await kept.closed(), /fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('gives a head that is on its way the time to arrive', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const slow = await keptBy(gateway)
    const stopped = gateway.stop(20_000, 400)
    for (const piece of request('/fast').match(/[^]{1,10}/g)!) {
      slow.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    assert.match(await slow.closed(), /fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('answers all of a pipeline, and says so in the last answer alone', async () => {
    const answers: (() => void)[] = []
    const three = Promise.withResolvers<void>()
    await using gateway = await TestGateway.start({
      services: {
        slow(_, res) {
          answers.push(() => res.end('.'))
          if (answers.length === 3) three.resolve()
        },
      },
    })
    const client = await gateway.raw()
    client.write(request('/slow').repeat(3))
    await three.promise
    const stopped = gateway.stop(10_000)
    for (const answer of answers) answer()
    const received = await client.closed()
    const connections = [...received.matchAll(/^connection: (\S+)/gim)].map(([, value]) => value)
    assert.deepEqual(connections, ['keep-alive', 'keep-alive', 'close'])
    await stopped
  })

  it('sends a large answer to its end, however slowly it is read', async () => {
    const size = 20_000_000
    const handed = Promise.withResolvers<void>()
    await using gateway = await TestGateway.start({
      services: {
        large(_, res) {
          res.end(Buffer.alloc(size, 'x'))
          handed.resolve()
        },
      },
    })
    const client = await gateway.raw()
    client.socket.pause()
    client.write(request('/large'))
    await handed.promise
    const stopped = gateway.stop(10_000)
    setTimeout(() => client.socket.resume(), 50)
    const received = await client.closed()
    assert.equal(received.length - received.indexOf('\r\n\r\n') - 4, size)
    await stopped
  })

  it('takes one more request after an answer that had begun before, and could not say that the connection ends', async () => {
    const { stream, begun } = streaming()
    await using gateway = await TestGateway.start({ services: { stream, fast } })
    const { client, end } = await asked(gateway, begun)
    const stopped = gateway.stop(20_000, 5000)
    end()
    await client.until(/0\r\n\r\n$/)
    client.write(request('/fast'))
    assert.match(await client.closed(), /0\r\n\r\nHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('closes after such an answer when nothing more comes', async () => {
    const { stream, begun } = streaming()
    await using gateway = await TestGateway.start({ services: { stream } })
    const { client, end } = await asked(gateway, begun)
    const stopped = gateway.stop(60_000)
    end()
    assert.match(await client.closed(), /0\r\n\r\n$/)
    await stopped
  })

  it('still serves the first request of a connection that has just been made', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const client = await gateway.raw()
    while (gateway.gateway.connections === 0) await new Promise(setImmediate)
    const stopped = gateway.stop(10_000)
    client.write(request('/fast'))
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('closes a connection that never asks', async () => {
    await using gateway = await TestGateway.start({ services: {} })
    const client = await gateway.raw()
    while (gateway.gateway.connections === 0) await new Promise(setImmediate)
    await gateway.stop(100)
    assert.equal(await client.closed(), '')
  })

  it('answers 503 in place of what is not answered within the limit', async () => {
    await using gateway = await TestGateway.start({ services: { never: () => {} } })
    const client = await gateway.raw()
    client.write(request('/never'))
    while (gateway.gateway.inFlight === 0) await new Promise(setImmediate)
    await gateway.stop(50)
    assert.match(await client.closed(), /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n/i)
    assert.equal(gateway.gateway.inFlight, 0)
  })

  it('does not wait for upgraded connections, and leaves them to their program', async () => {
    const upgraded = Promise.withResolvers<Duplex>()
    await using gateway = await TestGateway.start({ services: { chat: () => {} } })
    gateway.endpoints.get('chat')!.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n')
      socket.on('end', () => socket.end())
      upgraded.resolve(socket)
    })
    const client = await gateway.raw()
    client.write('GET /chat HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n')
    const socket = await upgraded.promise
    await gateway.stop(10_000)
    assert.equal(gateway.gateway.connections, 1)
    socket.end('bye')
    assert.match(await client.closed(), /^HTTP\/1\.1 101 [^]*bye$/)
  })

  it('refuses connections that come later', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    await gateway.stop(1000)
    assert.doesNotMatch(await gateway.send(request('/fast')), /HTTP/)
  })

  it('may be asked for twice', async () => {
    await using gateway = await TestGateway.start({ services: {} })
    await Promise.all([gateway.stop(1000), gateway.stop(1000)])
  })
})
