import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { isNative } from '../../support/app/wanted-entrance.ts'
import { type RawClient, TestGateway } from '../../support/http/test-gateway.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const fast: RequestListener = (_, res) => void res.end('fast')

/** Opens a connection, makes a request and leaves it idle. */
async function idleConnection(gateway: TestGateway): Promise<RawClient> {
  const client = await gateway.raw()
  client.write(request('/fast'))
  await client.until(/fast$/)
  return client
}

interface Streaming {
  readonly stream: RequestListener
  /** Resolves with a function that ends the response. */
  readonly begun: Promise<() => void>
}

/** A service that begins its response and waits. */
function streaming(): Streaming {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  const stream: RequestListener = (_, res) => {
    res.write('a')
    resolve(() => res.end('b'))
  }
  return { stream, begun: promise }
}

async function requestStream(
  gateway: TestGateway,
  begun: Streaming['begun'],
): Promise<{ client: RawClient; end: () => void }> {
  const client = await gateway.raw()
  client.write(request('/stream'))
  const end = await begun
  await client.until(/1\r\na\r\n/)
  return { client, end }
}

describe('stop', () => {
  it('answers requests in flight with connection: close, and closes idle connections', async () => {
    const asked = Promise.withResolvers<() => void>()
    await using gateway = await TestGateway.start({
      services: { slow: (_, res) => asked.resolve(() => res.end('done')), fast },
    })
    const idle = await idleConnection(gateway)
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

  it('answers the next request on an idle connection with connection: close', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const kept = await idleConnection(gateway)
    const stopped = gateway.stop(20_000, 5000)
    kept.write(request('/fast'))
    assert.match(
      await kept.closed(),
      /connection: keep-alive[^]*fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i,
    )
    await stopped
  })

  it('answers a request that has arrived before the check for idle connections', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const kept = await idleConnection(gateway)
    const stopped = gateway.stop(20_000, 20)
    kept.write(request('/fast'))
    const end = performance.now() + 100
    while (performance.now() < end);
    assert.match(await kept.closed(), /fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('waits for the rest of a request head', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const slow = await idleConnection(gateway)
    const stopped = gateway.stop(20_000, 400)
    for (const piece of request('/fast').match(/[^]{1,10}/g)!) {
      slow.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    assert.match(await slow.closed(), /fastHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('answers all pipelined requests, with connection: close in the last response only', async () => {
    const answers: (() => void)[] = []
    const all = Promise.withResolvers<void>()
    // The native entrance begins a request when the response before it is complete.
    const count = isNative ? 1 : 3
    await using gateway = await TestGateway.start({
      services: {
        slow(_, res) {
          answers.push(() => res.end('.'))
          if (answers.length === count) all.resolve()
        },
      },
    })
    const client = await gateway.raw()
    client.write(request('/slow').repeat(3))
    await all.promise
    const stopped = gateway.stop(10_000)
    for (const answer of answers) answer()
    const received = await client.closed()
    const connections = [...received.matchAll(/^connection: (\S+)/gim)].map(([, value]) => value)
    assert.deepEqual(connections, ['keep-alive', 'keep-alive', 'close'].slice(-count))
    await stopped
  })

  it('sends a large response completely to a slow client', async () => {
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

  it('accepts one more request after a response that had begun before and has no connection: close', async () => {
    const { stream, begun } = streaming()
    await using gateway = await TestGateway.start({ services: { stream, fast } })
    const { client, end } = await requestStream(gateway, begun)
    const stopped = gateway.stop(20_000, 5000)
    end()
    await client.until(/0\r\n\r\n$/)
    client.write(request('/fast'))
    assert.match(await client.closed(), /0\r\n\r\nHTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('closes after such a response when the connection is idle', async () => {
    const { stream, begun } = streaming()
    await using gateway = await TestGateway.start({ services: { stream } })
    const { client, end } = await requestStream(gateway, begun)
    const stopped = gateway.stop(60_000)
    end()
    assert.match(await client.closed(), /0\r\n\r\n$/)
    await stopped
  })

  it('serves the first request of a new connection', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    const client = await gateway.raw()
    while (gateway.connections === 0) await new Promise(setImmediate)
    const stopped = gateway.stop(10_000)
    client.write(request('/fast'))
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*connection: close\r\n[^]*fast$/i)
    await stopped
  })

  it('closes a connection without requests', async () => {
    await using gateway = await TestGateway.start({ services: {} })
    const client = await gateway.raw()
    while (gateway.connections === 0) await new Promise(setImmediate)
    await gateway.stop(100)
    assert.equal(await client.closed(), '')
  })

  it('sends 503 for requests without a response within the limit', async () => {
    await using gateway = await TestGateway.start({ services: { never: () => {} } })
    const client = await gateway.raw()
    client.write(request('/never'))
    while (gateway.gateway.inFlight === 0) await new Promise(setImmediate)
    await gateway.stop(50)
    assert.match(await client.closed(), /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n/i)
    assert.equal(gateway.gateway.inFlight, 0)
  })

  it('does not wait for upgraded connections, and leaves them open', async () => {
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

  it('refuses later connections', async () => {
    await using gateway = await TestGateway.start({ services: { fast } })
    await gateway.stop(1000)
    const answer = await gateway.send(request('/fast')).catch((error: NodeJS.ErrnoException) => error.code)
    assert.doesNotMatch(answer!, /HTTP/)
  })

  it('may be called twice', async () => {
    await using gateway = await TestGateway.start({ services: {} })
    await Promise.all([gateway.stop(1000), gateway.stop(1000)])
  })
})
