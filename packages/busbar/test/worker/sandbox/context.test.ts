import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import type { IncomingMessage } from 'node:http'
import { suite, test } from 'node:test'
import { json } from 'node:stream/consumers'
import { hostPrograms } from './support/hosted-app.ts'

suite('a hosted program', { concurrency: 2 }, () => {
  test('serves connections in the async context in which it listened, from the network and the mesh', async () => {
    await using app = await hostPrograms({ one: { program: 'context', env: { NAME: 'one' } }, two: 'koa' })
    for (const way of ['accept', 'connect'] as const) {
      assert.deepEqual(await app.json('one', '/', way), { store: 'of the program', name: 'one' })
    }
  })

  test('has the output of its own threads logged under its name', async () => {
    await using app = await hostPrograms({ one: { program: 'context', env: { NAME: 'one' } }, two: 'koa' })
    await app.get('one', '/thread')
    const { service } = await app.line(/from a thread/)
    assert.equal(service, 'one')
  })

  test('does the TLS handshake itself on a connection from the network', async () => {
    await using app = await hostPrograms({ it: 'https' })
    const request = https.get({ port: app.portOf('it'), host: '127.0.0.1', rejectUnauthorized: false, agent: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    assert.deepEqual(await json(response), { hello: 'https', encrypted: true })
  })

  test('serves HTTP/2 itself, from the network and the mesh, and HTTP/1.1 too', async () => {
    await using app = await hostPrograms({ it: 'http2' })
    for (const way of ['accept', 'connect'] as const) {
      const session = http2.connect(`http://127.0.0.1:${app.portOf('it', way)}`)
      const answers = [session.request({ ':path': '/' }), session.request({ ':path': '/x' })].map(json)
      const expected = { hello: 'http2', version: '2.0' }
      assert.deepEqual(await Promise.all(answers), [expected, expected])
      const closed = once(session, 'close')
      session.close()
      await closed
    }
    assert.deepEqual(await app.json('it', '/', 'connect'), { hello: 'http2', version: '1.1' })
    await app.stop(60_000)
  })

  test('may be TypeScript that cannot be stripped, with its own loader', async () => {
    const it = { program: 'own-loader', nodeOptions: ['--import', './register.js'] }
    await using app = await hostPrograms({ it })
    assert.deepEqual(await app.json('it'), { size: 'small', colour: 'red' })
  })
})
