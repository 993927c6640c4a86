import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { client } from '../../../src/contract/client-entry.ts'
import { cloneValue } from '../../../src/contract/value/clone.ts'
import { echo, ways } from '../programs/values/echo/contract.ts'
import implementation from '../programs/values/echo/index.ts'
import { libraries } from '../programs/values/echo/schemas.ts'
import { outcomeOf } from '../programs/values/outcome.ts'
import { fitsPath, isSupported, valuesFor } from './arbitrary.ts'
import { startTransports } from './transports.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
/** The same values in each run. `VALUES_SEED` selects others, `VALUES_RUNS` sets their number. */
const seed = Number(process.env['VALUES_SEED'] ?? 16)
const numRuns = Number(process.env['VALUES_RUNS'] ?? 3)

describe('a value', () => {
  const stack = new AsyncDisposableStack()
  const reference = client(echo, implementation, { clone: true, log })
  let transports: Readonly<Record<string, object>>

  before(async () => void (transports = await startTransports(stack)))
  after(async () => await stack.disposeAsync())

  for (const [library, { schemas }] of Object.entries(libraries))
    for (const name of Object.keys(schemas))
      it(`is the same at every transport, or refused at each: ${name} of ${library}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.constantFrom(...ways), valuesFor(name), async (way, value) => {
            const method = `${library}_${name}_${way}`
            const input = ['query', 'removal', 'path'].includes(way) ? { value } : value
            if (way === 'path' && !fitsPath(input)) return
            const expected = await outcomeOf(reference, method, input)
            for (const [transport, calls] of Object.entries(transports)) {
              const isByReference = transport === 'one thread'
              if (isByReference && !isSupported(value)) continue
              const outcome = await outcomeOf(calls, method, input)
              // What passes by reference is still a Buffer, and still has no prototype.
              const actual = isByReference ? cloneValue(outcome) : outcome
              assert.deepStrictEqual(actual, expected, `${method} by ${transport}`)
            }
          }),
          { seed, numRuns: numRuns * ways.length },
        )
      })
})
