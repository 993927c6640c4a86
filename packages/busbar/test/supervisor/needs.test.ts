import assert from 'node:assert/strict'
import { writeFileSync, rmSync } from 'node:fs'
import { describe, it, test } from 'node:test'
import { needsMet } from '../../src/supervisor/needs.ts'
import { Neighbours } from '../../src/worker/neighbours.ts'
import { appOf, TestApp } from '../support/app.ts'
import { TestFolder } from '../support/folder.ts'

const programs = `${import.meta.dirname}/programs`

for (const run of ['thread', 'process'] as const)
  test(`a service whose need, a ${run}, does not start is not restarted, which names both; a reload of both brings both back`, async () => {
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
    await assert.rejects(app.running.restart(undefined, ['web']), {
      code: 'NEEDS_UNMET',
      service: 'web',
      message:
        /^service web cannot start: it needs service stock, which does not start; the last time, .*there is the file/,
    })
    assert.equal(await get('/'), 'no stock')
    rmSync(broken)
    await app.running.restart()
    assert.equal(await get('/'), 'stock')
  })

describe('a service that waits for one that does not come', () => {
  const { services } = appOf({
    services: {
      pages: { file: 'pages.js', needs: ['stock'], startTimeout: 1000 },
      stock: { file: 'stock.js', needs: ['mail'], startTimeout: 2000 },
      mail: { file: 'mail.js', startTimeout: 4000 },
    },
  })

  it('fails when all of them should long have served, and names both', async () => {
    const limits: number[] = []
    const met = needsMet(services[0]!, services, async (_, limit) => limits.push(limit) === 0)
    await assert.rejects(met, {
      code: 'NEEDS_UNMET',
      message: 'service pages cannot start: it needs service stock, which has not served within 7 s',
    })
    assert.deepEqual(limits, [7000])
  })

  it('waits no longer in its worker', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const neighbours = new Neighbours({ join() {}, serves() {}, leave() {} })
    const [late, inTime] = [neighbours.until('stock', 7000), neighbours.until('mail', 7000)]
    const service = { name: 'mail', typed: false, index: 0 }
    neighbours.obey({ type: 'serves', peer: 1, service })
    t.mock.timers.tick(7000)
    assert.deepEqual([await late, await inTime], [false, true])
  })
})
