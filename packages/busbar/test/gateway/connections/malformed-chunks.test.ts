import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestGateway } from '../../support/http/test-gateway.ts'
import { start } from '../typed/words-gateway.ts'

const malformed = 'Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n'

/** The native entrance answers 400 for them, if they come with the head. */
describe('a response that does not wait for the body of its request', () => {
  it('is sent also if the chunks of the request are malformed', async () => {
    await using gateway = await TestGateway.start({
      services: {
        shop: () => {},
        // Has answered before it reads.
        quick: (_, res) => void res.end('quick'),
        slow: (_, res) => void setTimeout(() => res.end('slow'), 50),
      },
      names: ['missing'],
      routes: { '/shop': 'shop', '/missing': 'missing', '/quick': 'quick', '/slow': 'slow' },
    })
    const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
    for (const [target, statuses] of Object.entries({
      '/nowhere HTTP/1.1\r\nHost: a': /404|400/,
      '/missing HTTP/1.1\r\nHost: a': /503|400/,
      '/shop HTTP/1.1\r\nHost: a b': /400/,
      '/shop/../x HTTP/1.1\r\nHost: a': /400/,
      '/quick HTTP/1.1\r\nHost: a': /200|400/,
    })) {
      const request = `POST ${target}\r\n${malformed}`
      const alone = await gateway.send(request)
      assert.match(alone, new RegExp(`^HTTP/1\\.1 (${statuses.source}) `))
      const behind = await gateway.send(slow + request)
      assert.match(behind, new RegExp(`^HTTP/1\\.1 200 [^]*slow[^]*HTTP/1\\.1 (${statuses.source}) `))
    }
  })

  it('is sent also of a typed service', async () => {
    await using gateway = await start('by the gateway')
    for (const path of ['/api/unknown', '/api/echo'])
      assert.match(await gateway.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${malformed}`), /^HTTP\/1\.1 4\d\d /)
  })
})
