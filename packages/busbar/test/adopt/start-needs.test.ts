import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasStartCycle, withNeeds } from '../../src/adopt/trying/start-needs.ts'

const config = { services: { api: './api', web: './web', log: './log' } }
const calls = [
  { from: 'api', to: 'web' },
  { from: 'web', to: 'api' },
  { from: 'api', to: 'log' },
]

function needs(startCallers: readonly string[] = []): Record<string, unknown> {
  const { services = {} } = withNeeds(config, calls, new Set(startCallers))
  return Object.fromEntries(
    Object.entries(services).map(([name, one]) => [name, typeof one === 'string' ? [] : one.needs]),
  )
}

test('services that call each other need none of these, until one could not start without another', () => {
  assert.deepEqual(needs(), { api: ['log'], web: [], log: [] })
  assert.deepEqual(needs(['web']), { api: ['log'], web: ['api'], log: [] })
  assert.deepEqual(needs(['api']), { api: ['log', 'web'], web: [], log: [] })
})

test('of services that cannot start without each other one starts first', () => {
  assert.deepEqual(needs(['api', 'web']), { api: ['log', 'web'], web: [], log: [] })
  assert.equal(hasStartCycle(calls, new Set(['api', 'web'])), true)
  assert.equal(hasStartCycle(calls, new Set(['api'])), false)
})
