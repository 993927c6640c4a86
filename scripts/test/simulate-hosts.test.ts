/** What docs/guides/scale/many-hosts.md says of the simulated runs, with fewer hosts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lostZone, slowHost } from '../hosts/simulation/scenarios.ts'

const hosts = 6

for (const seed of [1, 2]) {
  test(`a slow host raises the p99 far less than by random choice (seed ${seed})`, () => {
    const [byLoad, byChance] = (['load', 'random'] as const).map((choice) => slowHost({ hosts, choice, seed }, 10))
    assert.ok(byLoad!.calls > 10_000)
    assert.ok(byLoad!.p99 < byChance!.p99 / 2, `${byLoad!.p99} and ${byChance!.p99} ms`)
  })

  test(`a zone that is cut off gets hardly a call once that is known (seed ${seed})`, () => {
    const { before, after, ...during } = lostZone({ hosts, choice: 'load', seed })
    const [first, rest] = Object.values(during)
    assert.equal(before.lost, 0)
    assert.ok(first!.lost > 0.05, `${first!.lost} before it is known`)
    assert.ok(rest!.lost < 0.01, `${rest!.lost} later`)
    assert.ok(rest!.p99 < 1000 && after.p99 < 1000, `${rest!.p99} and ${after.p99} ms`)
  })
}

test('a run depends on its seed only', () => {
  const run = (seed: number): unknown => lostZone({ hosts, choice: 'load', seed })
  assert.deepEqual(run(3), run(3))
  assert.notDeepEqual(run(3), run(4))
})
