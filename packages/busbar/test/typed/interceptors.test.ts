import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { client, safe, type Client } from '../../src/contract/client-entry.ts'
import type { RunningApp } from '../../src/supervisor/running.ts'
import { startApp } from '../../src/supervisor/supervisor.ts'
import { TestFolder } from '../support/folder.ts'
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
      app = await startApp({ ...loaded, services }, { mode: 'start', log: () => {}, timing })
      url = app.addresses[0]!.url.replace(/\/$/, '')
      ada = client(orders, `${url}/api`, { metadata: { authorization: 'Bearer ada' } })
    })
    after(async () => await app.stop())

    it('stand around the calls of every service', async () => {
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

    it('give each call what it depends on, and see calls of other services come from these', async () => {
      assert.equal(await ada.place({ item: 'lamp' }), 'lamp for orders, 0')
      assert.deepEqual(await ada.committed(), ['ada wants lamp'])
    })

    it('see a call fail', async () => {
      assert.equal((await safe(ada.place({ item: 'moon' })))[0]?.code, 'SOLD_OUT')
      assert.deepEqual(await ada.committed(), ['ada wants lamp'])
    })

    it('set headers of the answer', async () => {
      const headers = { authorization: 'Bearer ada' }
      const response = await fetch(`${url}/api/orders/committed`, { method: 'POST', headers })
      assert.equal(response.headers.get('x-user'), 'ada')
    })

    it('stand around streams', async () => {
      assert.deepEqual(await ada.watch().next(), { done: false, value: 'hello ada' })
      const nobody = client(orders, `${url}/api`)
      await assert.rejects(nobody.watch().next(), { code: 'UNAUTHENTICATED' })
    })

    it('leave the limits of the app as they are', async () => {
      const [error] = await safe(ada.place({ item: 'x'.repeat(1024) }))
      assert.equal(error?.code, 'BODY_TOO_LARGE')
    })
  })

describe('a module of interceptors', () => {
  it('that exports something else is refused, and named', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { interceptors: 'auth.mjs', gateway: { port: 0 }, services: { calc: './calc' } },
      'auth.mjs': `export default { signedIn: true }`,
      'calc/contract.mjs': '',
      'calc/index.mjs': `export default { '~implementation': true, contract: { '~contract': true, name: 'calc', methods: {} }, interceptors: [], create: async () => ({}), dispose: async () => {} }`,
    })
    await assert.rejects(startApp(await loadApp(folder.path, { env: {} }), { mode: 'start', log: () => {}, timing }), {
      code: 'PROGRAM_EXPORT_UNKNOWN',
      message: /auth\.mjs, the app's interceptors/,
    })
  })

  it('that is not there is told before anything starts', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { interceptors: 'auht.ts', services: { web: { path: './web', run: 'shared' } } },
      'auth.ts': '',
      'web/index.js': '',
    })
    await assert.rejects(loadApp(folder.path, { env: {} }), { code: 'CONFIG_INVALID', message: /auht\.ts is no file/ })
  })
})
