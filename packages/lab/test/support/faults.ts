import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { bench } from '../../src/bench.ts'
import type { Timing } from '../../src/protocol/plan.ts'
import type { ArmResult, Result } from '../../src/result.ts'
import { OwnCache, scenarioOf, serverArm, withEngine } from './fixture.ts'

/** Part of the reason for each fault. */
const faults: Readonly<Record<string, RegExp>> = {
  status: /mismatch:status × \d+: .*status 500/,
  byte: /mismatch:body × \d+/,
  type: /mismatch:header × \d+: .*its content-type is "application\/json; charset=utf-8", expected "application\/json"/,
  extra: /mismatch:header × \d+: .*its x-cache is "miss", expected missing/,
  truncate: /truncated × \d+: the connection ended amid an answer/,
  stall: /timeout × \d+: no answer within 1500 ms/,
  reset: /reset × \d+/,
  exit: /it ended under load|connections failed|closed × \d+/,
}

/** Tests that an arm with any of the faults is invalid. `how` is said in the tests' names. */
export function testFaults(how: string, timing: Partial<Timing>): void {
  describe(`an arm with this fault in one of three hundred requests is invalid, measured ${how}`, withEngine, () => {
    let result: Result
    before(async () => {
      using _ = new OwnCache()
      const arms = Object.keys(faults).map((fault) => serverArm(fault, { FAULT: fault, EVERY: '300' }))
      result = await bench(scenarioOf(arms), { quick: true, timing, command: 'test' })
    })
    for (const [fault, sentence] of Object.entries(faults))
      test(fault, () => {
        const arm = armOf(result, fault)
        assert.equal(arm.valid, false)
        assert.ok(
          arm.invalidBecause.some((reason) => sentence.test(reason)),
          arm.invalidBecause.join('\n'),
        )
        assert.ok(!result.comparisons.some(({ arm }) => arm === fault))
      })
    test('each reason is listed once, with its count', () => {
      for (const { name, invalidBecause } of result.arms) {
        const kinds = invalidBecause.map((reason) => reason.split(' × ')[0])
        assert.equal(new Set(kinds).size, kinds.length, `${name}: ${invalidBecause.join('\n')}`)
      }
    })
    test('and the good arm is valid', () => assert.deepEqual(armOf(result, 'good').invalidBecause, []))
  })
}

export function armOf(result: Result, name: string): ArmResult {
  return result.arms.find((arm) => arm.name === name)!
}
