import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallTotals } from '../../../src/observe/metrics/call-totals.ts'
import { timedOf } from '../../../src/observe/metrics/edge-totals.ts'
import { type EdgeKey, noStatus } from '../../../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../../../src/shared/metrics/instance-table.ts'
import { calleeOf, callerOf, noWorker, pairOf } from '../../../src/shared/metrics/worker-pair.ts'
import { bucketOf } from '../../../src/shared/metrics/latency-buckets.ts'

const fromWeb: EdgeKey = {
  caller: 'web',
  callee: 'cart',
  protocol: 'http',
  method: 'GET',
  route: '',
  transport: 'local',
}

const shape = { rows: 2, services: [{ name: 'web' }, { name: 'cart' }] }

test('totals do not depend on how often they are collected', () => {
  const { table, totals } = started()
  const cart = table.at(0, 'cart')
  for (const failed of [true, false, false]) {
    cart.countStart()
    cart.countEnd(failed)
    totals.collect()
    totals.collect()
  }
  const edge = table.edges(0).add(fromWeb)
  for (const milliseconds of [5, 7]) {
    edge.begin()
    edge.end(200, milliseconds)
    totals.collect()
  }
  const { calls, failures } = totals.of(3, 'cart')
  assert.deepEqual([calls, failures], [3, 1])
  const [pair] = totals.pairs
  assert.deepEqual([pair?.caller, pair?.callee, pair?.sum], ['web', 'cart', 12])
  assert.deepEqual([pair?.counts[bucketOf(5000)], pair?.counts[bucketOf(7000)]], [1, 1])
})

test('totals of a service include those of slots that it has left', () => {
  const { table, totals } = started()
  table.at(0, 'cart').countStart()
  totals.retire(0)
  totals.assign(1, { slot: 4 })
  table.at(1, 'cart').countStart()
  totals.collect()
  assert.equal(totals.of(4, 'cart').calls, 1)
  assert.equal(
    totals.ofService('cart').reduce((sum, { calls }) => sum + calls, 0),
    2,
  )
})

test('totals continue after a worker is replaced, also in another row', () => {
  const { table, totals } = started()
  table.at(0, 'cart').countStart()
  table.edges(0).add(fromWeb).end(200, 1)
  totals.assign(1, { slot: 3 })
  table.at(1, 'cart').countStart()
  totals.retire(0)
  totals.assign(0, { slot: 3 })
  table.at(0, 'cart').countStart()
  table
    .edges(0)
    .add({ ...fromWeb, caller: 'cart', callee: 'web' })
    .end(200, 1)
  totals.collect()
  assert.equal(totals.of(3, 'cart').calls, 3)
  assert.deepEqual(
    totals.pairs.map(({ caller, callee, sum }) => [caller, callee, sum]),
    [
      ['web', 'cart', 1],
      ['cart', 'web', 1],
    ],
  )
})

test('a counter that wraps loses nothing', () => {
  const { table, totals } = started()
  const cell = table.cellsAt(0, 'cart')
  cell[1] = 2 ** 32 - 10
  totals.collect()
  cell[1] = 20
  totals.collect()
  assert.equal(totals.of(3, 'cart').calls, 2 ** 32 + 20)
})

test('calls that are not measured count like the last one that was, until they are accounted for', () => {
  const { table, totals } = started()
  const edge = table.edges(0).add(fromWeb)
  const countsOf = (): (number | undefined)[] => {
    totals.collect()
    const { count, buckets } = totals.edges[0]!.outcomes.get(200)!
    return [count, buckets[bucketOf(1000)], buckets[bucketOf(8000)]]
  }
  edge.end(200, 1)
  for (let call = 0; call < 3; call++) edge.end(200, undefined)
  assert.deepEqual(countsOf(), [4, 4, 0])
  edge.end(200, undefined)
  edge.end(200, 8)
  assert.deepEqual(countsOf(), [6, 4, 2])
  edge.end(200, undefined)
  assert.deepEqual(countsOf(), [7, 4, 3])
})

test('calls in flight of a worker that has ended have no response', () => {
  const { table, totals } = started()
  const edge = table.edges(0).add(fromWeb)
  for (let call = 0; call < 3; call++) edge.begin()
  edge.end(200, 1)
  totals.collect()
  assert.equal(totals.edges[0]!.inFlight, 2)
  totals.retire(0)
  const { inFlight, outcomes } = totals.edges[0]!
  assert.deepEqual([inFlight, outcomes.get(200)!.count, outcomes.get(noStatus)!.count], [0, 1, 2])
  // Nobody knows when they began.
  assert.deepEqual([timedOf(outcomes.get(200)!), timedOf(outcomes.get(noStatus)!)], [1, 0])
})

test('calls are also summed up by the workers that made and answered them, over all rows', () => {
  const { table, totals } = started()
  totals.assign(1, { slot: 5 })
  const partsOf = (status: number): unknown[] =>
    [...totals.edges[0]!.outcomes.get(status)!.parts].map(([pair, part]) => [
      callerOf(pair),
      calleeOf(pair),
      part.count,
      part.sum,
      timedOf(part),
    ])
  const [one, other] = [table.edges(0).add(fromWeb), table.edges(1).add(fromWeb)]
  one.end(200, 5, pairOf(4, 6))
  totals.collect()
  one.end(200, undefined, pairOf(4, 6))
  one.end(200, 7, pairOf(4, 4))
  other.end(200, 2, pairOf(4, 6))
  totals.collect()
  assert.deepEqual(partsOf(200), [
    [4, 6, 3, 7, 3],
    [4, 4, 1, 7, 1],
  ])
  totals.retire(0)
  totals.assign(0, { slot: 9 })
  table.edges(0).add(fromWeb).end(200, 1, pairOf(4, 6))
  totals.collect()
  assert.deepEqual(partsOf(200)[0], [4, 6, 4, 8, 4])
  const { count, sum, buckets } = totals.edges[0]!.outcomes.get(200)!
  assert.deepEqual([count, sum, timedOf({ buckets })], [5, 15, 5])
})

test('lost calls belong to the worker that has counted them, as the one that called or that answered', () => {
  const lostOf = (transport: EdgeKey['transport'], hosted: readonly string[], caller = 'web'): unknown[] => {
    const { table, totals } = started()
    for (const name of hosted) table.at(0, name).state = 'serving'
    table
      .edges(0)
      .add({ ...fromWeb, caller, transport })
      .begin()
    totals.retire(0)
    const { parts } = totals.edges[0]!.outcomes.get(noStatus)!
    return [...parts].flatMap(([pair, { count }]) => [callerOf(pair), calleeOf(pair), count])
  }
  assert.deepEqual(lostOf('local', ['web', 'cart']), [4, 4, 1])
  assert.deepEqual(lostOf('local', ['cart'], ''), [noWorker, 4, 1])
  assert.deepEqual(lostOf('thread', ['web']), [4, noWorker, 1])
  assert.deepEqual(lostOf('unix', ['cart']), [noWorker, 4, 1])
  assert.deepEqual(lostOf('unix', ['web'], ''), [noWorker, noWorker, 1])
})

test('the rate covers the last second only', () => {
  const { table, totals } = started()
  for (let call = 0; call < 50; call++) table.at(0, 'web').countStart()
  totals.collect()
  totals.tick(2)
  assert.equal(totals.of(3, 'web').callsPerSecond, 25)
  totals.tick(1)
  assert.equal(totals.of(3, 'web').callsPerSecond, 0)
})

function started(): { table: InstanceTable; totals: CallTotals } {
  const table = new InstanceTable(shape)
  const totals = new CallTotals(table)
  totals.assign(0, { slot: 3 })
  return { table, totals }
}
