import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { ackAfter, SendWindow } from '../../src/mesh/cluster/send-window.ts'
import { clusterWindow } from '../../src/mesh/links/limits/limits.ts'
import { fair, FaultProxy } from '../hosts/support/fault-proxy.ts'
import { Shop } from '../hosts/support/shop.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const slow = { delay: 200, rate: 100_000 }

describe('a large call over a slow network to NATS', { skip: withoutNats }, () => {
  it('costs neither the caller nor the host its connection', async () => {
    await using nats = await NatsServer.start()
    await using proxy = await FaultProxy.open(nats.port)
    await using host = await ClusterShop.start(new Shop('far'), nats.config({}, proxy.port))
    await using caller = await ClusterCaller.open(nats.config({}, proxy.port))
    host.shop.answer = 'read'
    proxy.weather = slow
    assert.equal(await caller.shop.write(new Uint8Array(1_200_000)), 'read')
    assert.deepEqual([caller.log, host.shop.log], [[], []])
    proxy.weather = fair
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
  const inTime = (duration: number): number => {
    for (let round = 0; round < 100; round++) read(duration)
    return inTransit
  }
  assert.ok(inTime(1) >= clusterWindow)
  assert.ok(inTime(3_000) <= ackAfter + 1024)
  // Two that come together say little.
  read(0)
  assert.ok(inTransit <= 3 * ackAfter)
  assert.ok(inTime(1) >= clusterWindow)
  // What a distant peer reads at once is acknowledged at once.
  for (let round = 0; round < 200; round++) read(round % 32 === 0 ? 600 : 0)
  assert.ok(inTransit >= clusterWindow / 2)
  assert.equal(window.acknowledged(2 * clusterWindow), false)
})
