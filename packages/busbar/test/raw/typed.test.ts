/** The response of a typed service does not depend on where it runs, for any input. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { formatOutcome, outcomesAt } from './outcomes.ts'
import { typed } from './corpus/typed.ts'
import { serviceIn } from './placements.ts'
import { TestApp } from '../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/things/index.ts`
const names = Object.keys(typed)

/** The outcome of each case, as text. */
async function outcomeTexts(placement: 'shared' | 'thread' | 'process'): Promise<Map<string, string>> {
  const things = { ...serviceIn(placement, 'things', file), kind: 'typed' } as const
  const routes = [{ host: undefined, prefix: '/api', service: 'things' }]
  await using app = await TestApp.start({ services: { things }, gateway: { entry: undefined, routes } })
  const outcomes = await outcomesAt(app.port, names, typed)
  for (const { deaths } of app.running.workers) assert.equal(deaths, 0)
  return new Map(names.map((name) => [name, formatOutcome(outcomes.get(name)!)]))
}

describe('a raw request to a typed service', () => {
  let shared: Map<string, string>
  before(async () => (shared = await outcomeTexts('shared')))

  it('ends its connection, without an internal error', () => {
    const failed = names.filter(
      (name) => !shared.get(name)!.endsWith('closed') || /^HTTP\/1\.1 5/m.test(shared.get(name)!),
    )
    // Their deadline expires before they begin.
    assert.deepEqual(failed, ['field, call: Busbar-Timeout: 0', 'field, stream: Busbar-Timeout: 0'])
  })

  for (const placement of ['thread', 'process'] as const)
    it(`is answered in a ${placement} as in the gateway's worker`, async () => {
      const found = await outcomeTexts(placement)
      for (const name of names) assert.equal(found.get(name), shared.get(name), name)
    })
})
