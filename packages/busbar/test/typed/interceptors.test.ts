import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { client, safe, type Client } from '../../src/contract/client-entry.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { orders } from './programs/signed-in/orders/contract.ts'

const folder = new URL('programs/signed-in', import.meta.url).pathname
const timing = { stale: 60_000 }

for (const run of ['shared', 'process'] as const)
  describe(`interceptors of an app, its services ${run === 'shared' ? 'in one thread' : 'a process each'}`, () => {
    let app: RunningApp
    let url: string
    let ada: Client<(typeof orders)['methods']>

    before(async () => {
      const loaded = await loadApp(folder, { env: {} })
      const services = loaded.services.map((service) => ({ ...service, run }))
      app = await startSupervisor({ ...loaded, services }, { mode: 'start', log: () => {}, timing })
      url = app.addresses[0]!.url.replace(/\/$/, '')
      ada = client(orders, `${url}/api`, { metadata: { authorization: 'Bearer ada' } })
    })
    after(async () => await app.stop())

    it('wrap the calls of every service', async () => {
      const headers = { 'content-type': 'application/json' }
      for (const [path, body] of Object.entries({
        '/api/orders/committed': '',
        '/ledger/ledger/entry': '{"text":"x"}',
      })) {
        const response = await fetch(url + path, { method: 'POST', headers, body })
        assert.equal(response.status, 401, path)
        assert.equal(response.headers.get('www-authenticate'), 'Bearer')
      }
    })

    it('provide dependencies to each call, and see nested calls', async () => {
      assert.equal(await ada.place({ item: 'lamp' }), 'lamp for orders, 0')
      assert.deepEqual(await ada.committed(), ['ada wants lamp'])
    })

    it('see the error of a call', async () => {
      assert.equal((await safe(ada.place({ item: 'moon' })))[0]?.code, 'SOLD_OUT')
      assert.deepEqual(await ada.committed(), ['ada wants lamp'])
    })

    it('can set headers of the response', async () => {
      const headers = { authorization: 'Bearer ada' }
      const response = await fetch(`${url}/api/orders/committed`, { method: 'POST', headers })
      assert.equal(response.headers.get('x-user'), 'ada')
    })

    it('wrap streams', async () => {
      assert.deepEqual(await ada.watch().next(), { done: false, value: 'hello ada' })
      const nobody = client(orders, `${url}/api`)
      await assert.rejects(nobody.watch().next(), { code: 'UNAUTHENTICATED' })
    })

    it('do not change the limits of the app', async () => {
      const [error] = await safe(ada.place({ item: 'x'.repeat(1024) }))
      assert.equal(error?.code, 'BODY_TOO_LARGE')
    })
  })

describe('a module of interceptors', () => {
  it('with an invalid export is refused, and the error names it', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { interceptors: 'auth.mjs', gateway: { port: 0 }, services: { calc: './calc' } },
      'auth.mjs': `export default { signedIn: true }`,
      'calc/contract.mjs': '',
      'calc/index.mjs': `export default { '~implementation': true, contract: { '~contract': true, name: 'calc', methods: {} }, interceptors: [], create: async () => ({}), dispose: async () => {} }`,
    })
    await assert.rejects(
      startSupervisor(await loadApp(folder.path, { env: {} }), { mode: 'start', log: () => {}, timing }),
      {
        code: 'PROGRAM_EXPORT_UNKNOWN',
        message: /the app's interceptors, \S+auth\.mjs,/,
      },
    )
  })

  it('that does not exist is reported before the start', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { interceptors: 'auht.ts', services: { web: { path: './web', run: 'shared' } } },
      'auth.ts': '',
      'web/index.js': '',
    })
    await assert.rejects(loadApp(folder.path, { env: {} }), {
      code: 'CONFIG_INVALID',
      message: /there is no file \S*auht\.ts/,
    })
  })
})
