import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { describe, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { startMesh } from '../../src/mesh/mesh.ts'
import { MeasuredCall, Meter } from '../../src/mesh/meter.ts'
import { Router } from '../../src/mesh/router.ts'
import { runInScope } from '../../src/mesh/scope.ts'
import { InstanceTable } from '../../src/shared/instances.ts'
import { pollUntil } from '../support/app.ts'
import { exchanges, streams } from '../support/accelerated.ts'
import { TestEndpoint } from '../support/endpoint.ts'

class Counted extends TestEndpoint {
  readonly table = new InstanceTable({ rows: 1, services: [{ name: 'web' }, { name: 'cart' }] })
  readonly count = this.table.at(0, 'cart')
  readonly meter = new Meter(this.table.latencies(0))
}

const clients: Record<string, (path: string) => Promise<unknown>> = {
  fetch: async (path) => await (await fetch(`http://cart.internal${path}`)).text(),
  'node:http': async (path) => {
    const [answer] = await once(get(`http://cart.internal${path}`, { agent: false }), 'response')
    return await text(answer)
  },
}

for (const [client, call] of Object.entries(clients))
  describe(`requests by ${client}`, () => {
    test('are counted when they begin, are in flight until they end, and fail where the service is at fault', async () => {
      const seen: number[] = []
      await using cart: Counted = new Counted('cart', (request, response) => {
        seen.push(cart.count.inFlight)
        if (request.url === '/hang-up') return void request.socket.destroy()
        response.statusCode = request.url === '/fault' ? 500 : request.url === '/missing' ? 404 : 200
        response.end()
      })
      await using _ = await meshTo(cart)
      for (const path of ['/', '/missing', '/fault', '/hang-up']) await call(path).catch(() => {})
      await pollUntil(() => cart.count.inFlight === 0)
      assert.deepEqual([cart.count.calls, cart.count.failures], [4, 2])
      assert.deepEqual(seen, [1, 1, 1, 1])
    })
  })

for (const [name, begun, failures] of [
  ['before there is an answer is a failed call', false, 1],
  ['after the answer has begun is none', true, 0],
] as const)
  test(`a caller that gives up ${name}`, async () => {
    await using cart = new Counted('cart', (_, response) => void (begun && response.write('begun')))
    await using _ = await meshTo(cart)
    const gone = new AbortController()
    const call = fetch('http://cart.internal/', { signal: gone.signal })
    if (begun) await call
    await pollUntil(() => cart.count.inFlight === 1)
    gone.abort()
    if (!begun) await assert.rejects(call)
    await pollUntil(() => cart.count.inFlight === 0)
    assert.equal(cart.count.failures, failures)
  })

test('the time that a call took is its caller’s and its callee’s, whatever became of it', async () => {
  await using cart = new Counted('cart', (request, response) => {
    if (request.url === '/hang-up') request.socket.destroy()
    else response.end('ok')
  })
  await using _ = await meshTo(cart)
  await runInScope({ service: 'web', hops: 0 }, async () => {
    await (await fetch('http://cart.internal/')).text()
    await fetch('http://cart.internal/hang-up').catch(() => {})
  })
  const [pair] = cart.table.latencies(0).read()
  assert.deepEqual([pair?.caller, pair?.callee], ['web', 'cart'])
  assert.equal(
    pair?.counts.reduce((sum, count) => sum + count, 0),
    2,
  )
})

describe('the meter', () => {
  const meterOf = (): Meter => new Meter(new InstanceTable({ rows: 1, services: [] }).latencies(0))

  test('measures every call while there are few', () => {
    const meter = meterOf()
    assert.ok(Array.from({ length: 1000 }, () => meter.next()).every((weight) => weight === 1))
  })

  test('measures few of many, which stand for all of them', () => {
    const meter = meterOf()
    const calls = 1_000_000
    // The first second adapts, the ones behind it know what to expect.
    for (let second = 0; second < 3; second++) {
      let [measured, stoodFor] = [0, 0]
      for (let call = 0; call < calls; call++) {
        const weight = meter.next()
        if (weight > 0) measured++
        stoodFor += weight
      }
      meter.renew()
      assert.ok(measured < 2000 * 12, `${measured} measured in second ${second}`)
      if (second === 0) continue
      assert.ok(measured < 3000, `${measured} measured`)
      assert.ok(Math.abs(stoodFor / calls - 1) < 0.15, `${stoodFor} of ${calls}`)
    }
  })

  test('does not fall into step with calls that come in a pattern', () => {
    const meter = meterOf()
    for (let call = 0; call < 100_000; call++) meter.next()
    meter.renew()
    const measured = [0, 0, 0, 0]
    for (let call = 0; call < 400_000; call++) if (meter.next() > 0) measured[call % 4]!++
    const [least, most] = [Math.min(...measured), Math.max(...measured)]
    assert.ok(least > most / 2, measured.join())
  })

  test('measures every call again when there are few again', () => {
    const meter = meterOf()
    for (let call = 0; call < 1_000_000; call++) meter.next()
    meter.renew()
    meter.renew()
    assert.ok(Array.from({ length: 100 }, () => meter.next()).filter((weight) => weight === 1).length >= 99)
  })

  test('adds what a call took once it is over', () => {
    const table = new InstanceTable({ rows: 1, services: [{ name: 'cart' }] })
    const call = new MeasuredCall(new Meter(table.latencies(0)), undefined, 'cart', 4)
    call.end()
    const [pair] = table.latencies(0).read()
    assert.deepEqual([pair?.caller, pair?.callee, pair?.counts.reduce((sum, count) => sum + count, 0)], ['', 'cart', 4])
  })
})

function meshTo(cart: Counted): ReturnType<typeof startMesh> {
  const router = new Router(['web', 'cart'])
  router.add(cart)
  return startMesh({ router, maxHops: 5, meter: cart.meter, exchanges, streams })
}
