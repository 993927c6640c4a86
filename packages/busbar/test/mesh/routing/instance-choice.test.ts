import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SharedLoads } from '../../../src/mesh/routing/balance/loads.ts'
import type { Endpoint } from '../../../src/mesh/routing/endpoint.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { createCells, WorkerCells } from '../../../src/shared/metrics/worker-cells.ts'
import { InstanceTable } from '../../../src/shared/metrics/instance-table.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { TestInstance, TestLoads } from '../../support/mesh/test-instance.ts'

describe('among remote instances', () => {
  test('the one with the least load is picked, calls in transit included', () => {
    const { router, instances } = routerOf(3)
    const [first, second, third] = instances
    first!.answering = 5
    second!.answering = 1
    third!.answering = 2
    const chosen = Array.from({ length: 5 }, () => router.find('cart'))
    assert.equal(chosen[0], second)
    assert.deepEqual(
      [chosen.filter((one) => one === second).length, chosen.filter((one) => one === third).length],
      [3, 2],
    )
  })

  test('a call that has arrived counts once', () => {
    const { router, instances } = routerOf(2)
    const first = router.find('cart') as TestInstance
    const second = instances.find((one) => one !== first)!
    first.begun = 1
    first.answering = 1
    second.answering = 2
    assert.equal(router.find('cart'), first)
  })

  test('a call that never arrived is forgotten with the next heartbeat', () => {
    const { router, loads, instances } = routerOf(2)
    instances[1]!.answering = 1
    assert.equal(router.find('cart'), instances[0])
    router.find('cart')
    router.find('cart')
    loads.ownBeat++
    assert.equal(router.find('cart'), instances[0])
  })

  test('hosts of other apps that answer no ping are picked only if all do so', () => {
    const { router, instances } = routerOf(3)
    for (const instance of instances) instance.host = `tcp://host-${instance.index}:7001`
    const chosen = (): Set<unknown> => new Set(Array.from({ length: 100 }, () => router.find('cart')))
    instances[0]!.isSilent = true
    instances[2]!.isSilent = true
    assert.deepEqual(chosen(), new Set([instances[1]]))
    instances[1]!.isSilent = true
    assert.deepEqual(chosen(), new Set(instances))
  })

  test('equally loaded ones rotate', () => {
    const { router, instances } = routerOf(3)
    const chosen = Array.from({ length: 30 }, () => router.find('cart'))
    for (const instance of instances) assert.equal(chosen.filter((one) => one === instance).length, 10)
  })

  test('one that does not serve is never picked, nor one whose link is closing', () => {
    const { router, instances } = routerOf(3)
    instances[0]!.state = 'draining'
    instances[1]!.linkState = 'draining'
    instances[2]!.answering = 1000
    assert.equal(router.find('cart'), instances[2])
    instances[2]!.state = 'stopped'
    assert.equal(router.find('cart'), undefined)
  })

  test('one with a late heartbeat is skipped, unless all are late', () => {
    const { router, instances } = routerOf(2)
    instances[0]!.isLate = true
    instances[1]!.answering = 1000
    assert.equal(router.find('cart'), instances[1])
    instances[1]!.isLate = true
    assert.equal(router.find('cart'), instances[0])
  })

  test('one that left is no longer found', () => {
    const { router, instances } = routerOf(1)
    router.removeRemote(instances[0]!)
    assert.equal(router.find('cart'), undefined)
    assert.equal(router.stateOf('cart'), 'stopped')
  })

  test('a retry goes to another one, or to none', () => {
    const { router, instances } = routerOf(2)
    instances[1]!.answering = 1000
    assert.equal(router.find('cart', { not: instances[0] }), instances[1])
    router.removeRemote(instances[1]!)
    assert.equal(router.find('cart', { not: instances[0] }), undefined)
  })
})

describe('with an instance in this thread', () => {
  test('that one is picked, however idle others are', async () => {
    await using local = new TestEndpoint('cart', () => {})
    const { router, loads } = routerOf(2)
    router.add(local)
    loads.own = 100
    assert.equal(router.find('cart'), local)
    loads.own = 7
    loads.ownUtilization = 1
    assert.equal(router.find('cart'), local)
  })

  test('a remote one is picked while this thread is busy and has several times as many calls', async () => {
    await using local = new TestEndpoint('cart', () => {})
    const { router, instances, loads } = routerOf(1)
    router.add(local)
    loads.ownUtilization = 1
    loads.own = 41
    instances[0]!.answering = 9
    assert.equal(router.find('cart'), instances[0])
    instances[0]!.answering = 10
    assert.equal(router.find('cart'), local)
    instances[0]!.answering = 9
    instances[0]!.isLate = true
    assert.equal(router.find('cart'), local)
  })

  test('others are picked as soon as it drains', async () => {
    await using local = new TestEndpoint('cart', () => {})
    const { router, instances } = routerOf(1)
    router.add(local)
    local.state = 'draining'
    assert.equal(router.find('cart'), instances[0])
  })
})

describe('calls with a key', () => {
  const keys = Array.from({ length: 2000 }, (_, index) => `user-${index}`)
  const homes = (router: Router): (Endpoint | undefined)[] => keys.map((key) => router.find('cart', { key }))

  test('go to the same instance whatever the load, and every instance gets its share', () => {
    const { router, instances } = routerOf(4)
    const before = homes(router)
    instances[0]!.answering = 1000
    instances[1]!.isLate = true
    assert.deepEqual(homes(router), before)
    for (const instance of instances) {
      const share = before.filter((one) => one === instance).length
      assert.ok(share > 400 && share < 600, `${share} of 2000`)
    }
  })

  test('every caller picks the same one, including the caller in its worker', async () => {
    await using local = new TestEndpoint('cart', () => {})
    const { router: other, instances } = routerOf(3)
    const mine = new Router(['cart'])
    mine.add(local, 1)
    mine.addRemote(instances[2]!)
    mine.addRemote(instances[0]!)
    const seen = homes(mine).map((one) => (one === local ? instances[1] : one))
    assert.deepEqual(seen, homes(other))
  })

  test('when an instance leaves only its keys move, and they return with it', () => {
    const { router, instances } = routerOf(4)
    const before = homes(router)
    router.removeRemote(instances[2]!)
    for (const [at, home] of homes(router).entries())
      if (before[at] === instances[2]) assert.notEqual(home, instances[2])
      else assert.equal(home, before[at])
    router.addRemote(new TestInstance('cart', 2))
    const indexes = homes(router).map((home) => home?.at === 'link' && home.index)
    assert.deepEqual(
      indexes,
      before.map((home) => home?.at === 'link' && home.index),
    )
  })
})

describe('loads in shared memory', () => {
  const table = new InstanceTable({ rows: 2, services: [{ name: 'cart' }] })
  const memory = createCells(2)
  const loads = new SharedLoads(memory, table, 0)

  test('are the ones that the instance writes', () => {
    table.at(1, 'cart').countStart()
    assert.equal(loads.inFlight(1, 'cart'), 1)
    assert.equal(loads.inFlight(undefined, 'cart'), 0)
    table.at(0, 'cart').countStart()
    assert.equal(loads.ownInFlight('cart'), 1)
  })

  test('a heartbeat is late relative to this worker’s own; if this worker was blocked, none is late', () => {
    const [own, other] = [new WorkerCells(memory, 0), new WorkerCells(memory, 1)]
    own.beat(5000)
    other.beat(3900)
    assert.equal(loads.isStale(1), true)
    other.beat(4100)
    assert.equal(loads.isStale(1), false)
    other.beat(9000)
    assert.equal(loads.isStale(1), false)
    assert.equal(loads.isStale(undefined), false)
  })
})

function routerOf(count: number): { router: Router; instances: TestInstance[]; loads: TestLoads } {
  const instances = Array.from({ length: count }, (_, index) => new TestInstance('cart', index))
  const loads = new TestLoads(instances)
  const router = new Router(['cart'], loads)
  for (const instance of instances) router.addRemote(instance)
  return { router, instances, loads }
}
