/** Responses over HTTP/2 that their services end before their stated length. */
import assert from 'node:assert/strict'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { after, before, describe, it } from 'node:test'
import type { TestApp } from '../support/app/test-app.ts'
import { startPlaced } from './placed-program.ts'
import { builtAddon } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

describe('a response over HTTP/2 that ends before its length', options, () => {
  let app: TestApp
  let session: ClientHttp2Session
  before(async () => {
    app = await startPlaced('own-responses', 'native')
    session = connect(app.url)
  })
  after(async () => {
    session.destroy()
    await app[Symbol.asyncDispose]()
  })

  for (const service of ['shared', 'thread']) {
    it(`of ${service} comes with its head, and is reset behind its body`, async () => {
      const { status, body, code } = await read(`/${service}/states/50`)
      assert.deepEqual([status, body, code], [200, '12345', constants.NGHTTP2_INTERNAL_ERROR])
    })

    it(`of ${service} comes as far as it went, if it is larger than the windows`, async () => {
      const { status, body, code } = await read(`/${service}/states-long/1000000`)
      assert.deepEqual([status, body.length, code], [200, 300_000, constants.NGHTTP2_INTERNAL_ERROR])
    })

    it(`of ${service} takes no other stream with it`, async () => {
      const all = await Promise.all(['50', '5', '50', '5'].map((length) => read(`/${service}/states/${length}`)))
      const { NGHTTP2_INTERNAL_ERROR: reset, NGHTTP2_NO_ERROR: none } = constants
      assert.deepEqual(
        all.map(({ body, code }) => [body, code]),
        [reset, none, reset, none].map((code) => ['12345', code]),
      )
    })
  }

  // It shows only when its own server closes the connection.
  it('of a service that is reached directly does, too', async () => {
    const all = await Promise.all(['process', 'command'].map((service) => read(`/${service}/states/50`)))
    for (const { status, body, code } of all)
      assert.deepEqual([status, body, code], [200, '12345', constants.NGHTTP2_INTERNAL_ERROR])
  })

  async function read(path: string): Promise<{ status: unknown; body: string; code: number }> {
    const stream = session.request({ ':path': path }).setEncoding('utf8')
    let status: unknown
    let body = ''
    stream.on('response', (head) => (status = head[':status']))
    stream.on('data', (more: string) => (body += more))
    stream.on('error', () => {})
    await new Promise((resolve) => stream.once('close', resolve))
    return { status, body, code: stream.rstCode }
  }
})
