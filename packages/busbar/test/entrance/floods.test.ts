/** Clients of HTTP/2 that send what costs the server more than them, beside one that asks. */
import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { describe, it } from 'node:test'
import { FloodedApp } from './flooded-app.ts'
import {
  endHeaders,
  endStream,
  frame,
  frameType as type,
  get,
  getBlock,
  literal,
  malformed,
  settings,
  word,
} from './http2-frames.ts'
import { builtAddon, eventually } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

/** Far more of each than a client may send. */
const many = 200
const batch = 1000

function times(count: number, make: (n: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, n) => make(n)))
}

/** Requests, each followed by its reset. `n`: how many such batches came before. */
function resets(count: number, n = 0): Buffer {
  return times(count, (one) => {
    const stream = 2 * (n * count + one) + 1
    return Buffer.concat([get(stream), frame(type.reset, 0, stream, word(constants.NGHTTP2_CANCEL))])
  })
}

/** `make`: what is sent for the nth time. */
const floods: Readonly<Record<string, (n: number) => Buffer>> = {
  'empty settings': () => times(batch, () => settings),
  'settings of the table size': (n) => times(batch, () => frame(type.settings, 0, 0, [0, 1, ...word(n % 4096)])),
  pings: () => times(batch, () => frame(type.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])),
  'window updates': () => times(batch, () => frame(type.windowUpdate, 0, 0, word(1))),
  priorities: (n) => times(batch, (one) => frame(type.priority, 0, 2 * (n * batch + one) + 1, [...word(0), 16])),
  'frames of an unknown type': () => times(batch, () => frame(77, 0, 0, [0])),
  'empty data': (n) =>
    Buffer.concat([
      n === 0 ? frame(type.headers, endHeaders, 1, getBlock) : Buffer.alloc(0),
      times(batch, () => frame(type.data, 0, 1, [])),
    ]),
  continuations: (n) =>
    Buffer.concat([
      n === 0 ? frame(type.headers, endStream, 1, getBlock) : Buffer.alloc(0),
      times(batch, () => frame(type.continuation, 0, 1, literal('x', ''))),
    ]),
  'requests that are reset at once': (n) => resets(batch / 2, n),
  'malformed requests': (n) => times(batch / 2, (one) => malformed(2 * (n * (batch / 2) + one) + 1)),
  'requests whose windows overflow': (n) =>
    times(batch / 2, (one) => {
      const stream = 2 * (n * (batch / 2) + one) + 1
      const grow = frame(type.windowUpdate, 0, stream, word(2 ** 31 - 1))
      return Buffer.concat([get(stream), grow, grow])
    }),
  'data of requests that were reset': (n) =>
    Buffer.concat([
      // More than h2 remembers.
      times(n === 0 ? 60 : 0, (one) => malformed(2 * one + 1)),
      times(batch, () => frame(type.data, 0, 1, [0])),
    ]),
  'requests that make the server reset them': (n) =>
    times(batch / 2, (one) => {
      const stream = 2 * (n * (batch / 2) + one) + 1
      return Buffer.concat([get(stream), frame(type.windowUpdate, 0, stream, word(0))])
    }),
}

describe('a flood of HTTP/2', options, () => {
  for (const [name, make] of Object.entries(floods))
    it(`of ${name} ends its connection, and no other`, async () => {
      await using flooded = await FloodedApp.start()
      const client = await flooded.client()
      for (let n = 0; n < many && client.isOpen; n++) await client.send(make(n))
      await client.closed
      assert.match(await flooded.ask(), /^a GET/)
      // Undefined: the connection was reset before it could be read. h2 has its own limits.
      assert.ok(
        [undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM, constants.NGHTTP2_PROTOCOL_ERROR].includes(client.goaway),
      )
      await eventually(() => flooded.app.running.status().entrance!.connections === 0)
      assert.equal(flooded.app.running.status().entrance!.inFlight, 0)
      // Its first window update is an error of the protocol.
      const isFlood = name !== 'requests that make the server reset them'
      assert.equal(flooded.app.running.status().entrance!.floods, isFlood ? 1 : 0)
    })

  it('does not come of a client that resets 100 requests in one write, but of one that resets more', async () => {
    await using flooded = await FloodedApp.start()
    const allowed = await flooded.client()
    await allowed.send(resets(100), get(201))
    await eventually(() => allowed.seen.has(type.headers))
    assert.equal(flooded.app.running.status().entrance!.floods, 0)
    allowed.socket.destroy()
    const client = await flooded.client()
    await client.send(resets(128))
    await client.closed
    assert.equal(client.goaway, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    assert.equal(flooded.app.running.status().entrance!.floods, 1)
  })

  it('does not come of requests that become malformed by their bodies before it comes of others', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    const tooLong = (stream: number): Buffer =>
      Buffer.concat([
        frame(type.headers, endHeaders, stream, [...getBlock, ...literal('content-length', '5')]),
        frame(type.data, endStream, stream, [1, 2, 3, 4, 5, 6]),
      ])
    await client.send(
      times(90, (one) => tooLong(2 * one + 1)),
      get(181),
    )
    await eventually(() => client.bodies.has(181) || !client.isOpen)
    assert.equal(client.isOpen, true)
    await client.send(times(40, (one) => tooLong(2 * one + 183)))
    await client.closed
    assert.equal(client.goaway, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    assert.equal(flooded.app.running.status().entrance!.floods, 1)
  })

  it('whose fields are a small block and large when they are decoded gets 431', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    const bomb = [...getBlock, ...literal('x', 'v'.repeat(3_900), true), ...Array<number>(8_000).fill(0x80 | 62)]
    await client.send(get(1, bomb))
    await eventually(() => client.seen.has(type.headers) || client.seen.has(type.reset) || !client.isOpen)
    assert.match(await flooded.ask(), /^a GET/)
    client.socket.destroy()
  })

  it('does not come of an ordinary client that confirms much', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    for (let n = 0; n < 300; n++) {
      const stream = 2 * n + 1
      await client.send(get(stream), frame(type.ping, 0, 0, word(n).concat(word(0))), settings)
      await eventually(() => (client.seen.get(type.headers) ?? 0) > n)
      await client.send(frame(type.windowUpdate, 0, 0, word(10)), frame(type.windowUpdate, 0, 0, word(10)))
    }
    assert.equal(client.isOpen, true)
    client.socket.destroy()
  })
})
