import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Imported } from '../../src/adopt/imported.ts'
import { withoutSilent } from '../../src/adopt/trying/silent-services.ts'

const found: Imported = {
  kind: 'workspaces',
  source: '/shop',
  root: '/shop',
  config: {
    gateway: { entry: 'web' },
    services: {
      web: { path: './web', needs: ['jobs', 'api'] },
      api: { path: './api', needs: ['jobs'] },
      jobs: './jobs',
    },
  },
  mapped: [],
  unmapped: [],
  leftOut: [],
}

test('a service that opened no port is left out, and nobody needs it', () => {
  const { config, leftOut } = withoutSilent(found, ['jobs'])
  assert.deepEqual(config.services, { web: { path: './web', needs: ['api'] }, api: { path: './api' } })
  assert.deepEqual(
    leftOut.map(({ name }) => name),
    ['jobs'],
  )
})

test('one that the gateway leads to stays', () => {
  assert.equal(withoutSilent(found, ['web']), found)
})
