/** Certificates by name, and their change, at both entrances. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Authority, type Issued } from '../../support/http/authority.ts'
import { ask, entrances, handshake, nameServed, startSecure, writePair } from './secure-apps.ts'

for (const { entrance, skip } of entrances)
  describe(`the certificates of the ${entrance} entrance`, { skip }, () => {
    let authority: Authority
    let issued: Record<'first' | 'shop' | 'wildcard', Issued>
    before(async () => {
      authority = await Authority.create('the authority')
      issued = {
        first: await authority.forServer('first.example', 'localhost'),
        shop: await authority.forServer('shop.example', 'deep.one.example'),
        wildcard: await authority.forServer('*.example', '*.one.example'),
      }
    })

    const filesIn = (folder: TestFolder) => ({
      ...writePair(folder, 'first', issued.first),
      certificates: [writePair(folder, 'wildcard', issued.wildcard), writePair(folder, 'shop', issued.shop)],
    })

    it('are chosen by name: a whole one, a wildcard of one label, else the first', async () => {
      using folder = new TestFolder()
      await using app = await startSecure({ entrance, tls: filesIn(folder) })
      const expected = {
        'shop.example': 'shop.example',
        'SHOP.Example': 'shop.example',
        'deep.one.example': 'shop.example',
        'other.example': '*.example',
        'other.one.example': '*.example',
        'a.b.example': 'first.example',
        'first.example': 'first.example',
        'elsewhere.test': 'first.example',
      }
      for (const [servername, name] of Object.entries(expected))
        for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
          assert.equal(await nameServed(app, { servername, maxVersion }), name, servername)
      assert.equal(await nameServed(app, { servername: '' }), 'first.example')
      assert.equal((await ask(app, { servername: 'shop.example', ca: authority.cert })).status, 200)
    })

    it('change without a failed handshake, each by its file', async () => {
      using folder = new TestFolder()
      await using app = await startSecure({ entrance, tls: filesIn(folder), workers: 2 })
      let [handshakes, isOver] = [0, false]
      const clients = ['first.example', 'shop.example', 'other.one.example'].map(async (servername) => {
        while (!isOver) {
          assert.equal((await ask(app, { servername, ca: authority.cert })).status, 200)
          handshakes++
        }
      })
      for (let time = 0; time < 5; time++) {
        const { length } = app.log.filter(({ line }) => line === 'the new certificate is in use')
        writePair(folder, 'shop', await authority.forServer('shop.example', `renewed-${time}.example`))
        await app.until(() => app.log.filter(({ line }) => line === 'the new certificate is in use').length > length)
      }
      isOver = true
      await Promise.all(clients)
      assert.ok(handshakes > 0)
      assert.equal(await nameServed(app, { servername: 'renewed-4.example' }), 'shop.example')
      assert.equal(await nameServed(app, { servername: 'renewed-3.example' }), '*.example')
    })

    it('all stay as they are if one new file is broken', async () => {
      using folder = new TestFolder()
      await using app = await startSecure({ entrance, tls: filesIn(folder) })
      folder.write('shop.cert', 'broken')
      await app.untilLogged('the new certificate is refused')
      assert.equal(await nameServed(app, { servername: 'shop.example' }), 'shop.example')
      assert.match(app.log.map(({ line }) => line).join('\n'), /gateway\.tls\.certificates\[1\]\.cert/)
      writePair(folder, 'shop', await authority.forServer('shop.example'))
      await app.untilLogged('the new certificate is in use')
    })

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
      it(`resume a session for another certificate than the first (${maxVersion})`, async () => {
        using folder = new TestFolder()
        await using app = await startSecure({ entrance, tls: filesIn(folder), workers: 2 })
        const options = { servername: 'shop.example', ca: authority.cert, maxVersion }
        const first = await handshake(app, options)
        const session = new Promise<Buffer>((resolve) => first.once('session', resolve))
        first.resume().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        const ticket = maxVersion === 'TLSv1.2' ? first.getSession()! : await session
        const second = await handshake(app, { ...options, session: ticket })
        assert.equal(second.isSessionReused(), true)
        first.destroy()
        second.destroy()
      })

    it('are served over TLS 1.3 only, if that is the oldest version allowed', async () => {
      using folder = new TestFolder()
      await using app = await startSecure({ entrance, tls: { ...filesIn(folder), minVersion: 'TLSv1.3' } })
      assert.equal(await nameServed(app, { servername: 'shop.example' }), 'shop.example')
      for (const servername of ['shop.example', 'first.example'])
        await assert.rejects(nameServed(app, { servername, maxVersion: 'TLSv1.2' }))
    })
  })
