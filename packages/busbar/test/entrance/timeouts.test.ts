/** Timeouts that a program sets on its connections. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtAddon, get, Served } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

describe('a timeout of a program behind the entrance', options, () => {
  it('amid a request ends it: its client gets a 502, or sees that the answer is cut', async () => {
    await using served = await Served.start()
    const silent = await fetch(served.url('/impatient'))
    assert.equal(silent.status, 502)
    assert.equal(((await silent.json()) as { code: string }).code, 'SERVICE_HANGUP')
    const client = served.connect().send(get('/impatient?how=part'))
    await client.closed
    assert.match(client.bytes, /begun/)
    assert.doesNotMatch(client.bytes, /\r\n0\r\n\r\n$/)
  })

  it('that follows a response which is shorter than its length cuts the response', async () => {
    await using served = await Served.start()
    const client = served.connect().send(get('/short'))
    await client.closed
    assert.match(client.bytes, /content-length: 50\r\n[^]*\r\n\r\nshort$/)
  })

  it('between two requests is not seen by the client', async () => {
    await using served = await Served.start()
    const client = served.connect().send(get('/impatient?how=answer'))
    await client.until('answered')
    // The program's timeouts are checked four times a second.
    await sleep(1_000)
    client.send(get('/thread'))
    await client.until(`\r\n\r\n${served.workers[0]!.threadId}`)
    client.socket.destroy()
  })
})
