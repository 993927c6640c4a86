import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FrameClient, frame, frameType, get, preface, settings, word } from '../../entrance/http2-frames.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { hostPrograms } from './support/hosted-app.ts'

const acknowledge = (ping: Buffer): Buffer => frame(frameType.ping, 1, 0, ping)

/** With one stream that was answered. */
async function used(port: number): Promise<FrameClient> {
  const client = await FrameClient.openPlain(port)
  await client.send(preface, settings, get(1))
  await pollUntil(() => client.ended.has(1))
  return client
}

suite('an http2 server that is stopped', { concurrency: 2 }, () => {
  test('refuses no stream that was on its way', async () => {
    await using app = await hostPrograms({ it: 'http2' })
    const client = await used(app.portOf('it'))
    const stopped = app.stop(20_000, undefined, 5000)
    await app.caughtUp()
    await client.send(get(3))
    await pollUntil(() => client.pings.length === 1)
    // On their way when the server began to drain.
    await client.send(get(5), get(7), frame(frameType.reset, 0, 7, word(1)), acknowledge(client.pings[0]!))
    await pollUntil(() => client.pings.length === 2)
    assert.deepEqual([[...client.ended], client.lastStreams], [[1], []])
    await client.send(acknowledge(client.pings[1]!))
    await client.closed
    assert.deepEqual([...client.ended], [1, 3, 5])
    assert.equal(client.lastStreams[0], 7)
    assert.deepEqual((await stopped).states, ['stopped'])
    assert.deepEqual(app.faults, [])
  })

  test('closes sessions on which no stream begins', async () => {
    await using app = await hostPrograms({ it: 'http2' })
    const client = await used(app.portOf('it'))
    const stopped = app.stop(20_000, undefined, 100)
    await client.closed
    assert.equal(client.lastStreams[0], 1)
    await stopped
  })

  test('does not wait long for a client that answers no PING', async () => {
    await using app = await hostPrograms({ it: 'http2' })
    const client = await used(app.portOf('it'))
    const stopped = app.stop(400, undefined, 5000)
    await app.caughtUp()
    await client.send(get(3))
    await client.closed
    assert.deepEqual([...client.ended], [1, 3])
    await stopped
  })
})
