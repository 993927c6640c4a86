/** State shared by services of an app, in each placement. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'

const file = `${import.meta.dirname}/programs/visits.js`

interface Visit {
  readonly visits?: number
  readonly thread?: number
  readonly elsewhere?: number
  readonly code?: string
  readonly message?: string
}

for (const [where, setup] of [
  ['shared workers', { workers: 2, services: { visits: file } }],
  ['threads of its own', { services: { visits: { file, run: 'thread', instances: 2 } } }],
] as const)
  test(`a service in ${where} shares one counter`, async () => {
    await using app = await TestApp.start(setup)
    const before = (await visit(app)).visits!
    const visits = await Promise.all(Array.from({ length: 20 }, () => visit(app)))
    assert.equal(new Set(visits.map(({ thread }) => thread)).size, 2)
    assert.equal((await visit(app)).visits, before + 21)
    assert.equal((await visit(app, '/offload')).elsewhere, 42)
  })

test('a service in its own process gets an error that says what to do instead', async () => {
  await using app = await TestApp.start({ services: { visits: { file, run: 'process' } } })
  const { code, message } = await visit(app)
  assert.equal(code, 'SHARED_UNAVAILABLE')
  assert.match(message!, /is not available here: visits runs as a process \(run: 'process'\)/)
})

async function visit(app: TestApp, path = '/'): Promise<Visit> {
  const response = await fetch(new URL(path, app.url), { headers: { connection: 'close' } })
  return (await response.json()) as Visit
}
