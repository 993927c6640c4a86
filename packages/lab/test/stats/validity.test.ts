import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { bench } from '../../src/bench.ts'
import type { Timing } from '../../src/protocol/plan.ts'
import type { Result } from '../../src/result.ts'
import { armOf, testFaults } from '../support/faults.ts'
import { OwnCache, scenarioOf, serverArm, tiny, withEngine } from '../support/fixture.ts'

const inSlices: Partial<Timing> = { ...tiny, pulses: 0 }

// So short a warm-up does not meet the fault. The same in slices: faults-in-slices.test.ts.
testFaults('in pulses', { ...tiny, warmUpMs: 10, pulses: 10 })

describe('an arm with other work than the baseline is invalid', withEngine, () => {
  let result: Result
  before(async () => {
    using _ = new OwnCache()
    const arms = [
      serverArm('compress', { FAULT: 'compress' }),
      serverArm('header', { FAULT: 'header' }),
      serverArm('flags', {}, ['--max-semi-space-size=8']),
    ]
    result = await bench(scenarioOf(arms), { quick: true, timing: tiny, command: 'test' })
  })
  const reasons = (name: string) => armOf(result, name).invalidBecause.join('\n')
  test('by compression, which does not affect other arms', () => {
    assert.match(reasons('compress'), /its content-encoding is "gzip", the baseline's missing/)
    assert.doesNotMatch(reasons('compress'), /mismatch|body/)
    assert.deepEqual(armOf(result, 'good').invalidBecause, [])
  })
  test('by another header', () => {
    assert.match(reasons('header'), /its x-powered-by is "a fault", the baseline's missing/)
  })
  test('by another Node flag', () => {
    assert.match(reasons('flags'), /it ran on v\S+ --max-semi-space-size=8, the baseline on v\S+$/m)
  })
})

test('arms that all compress are valid', withEngine, async () => {
  using _ = new OwnCache()
  const arms = ['good', 'other'].map((name) => serverArm(name, { COMPRESS: 'yes' }))
  const result = await bench(scenarioOf([], { arms, quick: { arms: ['good', 'other'] } }), {
    quick: true,
    timing: tiny,
    command: 'test',
  })
  for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
})

for (const [how, timing] of Object.entries({
  'in pulses': { ...tiny, pulses: 20 },
  'in slices': { ...inSlices, sliceMs: 1200 },
}))
  test(`an arm with fewer workers than requested is invalid, measured ${how}`, withEngine, async () => {
    using _ = new OwnCache()
    const scenario = scenarioOf([serverArm('one', { WORKERS: '1' })], { workers: [2], connections: [40] })
    const result = await bench(scenario, { quick: true, timing, command: 'test' })
    assert.match(armOf(result, 'one').invalidBecause.join('\n'), /only 1 of 2 workers did any work/)
    assert.deepEqual(armOf(result, 'good').invalidBecause, [])
  })

test('an arm that cannot start is invalid, with its output', withEngine, async () => {
  using _ = new OwnCache()
  const broken = serverArm('broken', {}, ['--no-such-flag'])
  const result = await bench(scenarioOf([broken]), { quick: true, timing: tiny, command: 'test' })
  assert.match(armOf(result, 'broken').invalidBecause.join('\n'), /ended before it answered:[^]*bad option/)
  assert.deepEqual(armOf(result, 'good').invalidBecause, [])
})

test('disturbed slices are repeated twice, and then lost', withEngine, async () => {
  using _ = new OwnCache()
  const timing = { ...inSlices, disturbed: -1, sliceMs: 100, warmUpMs: 100 }
  const result = await bench(scenarioOf([]), { quick: true, timing, command: 'test' })
  assert.deepEqual(armOf(result, 'good').invalidBecause, ['6 of 6 slices were lost to steal or throttling'])
  assert.equal(armOf(result, 'good').throughput.perSecond, null)
  assert.doesNotMatch(result.notes.join('\n'), /Waited/)
})

test('disturbed pulses count, since they disturb all arms alike', withEngine, async () => {
  using _ = new OwnCache()
  const result = await bench(scenarioOf([]), { quick: true, timing: { ...tiny, disturbed: -1 }, command: 'test' })
  assert.deepEqual(armOf(result, 'good').invalidBecause, [])
  assert.ok(armOf(result, 'good').throughput.perSecond! > 0)
})

test('a session waits for a calm machine within its budget, with a note', withEngine, async () => {
  using _ = new OwnCache()
  const timing = { ...inSlices, disturbed: -1, sliceMs: 100, warmUpMs: 100, waitShare: 0.1, budgetMs: 20_000 }
  const result = await bench(scenarioOf([]), { quick: true, timing, command: 'test' })
  const [, waited] = /^Waited (\d+) s in all/m.exec(result.notes.join('\n')) ?? assert.fail('nothing is said of it')
  assert.ok(Number(waited) >= 2)
  assert.deepEqual(armOf(result, 'good').invalidBecause, ['6 of 6 slices were lost to steal or throttling'])
})
