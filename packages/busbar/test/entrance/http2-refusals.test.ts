/** Requests of HTTP/2 that are refused by a reset of their stream: they count as refusals. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FloodedApp } from './flooded-app.ts'
import { endHeaders, frame, frameType as type, get, getBlock, literal, malformed, word } from './http2-frames.ts'
import { builtAddon, eventually } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

/** A POST with the length of 1, and its body. */
function post(stream: number, body: string): Buffer {
  const block = [0x83, ...getBlock.slice(1), ...literal('content-length', '1')]
  return Buffer.concat([frame(type.headers, endHeaders, stream, block), frame(type.data, 1, stream, Buffer.from(body))])
}

function counted({ app }: FloodedApp): readonly { reason: string; status: number; count: number }[] {
  return app.running.status().refusals.filter(({ count }) => count > 0)
}

describe('a reset by the entrance', options, () => {
  for (const [what, request] of [
    ['a length without a body', malformed],
    ['a body beyond its length', (stream: number) => post(stream, 'ab')],
    [
      'a field that HTTP/2 does not have',
      (stream: number) => get(stream, [...getBlock, ...literal('connection', 'a')]),
    ],
  ] as const)
    it(`because of ${what} counts once`, async () => {
      await using flooded = await FloodedApp.start()
      const client = await flooded.client()
      for (const stream of [1, 3]) {
        await client.send(request(stream))
        await eventually(() => client.seen.get(type.reset) === (stream + 1) / 2)
      }
      await client.send(get(5))
      await eventually(() => client.ended.has(5))
      assert.deepEqual(counted(flooded), [{ status: 400, reason: 'malformed', count: 2 }])
      client.socket.destroy()
    })

  it('by its client does not count', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    const cancel = 8
    const opened = frame(type.headers, endHeaders, 1, [0x83, ...getBlock.slice(1)])
    await client.send(opened, frame(type.reset, 0, 1, word(cancel)), get(3))
    await eventually(() => client.ended.has(3))
    assert.deepEqual(counted(flooded), [])
    client.socket.destroy()
  })
})

describe('the end of a connection by a head that cannot be decoded', options, () => {
  for (const [what, block] of [
    ['a name in upper case', literal('X-Upper', 'a')],
    ['a control byte in a value', literal('x-a', '\u0001')],
    ['an index that no table has', [0xff, 0x7f]],
  ] as const)
    it(`counts once: ${what}`, async () => {
      await using flooded = await FloodedApp.start()
      const client = await flooded.client()
      const open = frame(type.headers, endHeaders, 1, [0x83, ...getBlock.slice(1)])
      await client.send(open, get(3, [...getBlock, ...block]), get(5))
      await client.closed
      const protocolError = 1
      assert.equal(client.goaway, protocolError)
      await eventually(() => flooded.app.running.status().entrance!.connections === 0)
      assert.deepEqual(counted(flooded), [{ status: 400, reason: 'malformed', count: 1 }])
      assert.match(await flooded.ask(), /^a GET/)
    })

  it('does not count if its client ends it', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    const noError = 0
    await client.send(get(1), frame(type.goaway, 0, 0, [...word(0), ...word(noError)]))
    client.socket.destroy()
    await eventually(() => flooded.app.running.status().entrance!.connections === 0)
    assert.deepEqual(counted(flooded), [])
  })
})
