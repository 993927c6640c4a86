import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { isOn } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'

/** A server whose upgraded connections the test controls, without HTTP. */
async function pair(
  use: (client: Socket, server: Socket) => Promise<void>,
  options: { allowHalfOpen?: boolean } = {},
): Promise<void> {
  const program = createServer()
  const upgraded = once(program, 'upgrade') as Promise<[unknown, Socket, Buffer]>
  await using _mesh = new ByteMesh({ catalog: program })
  const client = net.connect({ host: 'catalog.internal', port: 80, ...options })
  client.write('GET / HTTP/1.1\r\nHost: catalog.internal\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n')
  const [, server] = await upgraded
  try {
    await use(client, server)
  } finally {
    client.destroy()
    server.destroy()
  }
}

describe('a socket that is connected to a service', () => {
  test('is connecting, then connected, then ready, and never looks up a name', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const events: string[] = []
    const socket = new Socket()
    for (const event of ['lookup', 'connect', 'ready', 'error'])
      socket.on(event, () => events.push(`${event}, ${socket.readyState}`))
    const lookup = (): never => assert.fail('a service is no name of the network')
    socket.connect({ host: 'catalog.internal', port: 8080, lookup })
    assert.equal(socket.connecting, true)
    assert.equal(socket.pending, true)
    assert.equal(socket.readyState, 'opening')
    await once(socket, 'ready')
    assert.deepEqual(events, ['connect, open', 'ready, open'])
    assert.equal(socket.pending, false)
    socket.destroy()
  })

  test('has addresses on both sides', async () => {
    await pair(async (client, server) => {
      assert.equal(client.remoteAddress, '127.0.0.1')
      assert.equal(client.remoteFamily, 'IPv4')
      assert.equal(client.remotePort, 80)
      assert.equal(client.localAddress, '127.0.0.1')
      assert.deepEqual(client.address(), { address: '127.0.0.1', family: 'IPv4', port: client.localPort })
      assert.equal(server.remoteAddress, '127.0.0.1')
      assert.equal(server.remotePort, client.localPort)
      assert.equal(server.localPort, 80)
    })
  })

  test('counts bytes both ways', async () => {
    await pair(async (client, server) => {
      const [sent, got] = [client.bytesWritten, client.bytesRead]
      assert.equal(server.bytesRead, sent)
      client.write('four')
      server.write('seven..')
      await Promise.all([once(client, 'data'), once(server, 'data')])
      assert.equal(client.bytesWritten, sent + 4)
      assert.equal(server.bytesRead, sent + 4)
      assert.equal(client.bytesRead, got + 7)
    })
  })

  test('accepts writes before it is connected', async () => {
    await pair(async (client) => assert.ok(client.bytesWritten > 0))
  })

  test('may be configured, referenced and unreferenced any number of times', async () => {
    await pair(async (client) => {
      for (let turn = 0; turn < 30; turn++) client.ref().unref().setNoDelay(true).setKeepAlive(true, 1000)
      assert.equal(client.listenerCount('connect'), 0)
    })
  })

  test('times out when nothing happens', async () => {
    await pair(async (client, server) => {
      const timedOut = once(client, 'timeout')
      client.setTimeout(10)
      await timedOut
      assert.equal(client.destroyed, false)
      client.setTimeout(0)
      server.end()
    })
  })

  test('that has ended still reads, if it may be half-open', async () => {
    await pair(
      async (client, server) => {
        client.end('question')
        server.once('end', () => server.end('answer'))
        server.resume()
        assert.equal(Buffer.concat(await client.toArray()).toString(), 'answer')
      },
      { allowHalfOpen: true },
    )
  })

  test('that may not be half-open ends when the other side does, and closes', async () => {
    await pair(async (client, server) => {
      client.resume()
      server.resume()
      server.end()
      const [[hadError]] = await Promise.all([once(client, 'close'), once(server, 'close')])
      assert.equal(hadError, false)
    })
  })

  test('delivers what was written before it was destroyed', async () => {
    await pair(async (client, server) => {
      const received = client.toArray()
      server.write('last words')
      server.destroy()
      assert.equal(Buffer.concat(await received).toString(), 'last words')
    })
  })

  test('is reset when the other side is destroyed with unread bytes', async () => {
    await pair(async (client, server) => {
      server.pause()
      server.on('error', () => {})
      client.resume()
      client.write(Buffer.alloc(1024 * 1024))
      const failed = once(client, 'error')
      await nextTurn()
      server.destroy()
      const [error] = (await failed) as [NodeJS.ErrnoException]
      assert.equal(error.code, 'ECONNRESET')
      assert.equal(client.destroyed, true)
    })
  })

  // A Unix socket has no reset.
  const skip = !isOn('stream') && 'connections are Unix sockets'

  test('is reset on request', { skip }, async () => {
    await pair(async (client, server) => {
      client.resume()
      const failed = once(client, 'error')
      server.resetAndDestroy()
      const [[error], [hadError]] = (await Promise.all([failed, once(server, 'close')])) as [
        [NodeJS.ErrnoException],
        [boolean],
      ]
      assert.equal(error.code, 'ECONNRESET')
      assert.equal(hadError, false)
    })
  })

  test('fails a write when the other side is gone', async () => {
    await pair(
      async (client, server) => {
        client.pause()
        server.destroy()
        await once(server, 'close')
        let error: NodeJS.ErrnoException | undefined
        client.once('error', (failure) => (error = failure))
        // Until this side sees it.
        for (; error === undefined; await nextTurn()) client.write('anyone?')
        assert.equal(error.code, 'EPIPE')
      },
      { allowHalfOpen: true },
    )
  })

  test('holds a write while the other side does not read; a held write ends with the socket', async () => {
    await pair(async (client, server) => {
      server.pause()
      const written: (Error | null | undefined)[] = []
      client.write(Buffer.alloc(8 * 1024 * 1024), (error) => written.push(error))
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      assert.deepEqual(written, [])
      assert.ok(server.readableLength < 1024 * 1024)
      client.destroy()
      await once(client, 'close')
      assert.equal(written.length, 1)
    })
  })

  test('never shares memory with the other side', async () => {
    for (const size of [5, 100_000]) {
      await pair(async (client, server) => {
        const original = Buffer.alloc(size, 'a')
        server.once('data', (chunk: Buffer) => chunk.fill('b'))
        await new Promise((resolve) => client.write(original, resolve))
        for (let turn = 0; turn < 3; turn++) await nextTurn()
        assert.equal(original.includes('b'), false)
      })
    }
  })

  test('two busy ends do not starve the event loop', async () => {
    await pair(async (client, server) => {
      const bounce = (from: Socket) => (chunk: Buffer) => void from.write(chunk)
      client.on('data', bounce(client))
      server.on('data', bounce(server))
      client.write('ball')
      // Each turn needs a timer, which a starved loop would not run.
      while (client.bytesRead < 100) await new Promise((resolve) => setTimeout(resolve, 1))
    })
  })

  for (const size of [1024, 40_000])
    test(`a writer that writes ${size} bytes at a time stops when the other side is gone`, async () => {
      await pair(async (client, server) => {
        server.on('error', () => {})
        const closed = new Promise((resolve) => server.once('close', resolve))
        client.destroy()
        let writes = 0
        while (writes < 10_000 && server.write(Buffer.alloc(size))) writes++
        assert.ok(writes < 10_000)
        await closed
      })
    })

  test('a listener that throws does not lose later data', async () => {
    await pair(async (client, server) => {
      const thrown = Promise.withResolvers<Error>()
      const before = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => thrown.resolve(error))
      let received = 0
      server.on('data', (chunk: Buffer) => {
        const first = received === 0
        received += chunk.length
        if (first) throw new Error('mine')
      })
      client.end(Buffer.alloc(1024 * 1024))
      await once(server, 'end')
      assert.equal((await thrown.promise).message, 'mine')
      assert.equal(received, 1024 * 1024)
      for (const listener of before) process.on('uncaughtException', listener)
    })
  })

  test('that is destroyed while connecting fails its writes, and connects nowhere', async () => {
    let connections = 0
    const program = createServer()
    program.on('connection', () => connections++)
    await using _mesh = new ByteMesh({ catalog: program })
    const socket = net.connect(80, 'catalog.internal')
    const written = new Promise<Error | null | undefined>((resolve) => socket.write('x', resolve))
    socket.destroy()
    assert.equal(((await written) as NodeJS.ErrnoException).code, 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION')
    await nextTurn()
    assert.equal(connections, 0)
  })

  test('reconnects after it was closed, to another service or to the network', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {}, stock: () => {} })
    const outside = net.createServer((peer) => peer.end('outside')).listen(0, '127.0.0.1')
    await once(outside, 'listening')
    const socket = net.connect(80, 'catalog.internal')
    await once(socket, 'connect')
    socket.destroy()
    await once(socket, 'close')
    socket.connect(81, 'stock.internal')
    await once(socket, 'connect')
    assert.equal(socket.remotePort, 81)
    socket.destroy()
    await once(socket, 'close')
    const { port } = outside.address() as net.AddressInfo
    socket.connect(port, '127.0.0.1')
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    assert.equal(String(chunk), 'outside')
    assert.equal(socket.remotePort, port)
    await once(socket, 'close')
    outside.close()
  })
})
