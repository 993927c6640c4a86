import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ledger } from '../../src/observe/ledger.ts'
import { InstanceTable } from '../../src/shared/instances.ts'
import { bucketOf } from '../../src/shared/latency.ts'

const shape = { rows: 2, services: [{ name: 'web' }, { name: 'cart' }] }

test('totals are what was done, however often one looks', () => {
  const { table, ledger } = started()
  const cart = table.at(0, 'cart')
  for (const failed of [true, false, false]) {
    cart.began()
    cart.left(failed)
    ledger.collect()
    ledger.collect()
  }
  table.latencies(0).of('web', 'cart').add(5)
  ledger.collect()
  table.latencies(0).of('web', 'cart').add(7)
  ledger.collect()
  const { calls, failures } = ledger.of(3, 'cart')
  assert.deepEqual([calls, failures], [3, 1])
  const [pair] = ledger.pairs
  assert.deepEqual([pair?.caller, pair?.callee, pair?.sum], ['web', 'cart', 12])
  assert.deepEqual([pair?.counts[bucketOf(5000)], pair?.counts[bucketOf(7000)]], [1, 1])
})

test('they go on when the worker is replaced, and when its row is another', () => {
  const { table, ledger } = started()
  table.at(0, 'cart').began()
  table.latencies(0).of('web', 'cart').add(1)
  ledger.assign(1, { place: 3 })
  table.at(1, 'cart').began()
  ledger.retire(0)
  ledger.assign(0, { place: 3 })
  table.at(0, 'cart').began()
  table.latencies(0).of('cart', 'web').add(1)
  ledger.collect()
  assert.equal(ledger.of(3, 'cart').calls, 3)
  assert.deepEqual(
    ledger.pairs.map(({ caller, callee, sum }) => [caller, callee, sum]),
    [
      ['web', 'cart', 1],
      ['cart', 'web', 1],
    ],
  )
})

test('a counter that wraps loses nothing', () => {
  const { table, ledger } = started()
  const pair = table.latencies(0).of('web', 'cart')
  pair.add(1, 2 ** 32 - 10)
  ledger.collect()
  pair.add(1, 30)
  ledger.collect()
  assert.equal(ledger.pairs[0]!.counts[bucketOf(1000)], 2 ** 32 + 20)
})

test('the rate is that of the last second, and of no more', () => {
  const { table, ledger } = started()
  for (let call = 0; call < 50; call++) table.at(0, 'web').began()
  ledger.collect()
  ledger.tick(2)
  assert.equal(ledger.of(3, 'web').callsPerSecond, 25)
  ledger.tick(1)
  assert.equal(ledger.of(3, 'web').callsPerSecond, 0)
})

function started(): { table: InstanceTable; ledger: Ledger } {
  const table = new InstanceTable(shape)
  const ledger = new Ledger(table)
  ledger.assign(0, { place: 3 })
  return { table, ledger }
}
