/** `app.fetch`: redirects, failures and bodies. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { EmbeddedApp } from '../../src/embed/embedded-app.ts'
import { startApp } from '../../src/embed/start-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

describe('app.fetch', () => {
  let folder: TestFolder
  let app: EmbeddedApp
  const elsewhere = createServer((request, response) => response.end(JSON.stringify(request.headers)))

  before(async () => {
    await once(elsewhere.listen(0, '127.0.0.1'), 'listening')
    const { port } = elsewhere.address() as AddressInfo
    folder = new TestFolder({
      'busbar.config.json': { gateway: { port: 0 }, services: { a: './a.mjs', b: './b.mjs' } },
      'a.mjs': `
      import { createServer } from 'node:http'
      const redirects = {
        '/to-b': [307, 'http://b.internal/'],
        '/away': [302, 'http://127.0.0.1:${port}/'],
        '/self': [302, '/headers'],
        '/nowhere': [302, 'http://['],
      }
      createServer((request, response) => {
        const [status, location] = redirects[request.url] ?? []
        if (location !== undefined) return response.writeHead(status, { location }).end()
        if (request.url === '/gzip') return response.setHeader('content-encoding', 'gzip').end('not compressed')
        if (request.url === '/headers') return response.end(JSON.stringify(request.headers))
        if (request.url === '/999') return response.writeHead(999).end('odd')
        if (request.url === '/101') return request.socket.write('HTTP/1.1 101 Other\\r\\nupgrade: x\\r\\nconnection: upgrade\\r\\n\\r\\n')
        response.writeHead(200, { 'content-length': 100 }).write('some')
        if (request.url === '/cut') setImmediate(() => request.socket.destroy())
      }).listen(3000)`,
      'b.mjs': `
      import { createServer } from 'node:http'
      createServer(async (request, response) => {
        const body = (await request.toArray()).join('')
        response.end(JSON.stringify({ ...request.headers, body }))
      }).listen(3000)`,
    })
    app = await startApp(folder.path)
  })

  after(async () => {
    elsewhere.close()
    elsewhere.closeAllConnections()
    await app.stop()
    folder[Symbol.dispose]()
  })

  const headers = { authorization: 'Bearer secret', cookie: 'id=1', 'x-mine': 'kept' }

  test('keeps credentials at the service that they are meant for when it redirects', async () => {
    for (const [path, sent] of [
      ['/self', ['Bearer secret', 'id=1', 'kept']],
      ['/to-b', [undefined, undefined, 'kept']],
      ['/away', [undefined, undefined, 'kept']],
    ] as const) {
      const seen = (await (await app.fetch('a', path, { headers })).json()) as Record<string, string>
      assert.deepEqual([seen['authorization'], seen['cookie'], seen['x-mine']], sent, path)
    }
  })

  test('rejects a redirect that it cannot follow, and says why', async () => {
    const streamed = { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' } as const
    await assert.rejects(app.fetch('a', '/to-b', streamed), { code: 'SERVICE_HANGUP', message: /body .* is a stream/ })
    await assert.rejects(app.fetch('a', '/nowhere'), { code: 'SERVICE_HANGUP', message: /which is not a URL/ })
    const sent = await app.fetch('a', '/to-b', { method: 'POST', body: 'text' })
    assert.equal(((await sent.json()) as { body: string }).body, 'text')
  })

  test('rejects invalid options with a BusbarError', async () => {
    const message = /the call to service 'a' are not valid: .*GET/
    await assert.rejects(app.fetch('a', '/headers', { body: 'x' }), { code: 'REQUEST_MALFORMED', message })
    await assert.rejects(app.fetch(undefined as never, '/'), { code: 'SERVICE_UNKNOWN' })
    const upgrade = { headers: { connection: 'upgrade', upgrade: 'websocket' } }
    await assert.rejects(app.fetch('a', '/headers', upgrade), {
      code: 'REQUEST_MALFORMED',
      message: /no upgrade header/,
    })
    assert.equal((await app.fetch('a', '/headers', null as never)).status, 200)
  })

  test('answers that the global fetch accepts or refuses', async () => {
    const odd = await app.fetch('a', '/999')
    assert.deepEqual([odd.status, odd.ok, await odd.text()], [999, false, 'odd'])
    await assert.rejects(app.fetch('a', '/101'), { code: 'SERVICE_UNAVAILABLE', message: /changed the protocol/ })
    // Without a body, the header would make the service wait for one.
    const stated = await app.fetch('b', '/', { headers: { 'content-length': '5' } })
    assert.equal(stated.status, 200)
  })

  test('a body that ends early fails with the name of the service', async () => {
    for (const path of ['/cut', '/gzip'])
      await assert.rejects(
        app.fetch('a', path).then((response) => response.text()),
        { code: 'SERVICE_HANGUP', message: /^the response of service 'a' ended early: ./ },
        path,
      )
  })

  test("a body fails with the reason of the call's signal, and may be cancelled", async () => {
    const abort = new AbortController()
    const response = await app.fetch('a', '/open', { signal: abort.signal })
    const reason = new Error('enough')
    abort.abort(reason)
    await assert.rejects(response.text(), reason)
    const reader = (await app.fetch('a', '/open')).body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'some')
    await reader.cancel()
  })
})
