import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { backends } from './backends/all.ts'
import { comparable, randomCase } from './random-case.ts'
import { oracle, runCase } from './run-case.ts'

/**
 * `BUSBAR_FUZZ=seed:count` tries others. A seed that found something becomes a case with a name.
 */
const [first, count] = (process.env['BUSBAR_FUZZ'] ?? '1:150').split(':').map(Number) as [number, number]

for (const backend of backends)
  test(`${backend.name}: random programs behave as over TCP, seeds ${first} to ${first + count - 1}`, async () => {
    for (let seed = first; seed < first + count; seed++) {
      const expected = comparable(await oracle(randomCase(seed)))
      const found = comparable(await runCase(randomCase(seed), backend))
      deepEqual(found, expected, `seed ${seed}`)
    }
  })
