import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { unless } from '../../support/mesh/accelerators.ts'
import type { TwoApps } from './two-apps.ts'

/** What the clients of one app get from a program of another one, however the two are linked. */
export function testProgramCalls(apps: () => TwoApps): void {
  it('is reached by fetch at its name', async () => {
    const { status, body, headers } = await apps().ask('fetch/echo', { method: 'POST', body: 'hello' })
    assert.deepEqual([status, body], [200, 'hello'])
    assert.equal((headers as Record<string, string>)['x-custom'], '1, 2')
  })

  it('is reached by node:http, with trailers', async () => {
    const { status, body, trailers } = await apps().ask('http/echo', { method: 'PUT', body: 'some bytes' })
    assert.deepEqual([status, body, trailers], [200, 'some bytes', { 'x-end': '10' }])
  })

  it('streams its response', async () => {
    const { body } = await apps().ask('http/stream?count=5')
    assert.equal(body, '0\n1\n2\n3\n4\n')
  })

  it('sends a large response to a reader that keeps up', async () => {
    assert.deepEqual(await apps().ask('size/big'), { size: 64 * 256 * 1024 })
  })

  it('gets a large body', async () => {
    const { body } = await apps().ask('fetch/echo', { method: 'POST', body: 'x'.repeat(700_000) })
    assert.equal((body as string).length, 700_000)
  })

  it('sees that its caller has gone', async () => {
    const name = randomUUID()
    assert.deepEqual(await apps().ask(`abort/hang?name=${name}`), { aborted: true })
    let seen: unknown
    // Each instance knows only its own. A connection that is kept would always lead to one of them.
    while (!(seen as string[] | undefined)?.includes(name))
      seen = JSON.parse((await apps().ask('alone/aborted'))['body'] as string)
  })

  it('accepts a WebSocket', async () => {
    assert.deepEqual(await apps().ask('socket/'), { data: 'hello' })
  })

  it('ends a response with an error if it closes its connection', async () => {
    const { message } = await apps().ask('fetch/fails')
    assert.equal(message, 'fetch failed')
    const { code } = await apps().ask('http/fails')
    assert.equal(code, 'ECONNRESET')
  })

  // Without accelerators, a private socket lies between, and does not tell.
  const skip = unless('stream', 'exchange')
  it('ends a response without a length with an error if it resets its connection', { skip }, async () => {
    const { causeCode } = await apps().ask('fetch/resets')
    assert.equal(causeCode, 'UND_ERR_SOCKET')
    const { code } = await apps().ask('http/resets')
    assert.equal(code, 'ECONNRESET')
  })
}
