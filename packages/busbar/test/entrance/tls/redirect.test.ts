/** The way from HTTP to HTTPS, at both entrances. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import type { TlsFiles } from '../../../src/config/app.ts'
import type { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { selfSigned, type TestTls } from '../../support/http/certificate.ts'
import { type Answer, ask, entrances, startSecure, writePair } from './secure-apps.ts'

for (const { entrance, skip } of entrances)
  describe(`HTTPS only, at the ${entrance} entrance`, { skip }, () => {
    let certificate: TestTls
    before(async () => {
      certificate = await selfSigned()
    })
    const start = async (folder: TestFolder, more: Partial<TlsFiles>): Promise<TestApp> =>
      await startSecure({ entrance, tls: { ...writePair(folder, 'server', certificate), ...more } })

    it('a port in clear redirects every request to the same path over TLS', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { redirect: { port: 0, to: 8443 } })
      const clear = { port: portOf(app), headers: { host: 'shop.example:80' } }
      for (const method of ['GET', 'POST', 'HEAD', 'DELETE']) {
        const { status, headers } = await askInClear({ ...clear, method, path: '/a/b?c=d%20e' })
        assert.deepEqual([status, headers.location], [308, 'https://shop.example:8443/a/b?c=d%20e'])
      }
      const to = async (host: string): Promise<unknown> =>
        (await askInClear({ ...clear, headers: { host }, path: '/' })).headers.location
      assert.equal(await to('[::1]:80'), 'https://[::1]:8443/')
      assert.equal(await to('shop.example'), 'https://shop.example:8443/')
      assert.equal(app.running.addresses.find(({ serves }) => serves.kind === 'redirect')?.protocol, 'http')
    })

    it('the port of HTTPS is left out where it is the usual one', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { redirect: { port: 0, to: 443 } })
      const { headers } = await askInClear({ port: portOf(app), headers: { host: 'shop.example' }, path: '/x' })
      assert.equal(headers.location, 'https://shop.example/x')
    })

    it('requests without a usable host or path get 400', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { redirect: { port: 0, to: 443 } })
      for (const sent of [
        'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a/b@evil.example\r\nConnection: close\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
        'GET /../x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
        'GET / HTTP/1.0\r\n\r\n',
      ])
        assert.match(await sendRaw(portOf(app), sent), /^HTTP\/1\.1 400 /, sent)
    })

    it('what is no request gets 400 with its reason, like at the port of HTTPS', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { redirect: { port: 0, to: 443 } })
      const head = /^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json\r\n/
      for (const sent of [
        'nonsense\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01',
      ]) {
        const answer = await sendRaw(portOf(app), sent)
        assert.match(answer, head)
        assert.match(answer, /"code":"REQUEST_MALFORMED"/)
      }
      const behind = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxnonsense\r\n\r\n'
      assert.match(await sendRaw(portOf(app), behind), /^HTTP\/1\.1 308 [^]*HTTP\/1\.1 400 [^]*REQUEST_MALFORMED/)
    })

    it('a large body does not keep the client from reading the redirect', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { redirect: { port: 0, to: 443 } })
      const options = { port: portOf(app), headers: { host: 'a.example' }, path: '/', method: 'POST' }
      const { status } = await askInClear(options, 'x'.repeat(2_000_000))
      assert.equal(status, 308)
    })

    it('every response over TLS tells browsers to stay with it, but the service has the last word', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { hsts: 'max-age=60; includeSubDomains' })
      const trusted = { ca: certificate.cert, servername: 'localhost' }
      const field = async (path: string): Promise<unknown> =>
        (await ask(app, { ...trusted, path })).headers['strict-transport-security']
      assert.equal(await field('/'), 'max-age=60; includeSubDomains')
      assert.equal(await field('/a/../b'), 'max-age=60; includeSubDomains')
      assert.equal(await field('/?hsts=max-age%3D1'), 'max-age=1')
    })
  })

function portOf(app: TestApp): number {
  return app.running.addresses.find(({ serves }) => serves.kind === 'redirect')!.port
}

async function askInClear(options: object, body?: string): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      const { statusCode: status = 0, headers } = response
      text(response).then((read) => resolve({ status, headers, body: read }), reject)
    })
    sent.on('error', reject).end(body)
  })
}

async function sendRaw(port: number, sent: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(sent)
  return await text(socket)
}
