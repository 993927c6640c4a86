import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { placements, startAt, type Placement } from '../../raw/placements.ts'
import type { TestApp } from '../../support/app/test-app.ts'
import { TestGateway } from '../../support/http/test-gateway.ts'

const file = join(import.meta.dirname, '../programs/upgrades/index.js')

const ask = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`

async function startWith(placement: Placement, responseTimeout = 60_000): Promise<TestApp> {
  const routes = [{ host: undefined, prefix: '/chat', service: 'chat' }]
  return await startAt(placement, { file, names: ['chat'], routes, limits: { responseTimeout } })
}

/** All that the gateway sends until it closes the connection. Some frames follow the request. */
async function refusal({ port }: TestApp, path: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${ask(path)}early frames`)
  return await text(socket)
}

function isProblem(answer: string, status: number, expected: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
  for (const field of ['content-type: application/problem\\+json', 'connection: close', 'date: .+'])
    assert.match(head, new RegExp(`^${field}\\r?$`, 'im'))
  const { code, instance } = JSON.parse(body) as { code: string; instance: string }
  assert.equal(code, expected)
  assert.match(instance, /^\/chat\/\w+$/)
}

for (const placement of placements)
  describe(`an upgrade of a service that runs as ${placement}`, () => {
    it('is 502 if the program closes the connection without a response, and if its worker dies', async () => {
      await using app = await startWith(placement)
      for (const path of ['destroy', 'end'])
        isProblem(await refusal(app, `/chat/${path}?secret=1`), 502, 'SERVICE_HANGUP')
      assert.match(await refusal(app, '/chat/refuse'), /^HTTP\/1\.1 401 Unauthorized\r\n[^]*\r\n\r\nno$/)
      isProblem(await refusal(app, '/chat/die'), 502, placement === 'command' ? 'SERVICE_HANGUP' : 'WORKER_DIED')
    })

    it('closes the connection if the program does neither respond to it nor end its response to an earlier request', async () => {
      await using app = await startWith(placement, 200)
      for (const path of ['destroy', 'never']) {
        const socket = connect(app.port, '127.0.0.1')
        socket.on('error', () => {}).end(`GET /chat/open HTTP/1.1\r\nHost: a\r\n\r\n${ask(`/chat/${path}`)}`)
        await once(socket.resume(), 'close')
      }
    })

    it('closes the connection if the program does not respond to it, and has answered an earlier request since', async () => {
      await using app = await startWith(placement, 500)
      for (const path of ['plain', 'late']) {
        const socket = connect(app.port, '127.0.0.1')
        socket.on('error', () => {}).write(`GET /chat/${path} HTTP/1.1\r\nHost: a\r\n\r\n${ask('/chat/never')}`)
        await once(socket.resume(), 'close')
      }
    })

    it('is 504 if the program does not respond in time', async () => {
      await using app = await startWith(placement, 200)
      isProblem(await refusal(app, '/chat/never'), 504, 'RESPONSE_TIMEOUT')
    })
  })

describe('an upgrade that the gateway itself refuses', () => {
  it('closes the connection', async () => {
    await using gateway = await TestGateway.start({ services: {}, names: ['chat'], routes: { '/chat': 'chat' } })
    isProblem(await gateway.send(ask('/chat/x')), 503, 'SERVICE_UNAVAILABLE')
    assert.match(await gateway.send(ask('/x')), /^HTTP\/1\.1 404 [^]*connection: close\r\n/i)
  })
})
