import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { client } from '../../../src/contract/client/client.ts'
import { fn, service } from '../../../src/contract/index.ts'
import { isNative } from '../../support/app/wanted-entrance.ts'
import { aborted, begun, start, post, get, bye, echo, until } from './words-gateway.ts'

describe('a typed call that the gateway answers', () => {
  it('may take longer than the keep-alive timeout', async () => {
    await using gateway = await start('by the gateway', { keepAliveTimeout: 50 })
    const client = await gateway.raw()
    client.write(echo('one'))
    await client.until(/one/)
    // Node adds a second to the timeout that it announces.
    client.write(post('later', { ms: 1300 }))
    await client.until(/\r\n\r\n1300$/)
    client.write(get('/web/1301'))
    await client.until(/web \/1301/)
    client.write(post('later', { ms: 1302 }))
    await client.until(/\r\n\r\n1302$/)
    client.socket.destroy()
  })

  it('awaits any thenable', async () => {
    await using gateway = await start('by the gateway')
    assert.match(await gateway.send(post('query') + bye), /^HTTP\/1\.1 200 [^]*\r\n\r\n\{"text":"a row"\}HTTP/)
  })

  it('is followed by the keep-alive timeout', async () => {
    await using gateway = await start('by the gateway', { keepAliveTimeout: 50 })
    assert.match(await gateway.send(echo('one')), /one/)
    assert.match(await gateway.send(echo('one') + get('/web/1')), /one[^]*web \/1/)
    assert.match(await gateway.send(get('/web/1') + echo('one')), /web \/1[^]*one/)
    await until(() => gateway.gateway.connections === 0)
  })

  it('is aborted when its client disconnects, with or without a pipelined call', async () => {
    await using gateway = await start('by the gateway')
    aborted.length = 0
    const client = await gateway.raw()
    const other = await gateway.raw()
    client.write(post('later', { ms: 60_001 }) + post('later', { ms: 60_002 }))
    other.write(post('later', { ms: 60_003 }))
    // The native entrance begins a request when the response before it is complete.
    const running = isNative ? ['after 60001', 'after 60003'] : ['after 60001', 'after 60002', 'after 60003']
    await until(() => gateway.gateway.inFlight === running.length)
    client.socket.destroy()
    other.socket.destroy()
    await until(() => gateway.gateway.connections === 0 && aborted.length >= running.length)
    assert.deepEqual(aborted.toSorted(), running)
    assert.equal(gateway.gateway.inFlight, 0)
  })

  it('is answered with connection: close when the gateway stops', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.write(post('later', { ms: 50 }))
    await until(() => gateway.gateway.inFlight === 1)
    await gateway.stop(2000)
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*Connection: close\r\n\r\n50$/)
  })

  it('is 504 when it exceeds the response timeout', async () => {
    await using gateway = await start('by the gateway', { responseTimeout: 50 })
    const answer = await gateway.send(post('later', { ms: 500 }))
    assert.match(answer, /^HTTP\/1\.1 504 [^]*RESPONSE_TIMEOUT/)
  })

  it('is 502 when its worker ends', async () => {
    await using gateway = await start('by the gateway')
    const answer = gateway.send(post('later', { ms: 500 }))
    await until(() => gateway.gateway.inFlight === 1)
    gateway.gateway.fail({ status: 500, code: 'WORKER_DIED' } as never)
    assert.match(await answer, /^HTTP\/1\.1 502 [^]*SERVICE_HANGUP/)
  })

  it('is not made if its input is incomplete', async () => {
    await using gateway = await start('by the gateway', { requestTimeout: 100, headerTimeout: 100 })
    const answer = await gateway.send(post('echo', { text: 'half' }).slice(0, -3))
    assert.match(answer, /^HTTP\/1\.1 408 /)
    await until(() => gateway.gateway.inFlight === 0)
  })

  it('may be followed by many pipelined calls', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.write(post('later', { ms: 50 }) + echo('again').repeat(900) + bye)
    assert.equal((await client.closed()).match(/HTTP\/1\.1 200/g)?.length, 902)
  })

  it('is not begun for a client that does not read responses', async () => {
    await using gateway = await start('by the gateway')
    const client = await gateway.raw()
    client.socket.pause()
    begun.echo = 0
    const large = post('echo', { text: 'x'.repeat(900) })
    for (let sent = 0; sent < 40_000; sent += 500) {
      client.write(large.repeat(500))
      await Promise.race([sleep(20), ...(client.socket.writableNeedDrain ? [once(client.socket, 'drain')] : [])])
      if (client.socket.writableLength > 1e6) break
    }
    // The gateway reads no more, or discards what comes after the requests that a connection may
    // have.
    assert.ok(client.socket.writableLength > 1e6 || begun.echo <= 1100, `${begun.echo} calls have begun`)
    client.socket.destroy()
  })

  it('cannot set headers that would change the framing', async () => {
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
