import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { TestApp, pollUntil, type AppSetup } from '../support/app/test-app.ts'

const any = `${dirname(import.meta.dirname)}/supervisor/programs/any.js`
const health = `${dirname(import.meta.dirname)}/supervisor/programs/health.js`

async function probe(app: TestApp, path: string, method = 'GET'): Promise<[status: number, body: string]> {
  const response = await fetch(app.url + path, { method, headers: { connection: 'close' } })
  return [response.status, await response.text()]
}

const setup = (more: Partial<AppSetup> = {}): AppSetup => ({
  services: { any, other: { file: any, run: 'thread' } },
  gateway: { probes: true },
  ...more,
})

describe('gateway.probes', () => {
  test('answers /healthz and /readyz of the app and of each service, before any route', async () => {
    await using app = await TestApp.start(setup())
    for (const path of ['/healthz', '/readyz', '/healthz/any', '/readyz/other', '/readyz?verbose=1'])
      assert.deepEqual(await probe(app, path), [200, 'ok\n'], path)
    assert.deepEqual(await probe(app, '/readyz', 'HEAD'), [200, ''])
    assert.deepEqual(await probe(app, '/readyz/none'), [404, 'no such service\n'])
    // Everything else is the entry's, which does not know these paths and closes the connection.
    assert.match((await probe(app, '/'))[1], /thread/)
  })

  test('are off by default: the paths belong to the services', async () => {
    const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/any', service: 'any' }] }
    await using app = await TestApp.start({ services: { any }, gateway })
    assert.equal((await probe(app, '/readyz'))[0], 404)
  })

  test('a service that is unhealthy is not ready; the app is alive', async () => {
    const check = {
      path: '/health',
      interval: 20,
      timeout: 5000,
      unhealthyAfter: 1,
      healthyAfter: 1,
      restartAfter: false,
    } as const
    const services = { any, web: { file: health, run: 'thread', health: check } } as const
    const routes = [{ host: undefined, prefix: '/web', service: 'web' }]
    await using app = await TestApp.start({ services, gateway: { probes: true, routes } })
    assert.equal((await probe(app, '/readyz'))[0], 200)
    await probe(app, '/web/set?status=500')
    await pollUntil(() => !app.running.status().app.ready)
    assert.deepEqual(await probe(app, '/readyz'), [503, 'not ready\n'])
    assert.deepEqual(await probe(app, '/readyz/web'), [503, 'not ready\n'])
    assert.deepEqual(await probe(app, '/healthz/web'), [503, 'unhealthy\n'])
    assert.deepEqual(await probe(app, '/readyz/any'), [200, 'ok\n'])
    assert.deepEqual(await probe(app, '/healthz'), [200, 'ok\n'])
  })

  test('stay ready during a restart', async () => {
    await using app = await TestApp.start(setup({ workers: 2 }))
    let isOver = false
    const restarted = app.running.replace().then(() => (isOver = true))
    while (!isOver) assert.deepEqual(await probe(app, '/readyz'), [200, 'ok\n'])
    await restarted
    assert.deepEqual(await probe(app, '/readyz'), [200, 'ok\n'])
  })

  test('while a service is blocked, the app is ready and the others answer', async () => {
    const services = { any, slow: { file: any, run: 'thread' } } as const
    const routes = [{ host: undefined, prefix: '/slow', service: 'slow' }]
    await using app = await TestApp.start({ services, gateway: { probes: true, routes } })
    const slow = probe(app, '/slow/busy?ms=1500')
    for (const path of ['/readyz', '/healthz', '/readyz/slow']) assert.equal((await probe(app, path))[0], 200)
    assert.equal((await slow)[0], 200)
  })

  test('during stopDelay the app is not ready and serves; then it stops', async () => {
    await using app = await TestApp.start(setup({ stopDelay: 1500 }))
    const stopped = app.running.stop()
    await pollUntil(() => app.running.readiness.phase === 'stopping')
    assert.deepEqual(await probe(app, '/readyz'), [503, 'stopping\n'])
    assert.deepEqual(await probe(app, '/healthz'), [200, 'ok\n'])
    assert.equal((await probe(app, '/'))[0], 200)
    await stopped
    await assert.rejects(probe(app, '/'))
  })
})
