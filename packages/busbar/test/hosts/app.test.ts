import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type CertificatePair, makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { addToRevocations } from '../../src/cli/certificates/revoke-certificate.ts'
import { loadApp } from '../../src/config/load.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { builtAddon } from '../entrance/served.ts'
import { exportPortOf } from './support/two-apps.ts'

const shop = new URL('../typed/programs/shop', import.meta.url).pathname

/** `old` has no app. Each app has a list that revokes its certificate. */
async function certificatesFor(folder: TestFolder, ca: CertificatePair): Promise<void> {
  for (const name of ['old', 'near', 'far']) {
    const { cert, key } = await makeCertificate({ name, hosts: ['127.0.0.1'], days: 1 }, ca)
    folder.write(`${name}/certs/app.pem`, cert)
    folder.write(`${name}/certs/app-key.pem`, key)
    folder.write(`${name}/certs/ca.pem`, ca.cert)
  }
  const list = await addToRevocations(folder.read('old/certs/app.pem'), ca, undefined)
  for (const name of ['near', 'far']) folder.write(`${name}/certs/crl.pem`, list)
}

/**
 * Its services run in a thread each, so that a link leads to one of them and calls are forwarded to
 * the others.
 */
for (const entrance of ['portable', 'native'] as const) {
  const skip = entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false
  describe(`an app with the ${entrance} entrance whose typed services are in another app, by TLS`, { skip }, () => {
    const folder = new TestFolder()
    let far: TestApp
    let near: TestApp
    const identity = { crl: 'certs/crl.pem' }

    before(async () => {
      await certificatesFor(folder, await makeAuthority())
      const [stock, catalog, sums] = [`${shop}/stock`, { path: `${shop}/catalog`, needs: ['stock'] }, `${shop}/calc`]
      const allow = { stock: ['near'], catalog: ['*'], sums: ['stranger'] }
      folder.write('far/busbar.config.json', {
        gateway: { port: 0, entrance },
        identity,
        defaults: { run: 'thread' },
        services: { stock, catalog, sums },
        export: { tls: '127.0.0.1:0', services: ['stock', 'catalog', 'sums'], allow },
      })
      far = await TestApp.startLoaded(await loadApp(folder.at('far'), { env: {} }))
      const remote = `tls://127.0.0.1:${exportPortOf(far)}`
      folder.write('near/busbar.config.json', {
        gateway: { port: 0, entry: 'web', entrance },
        identity,
        services: {
          web: { path: `${shop}/web`, run: 'shared' },
          stock: { remote },
          catalog: { remote },
          sums: { remote },
        },
      })
      near = await TestApp.startLoaded(await loadApp(folder.at('near'), { env: {} }))
    })

    after(async () => {
      await near[Symbol.asyncDispose]()
      await far[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    })

    async function get(path: string): Promise<unknown> {
      const response = await fetch(near.url.replace(/\/$/, '') + path)
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return JSON.parse(text)
    }

    it('has no gateway at the port of its export', async () => {
      const socket = connect(exportPortOf(far), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
      let received = ''
      socket.on('data', (data) => (received += data.toString('latin1')))
      await once(socket, 'close')
      assert.doesNotMatch(received, /HTTP/)
    })

    it('calls them like functions', async () => {
      assert.deepEqual(await get('/product'), { id: 3, stock: 30 })
    })

    it('gets their declared errors, and those of the contract', async () => {
      assert.deepEqual(await get('/missing'), { status: 404, data: { id: 100 } })
      assert.equal(await get('/invalid'), 'INPUT_INVALID')
    })

    it('reads their streams', async () => {
      assert.deepEqual(await get('/ticks'), [1, 2, 3])
    })

    it('ends calls at their deadline, in both apps', async () => {
      let aborted: unknown[] = []
      // On a busy machine the deadline may pass before the call has arrived.
      for (; aborted.length === 0; aborted = (await get('/aborted')) as unknown[])
        assert.equal(await get('/slow'), 'DEADLINE_EXCEEDED')
      assert.deepEqual([...new Set(aborted)], ['web DEADLINE_EXCEEDED'])
    })

    it('tells them neither the names of its services nor its async context', async () => {
      const { caller, store, limited } = (await get('/context')) as Record<string, unknown>
      assert.deepEqual([caller, store, limited], [undefined, undefined, false])
    })

    it('reaches their HTTP interface by name', async () => {
      assert.deepEqual(await get('/by-name'), { id: 4, stock: 40 })
    })

    it('may not call what is allowed to others only', async () => {
      const response = await fetch(`${near.url.replace(/\/$/, '')}/sum`)
      assert.equal(response.status, 500)
      assert.match(await response.text(), /service 'sums' of another app cannot be reached: its hosts do not export it/)
    })

    it('gets no failed call while the other app is reloaded', async () => {
      const failures: string[] = []
      let isOver = false
      let count = 0
      const calls = (async () => {
        while (!isOver) {
          const response = await fetch(`${near.url.replace(/\/$/, '')}/product`)
          const text = await response.text()
          if (response.status !== 200) failures.push(text)
          count++
        }
      })()
      await far.running.replace()
      const before = count
      await pollUntil(() => count > before + 3)
      isOver = true
      await calls
      assert.deepEqual(failures, [])
    })

    it('uses certificates and lists of revoked ones that have changed while it runs', async () => {
      const line = 'the new certificate is in use'
      const ca = await makeAuthority()
      await certificatesFor(folder, ca)
      await Promise.all([far.untilLogged(line), near.untilLogged(line)])
      // The links of the previous certificates end with their workers.
      await far.running.replace()
      assert.deepEqual(await get('/product'), { id: 3, stock: 30 })

      const list = folder.read('far/certs/crl.pem')
      folder.write('far/certs/crl.pem', await addToRevocations(folder.read('near/certs/app.pem'), ca, list))
      const status = async (): Promise<number> => (await fetch(`${near.url.replace(/\/$/, '')}/product`)).status
      while ((await status()) === 200);
      assert.equal(await status(), 500)
      folder.write('far/certs/crl.pem', list)
      while ((await status()) !== 200);
    })
  })
}
