import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOptions, type Values } from '../src/options.ts'
import { cellsOf } from '../src/scenarios/cells.ts'
import { scenarios } from '../src/scenarios/index.ts'

/** What the baseline is asked after such a command line. */
function askedOf(name: string, values: Values) {
  const scenario = scenarios.get(name)!
  const [cell] = cellsOf(scenario, toOptions(scenario, values))
  return cell!.work.requests[0]
}

test('--set changes the parameters that it names, in what is asked and in what must be answered', () => {
  const { path, expect } = askedOf('contention', { set: ['increments=12', 'shards=3'] })
  assert.equal(path, '/run?increments=12&tasks=500&shards=3')
  assert.equal(expect?.body, '{"total":12}')
})

test('--set reaches another work of the scenario', () => {
  const all = askedOf('protocols', { work: 'list' })
  const one = askedOf('protocols', { work: 'list', set: ['items=1'] })
  assert.notDeepEqual(one, all)
  assert.equal((JSON.parse(one.expect?.body as string) as unknown[]).length, 1)
})

test('--path is another path for the work and the parameters that were chosen, with the answer that is right there', () => {
  const { path, expect } = askedOf('offload', { path: '/fibonacci/010', set: ['fibonacci=10'] })
  assert.deepEqual([path, expect?.body], ['/fibonacci/010', '{"fibonacci":55}'])
  const { method } = askedOf('protocols', { work: 'post', path: '/rpz/items?again' })
  assert.equal(method, 'POST')
})
