import assert from 'node:assert/strict'
import { writeFileSync, rmSync } from 'node:fs'
import { describe, it, test } from 'node:test'
import { needsMet } from '../../src/supervisor/needs.ts'
import { PeerServices } from '../../src/worker/lifecycle/peer-services.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const programs = `${import.meta.dirname}/programs`

for (const run of ['thread', 'process'] as const)
  test(`a service is not restarted while a ${run} that it needs does not start, and a reload of both restores both`, async () => {
    using folder = new TestFolder()
    const broken = folder.at('broken')
    const services = {
      web: { file: `${programs}/asks-stock.js`, run: 'shared', needs: ['stock'] },
      stock: { file: `${programs}/fragile.js`, run, env: { BROKEN: broken } },
    } as const
    await using app = await TestApp.start({ services }, { timing: { backoff: 60_000, backoffMax: 60_000 } })
    const get = async (path: string): Promise<string> =>
      await (await fetch(`${app.url}${path}`, { headers: { connection: 'close' } })).text()
    assert.equal(await get('/'), 'stock')
    writeFileSync(broken, '')
    assert.equal(await get('/die'), 'no stock')
    await app.until(
      () => app.running.workers[1]!.lastExit?.why === 'start' && app.running.workers[1]!.state === 'waiting',
    )
    await assert.rejects(app.running.replace(undefined, ['web']), {
      code: 'NEEDS_UNMET',
      service: 'web',
      message:
        /^service 'web' cannot start: it needs service 'stock', which does not start; the last time, .*there is the file/,
    })
    assert.equal(await get('/'), 'no stock')
    rmSync(broken)
    await app.running.replace()
    assert.equal(await get('/'), 'stock')
  })

describe('a service that waits for one that does not serve', () => {
  const { services } = appOf({
    services: {
      pages: { file: 'pages.js', needs: ['stock'], startTimeout: 1000 },
      stock: { file: 'stock.js', needs: ['mail'], startTimeout: 2000 },
      mail: { file: 'mail.js', startTimeout: 4000 },
    },
  })

  it('fails when the start timeouts of all needs are over, and names both', async () => {
    const limits: number[] = []
    const met = needsMet(services[0]!, services, async (_, limit) => limits.push(limit) === 0)
    await assert.rejects(met, {
      code: 'NEEDS_UNMET',
      message: "service 'pages' cannot start: it needs service 'stock', which was not ready within 7 s",
    })
    assert.deepEqual(limits, [7000])
  })

  it('does so in its worker too', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const peerServices = new PeerServices({ join() {}, serves() {}, health() {}, leave() {} })
    const [late, inTime] = [peerServices.waitFor('stock', 7000), peerServices.waitFor('mail', 7000)]
    const service = { name: 'mail', typed: false, index: 0 }
    peerServices.handle({ type: 'serves', peer: 1, service })
    t.mock.timers.tick(7000)
    assert.deepEqual([await late, await inTime], [false, true])
  })
})
