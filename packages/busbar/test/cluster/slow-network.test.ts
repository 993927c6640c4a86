import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { ackAfter, SendWindow } from '../../src/mesh/cluster/send-window.ts'
import { clusterWindow } from '../../src/mesh/links/limits.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { Shop } from '../hosts/support/shop.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const slow = { delay: 200, rate: 100_000 }

describe('a large call over a slow network to NATS', { skip: withoutNats, concurrency: true }, () => {
  for (const side of ['the caller', 'the host'])
    it(`does not cost ${side} its connection`, async () => {
      await using nats = await NatsServer.start()
      await using proxy = await FaultProxy.open(nats.port)
      const port = (one: string): number => (one === side ? proxy.port : nats.port)
      await using host = await ClusterShop.start(new Shop('far'), nats.config({}, port('the host')))
      await using caller = await ClusterCaller.open(nats.config({}, port('the caller')))
      host.shop.answer = 'read'
      proxy.weather = slow
      const large = caller.shop.write(new Uint8Array(1_500_000))
      assert.equal(await large, 'read')
      assert.deepEqual([caller.log, host.shop.log], [[], []])
    })
})

test('a link over NATS has little in transit while its peer reads slowly, and much when it reads fast', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const window = new SendWindow()
  /** What is sent until the window is closed. */
  const fill = (): number => {
    let sent = 0
    for (; window.isOpen; sent += 1024) window.sent(1024)
    return sent
  }
  let inTransit = fill()
  const read = (duration: number): void => {
    now += duration
    assert.ok(window.acknowledged(ackAfter))
    inTransit += fill() - ackAfter
  }
  for (let round = 0; round < 20; round++) read(1)
  assert.ok(inTransit >= clusterWindow)
  for (let round = 0; round < 20; round++) read(3_000)
  assert.ok(inTransit <= ackAfter + 1024, String(inTransit))
  // Two that come together say little.
  read(0)
  assert.ok(inTransit <= 3 * ackAfter, String(inTransit))
  assert.equal(window.acknowledged(clusterWindow), false)
})
