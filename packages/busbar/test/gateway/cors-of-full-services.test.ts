/** A call over HTTP for which a typed service has no room is refused by the mesh, in its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { wanted } from '../support/mesh/wanted-accelerators.ts'

const origin = 'https://page.example'
const programs = `${import.meta.dirname}/../typed/programs/limited`

for (const run of ['shared', 'thread', 'process'] as const)
  test(`a page of a site in gateway.cors reads that a typed service in a ${run} has no room`, async () => {
    const app = await loadApp(programs)
    const limited = { run, instances: 1, concurrency: 1, queue: 0 }
    await using running = await TestApp.startLoaded({
      ...app,
      gateway: {
        ...app.gateway,
        port: 0,
        cors: [origin],
        routes: [{ host: undefined, prefix: '/draw', service: 'draw' }],
      },
      services: app.services.map((one) => (one.name === 'draw' ? { ...one, ...limited } : one)),
      accelerators: wanted,
      stopTimeout: 500,
    })
    const draw = async (ms: number, from: string): Promise<Response> =>
      await fetch(`${running.url}/draw/slowly`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: from },
        body: JSON.stringify({ ms }),
      })
    const first = draw(60_000, origin).catch(() => {})
    await pollUntil(() => running.log.some(({ line }) => line === 'drawing 60000'))
    const refused = await draw(1, origin)
    assert.equal(refused.status, 503)
    assert.equal(refused.headers.get('access-control-allow-origin'), origin)
    assert.equal(refused.headers.get('vary'), 'origin')
    assert.match(await refused.text(), /RESOURCE_EXHAUSTED/)
    const other = await draw(1, 'https://other.example')
    assert.deepEqual([other.status, other.headers.get('access-control-allow-origin')], [503, null])
    await other.text()
    void first
  })
