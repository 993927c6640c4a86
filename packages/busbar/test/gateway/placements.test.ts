import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import type { Service } from '../../src/config/app.ts'
import { TestApp } from '../support/app/test-app.ts'

const programs = `${import.meta.dirname}/programs/placements`

function start(web: Service['run'], api: Service['run']): Promise<TestApp> {
  const routes = ['web', 'api'].map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  return TestApp.start({
    gateway: { entry: undefined, routes },
    services: {
      api: { file: `${programs}/api.js`, run: api, startTimeout: 60_000 },
      web: { file: `${programs}/web.js`, run: web, startTimeout: 60_000, needs: ['api'] },
    },
  })
}

describe('with every placement of two services', () => {
  let expected: unknown

  before(async () => {
    await using app = await start('shared', 'shared')
    expected = await answersOf(app)
  })

  for (const [web, api] of [
    ['shared', 'thread'],
    ['thread', 'thread'],
    ['thread', 'process'],
    ['process', 'shared'],
    ['process', 'process'],
  ] as const)
    it(`every client gets the same as in one thread: ${web} calls ${api}`, async () => {
      await using app = await start(web, api)
      assert.deepEqual(await answersOf(app), expected)
    })
})

async function answersOf(app: TestApp): Promise<unknown> {
  const response = await fetch(`${app.url}/web`)
  assert.equal(response.status, 200)
  return await response.json()
}

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`the gateway, with a service in ${run === 'shared' ? 'its worker' : `a ${run}`}`, () => {
    let app: TestApp
    before(async () => (app = await start(run, run)))
    after(async () => await app[Symbol.asyncDispose]())

    it('forwards an upload', async () => {
      const body = Buffer.alloc(900_000, 'upload ')
      const response = await fetch(`${app.url}/api/hash`, { method: 'POST', body })
      assert.equal(response.headers.get('x-length'), String(body.length))
      assert.equal(await response.text(), createHash('sha1').update(body).digest('hex'))
    })

    it('rejects an upload that is too large, with or without a length', async () => {
      const body = Buffer.alloc(2 * 1024 * 1024)
      const outgoing = request(`${app.url}/api/hash`, { method: 'POST', headers: { 'content-length': body.length } })
      outgoing.on('error', () => {})
      outgoing.flushHeaders()
      assert.equal((await once(outgoing, 'response'))[0].statusCode, 413)
      outgoing.destroy()
      const chunked = request(`${app.url}/api/hash`, { method: 'POST' })
      chunked.on('error', () => {})
      chunked.write(body)
      assert.equal((await once(chunked, 'response'))[0].statusCode, 413)
      chunked.destroy()
    })

    it('forwards a stream, its early hints and trailers', async () => {
      const outgoing = request(`${app.url}/api/stream`).end()
      const hints = once(outgoing, 'information')
      const [response] = await once(outgoing, 'response')
      assert.equal(await text(response), 'line 0\nline 1\nline 2\nline 3\nline 4\n')
      assert.deepEqual({ ...response.trailers }, { 'x-sum': '5' })
      assert.equal((await hints)[0].headers.link, '</a.css>; rel=preload')
    })

    it('forwards a WebSocket', async () => {
      const socket = new WebSocket(`${app.url}/api/`.replace('http', 'ws'))
      await once(socket, 'open')
      for (const word of ['one', 'x'.repeat(200_000)]) {
        socket.send(word)
        assert.equal(String((await once(socket, 'message'))[0]), word)
      }
      socket.close()
      await once(socket, 'close')
    })

    it('sends 502 if the service closes, and truncates a response that it aborts', async () => {
      assert.equal((await fetch(`${app.url}/api/none`)).status, 502)
      await assert.rejects(fetch(`${app.url}/api/half`).then((response) => response.text()))
    })
  })
