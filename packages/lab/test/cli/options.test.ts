import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOptions, type Values } from '../../src/cli/options.ts'
import { cellsOf } from '../../src/scenarios/cells.ts'
import { scenarios } from '../../src/scenarios/index.ts'

/** The request to the baseline for a command line. */
function askedOf(name: string, values: Values) {
  const scenario = scenarios.get(name)!
  const [cell] = cellsOf(scenario, toOptions(scenario, values))
  return cell!.work.requests[0]
}

test('--set changes parameters in the request and in the expected answer', () => {
  const { path, expect } = askedOf('contention', { set: ['increments=12', 'shards=3'] })
  assert.equal(path, '/run?increments=12&tasks=500&shards=3')
  assert.equal(expect?.body, '{"total":12}')
})

test('--set also applies to variants', () => {
  const all = askedOf('protocols', { work: 'list' })
  const one = askedOf('protocols', { work: 'list', set: ['items=1'] })
  assert.notDeepEqual(one, all)
  assert.equal((JSON.parse(one.expect?.body as string) as unknown[]).length, 1)
})

test('--path replaces the path and keeps work, parameters and the expected answer', () => {
  const { path, expect } = askedOf('offload', { path: '/fibonacci/010', set: ['fibonacci=10'] })
  assert.deepEqual([path, expect?.body], ['/fibonacci/010', '{"fibonacci":55}'])
  const { method } = askedOf('protocols', { work: 'post', path: '/rpz/items?again' })
  assert.equal(method, 'POST')
})
