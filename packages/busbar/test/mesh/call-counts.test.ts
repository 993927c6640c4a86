import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { describe, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { startMesh } from '../../src/mesh/mesh.ts'
import { Meter } from '../../src/mesh/meter.ts'
import { Router } from '../../src/mesh/routing/router.ts'
import { runInScope } from '../../src/mesh/scope.ts'
import { noStatus } from '../../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../../src/shared/metrics/instance-table.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { exchanges, streams } from '../support/mesh/accelerators.ts'
import { TestEndpoint } from '../support/mesh/test-endpoint.ts'

class Counted extends TestEndpoint {
  readonly table = new InstanceTable({ rows: 1, services: [{ name: 'web' }, { name: 'cart' }] })
  readonly count = this.table.at(0, 'cart')
  readonly meter = new Meter(this.table.edges(0))
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
    test('are counted when they start, are in flight until they end, and fail if the service is at fault', async () => {
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

// `fetch` opens another connection after one that it gave up, so a port has only one such test.
for (const [name, begun, failures, port] of [
  ['before there is an answer is a failed call', false, 1, 81],
  ['after the answer has begun is none', true, 0, 82],
] as const)
  test(`a caller that gives up ${name}`, async () => {
    await using cart = new Counted('cart', (_, response) => void (begun && response.write('begun')))
    await using _ = await meshTo(cart)
    const gone = new AbortController()
    const call = fetch(`http://cart.internal:${port}/`, { signal: gone.signal })
    if (begun) await call
    await pollUntil(() => cart.count.inFlight === 1)
    gone.abort()
    if (!begun) await assert.rejects(call)
    await pollUntil(() => cart.count.inFlight === 0)
    assert.equal(cart.count.failures, failures)
  })

test('the latency of a call is recorded for its caller and callee, whatever its outcome', async () => {
  await using cart = new Counted('cart', (request, response) => {
    if (request.url === '/hang-up') request.socket.destroy()
    else response.end('ok')
  })
  await using _ = await meshTo(cart)
  await runInScope({ service: 'web', hops: 0 }, async () => {
    await (await fetch('http://cart.internal/')).text()
    await fetch('http://cart.internal/hang-up').catch(() => {})
  })
  const edges = cart.table.edges(0)
  const { caller, callee } = edges.keyOf(0)
  assert.deepEqual([caller, callee], ['web', 'cart'])
  const outcomes = Array.from({ length: edges.outcomes }, (_, at) => edges.outcomeOf(at))
  assert.deepEqual(
    outcomes
      .map(({ status, buckets }) => [status, buckets.reduce((sum, count) => sum + count, 0)])
      .toSorted(([one], [other]) => one! - other!),
    [
      [noStatus, 1],
      [200, 1],
    ],
  )
})

describe('the meter', () => {
  const meterOf = (): Meter => new Meter(new InstanceTable({ rows: 1, services: [] }).edges(0))

  test('measures every call while there are few', () => {
    const meter = meterOf()
    assert.ok(Array.from({ length: 1000 }, () => meter.next()).every((weight) => weight === 1))
  })

  test('samples under load, and the samples represent all calls', () => {
    const meter = meterOf()
    const calls = 1_000_000
    // The first second adapts, the later ones know the load.
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

  test('samples independently of call patterns', () => {
    const meter = meterOf()
    for (let call = 0; call < 100_000; call++) meter.next()
    meter.renew()
    const measured = [0, 0, 0, 0]
    for (let call = 0; call < 400_000; call++) if (meter.next() > 0) measured[call % 4]!++
    const [least, most] = [Math.min(...measured), Math.max(...measured)]
    assert.ok(least > most / 2, measured.join())
  })

  test('measures every call again when the load falls', () => {
    const meter = meterOf()
    for (let call = 0; call < 1_000_000; call++) meter.next()
    meter.renew()
    meter.renew()
    assert.ok(Array.from({ length: 100 }, () => meter.next()).filter((weight) => weight === 1).length >= 99)
  })
})

function meshTo(cart: Counted): ReturnType<typeof startMesh> {
  const router = new Router(['web', 'cart'])
  router.add(cart)
  return startMesh({ router, maxHops: 5, meter: cart.meter, exchanges, streams })
}
