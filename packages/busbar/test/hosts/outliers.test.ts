/** Which hosts get no calls for a while because calls there have failed, and which do. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { failuresToEject, OutlierDetector } from '../../src/mesh/hosts/outlier-detector.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

describe('a host', () => {
  it('gets calls all the time if streams that it answers end by their deadlines', async () => {
    await using one = await ShopHost.start('one')
    await using other = await ShopHost.start('other')
    using caller = await ShopCaller.open([one.address, other.address])
    const read = async (): Promise<void> => {
      for await (const _ of caller.shop.ticks(100_000, { timeout: 500 }));
    }
    const streams = Array.from({ length: 4 * failuresToEject }, read)
    await Promise.all(streams.map((one) => assert.rejects(one, { code: 'DEADLINE_EXCEEDED' })))
    assert.deepEqual(caller.log, [])
  })

  it('gets none for a while if calls that it does not answer end by their deadlines', async () => {
    await using stuck = await ShopHost.start('stuck')
    await using fine = await ShopHost.start('fine')
    using caller = await ShopCaller.open([stuck.address, fine.address])
    stuck.delay = Infinity
    while (caller.log.length === 0) await caller.shop.read(1, { timeout: 30 }).catch(() => {})
    assert.match(caller.log[0]!, new RegExp(`:${stuck.port} gets no calls for a while`))
    for (let time = 0; time < 10; time++) assert.deepEqual(await caller.shop.read(2), { at: 'fine', input: 2 })
  })

  it('gets calls all the time if it is the only one that can be called', async () => {
    const gone = await ShopHost.start('gone')
    const { address } = gone
    await gone[Symbol.asyncDispose]()
    await using only = await ShopHost.start('only')
    using caller = await ShopCaller.open([address, only.address])
    only.delay = 200
    for (let time = 0; time < 2 * failuresToEject; time++) await caller.shop.read(1, { timeout: 20 }).catch(() => {})
    only.delay = 0
    assert.deepEqual(await caller.shop.read(2), { at: 'only', input: 2 })
    assert.ok(!caller.log.some((line) => line.includes('gets no calls for a while')))
  })

  it('gets calls while it is left out if no other host can take them', async () => {
    const fine = await ShopHost.start('fine')
    await using slow = await ShopHost.start('slow')
    using caller = await ShopCaller.open([slow.address, fine.address])
    slow.delay = Infinity
    while (caller.log.length === 0) await caller.shop.read(1, { timeout: 30 }).catch(() => {})
    slow.delay = 0
    assert.deepEqual(await caller.shop.read(2), { at: 'fine', input: 2 })
    await fine[Symbol.asyncDispose]()
    assert.deepEqual(await caller.shop.read(3), { at: 'slow', input: 3 })
    assert.deepEqual(await caller.shop.keyed('one'), { at: 'slow', input: 'one' })
  })
})

test('a host that gets calls again is left out only after as many further failures in a row', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const changes: boolean[] = []
  const detector = new OutlierDetector({ mayEject: () => true, changed: (isEjected) => changes.push(isEjected) })
  const fail = (count: number): void => {
    for (let time = 0; time < count; time++) detector.failed()
  }
  fail(failuresToEject)
  // Of calls that had begun before.
  fail(100)
  t.mock.timers.tick(300_000)
  fail(failuresToEject - 1)
  assert.deepEqual(changes, [true, false])
  fail(1)
  assert.deepEqual(changes, [true, false, true])
  detector.close()
})
