/** Connections of HTTP/2 that last, with a little of what floods consist of in each request. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FloodedApp } from './flooded-app.ts'
import {
  endHeaders,
  endStream,
  frame,
  type FrameClient,
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
/** `POST /` of authority `a`. */
const postBlock = [0x83, ...getBlock.slice(1)]
const post = (stream: number): Buffer => frame(type.headers, endHeaders, stream, postBlock)
const data = (stream: number, bytes: string, flags = 0): Buffer => frame(type.data, flags, stream, Buffer.from(bytes))

/** The bytes of `frames`, in writes of their own. */
async function sendInPieces(client: FrameClient, size: number, ...frames: readonly Buffer[]): Promise<void> {
  const bytes = Buffer.concat(frames)
  client.socket.setNoDelay(true)
  for (let at = 0; at < bytes.length; at += size) {
    await client.send(bytes.subarray(at, at + size))
    await new Promise(setImmediate)
  }
}

describe('a long connection of HTTP/2', options, () => {
  it('goes on after many requests with an empty frame in their bodies', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    for (let n = 0; n < 120; n++) {
      const stream = 2 * n + 1
      await client.send(
        post(stream),
        data(stream, ''),
        data(stream, 'hel'),
        data(stream, ''),
        data(stream, 'lo', endStream),
      )
      await eventually(() => client.ended.has(stream) || !client.isOpen)
      assert.match(client.bodies.get(stream) ?? '', / POST 5 /)
    }
    client.socket.destroy()
    assert.equal(flooded.app.running.status().entrance!.floods, 0)
  })

  it('gets whole bodies between empty frames, whatever the pieces', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    for (const size of [1, 2, 5, 8, 9, 10, 13]) {
      const stream = 2 * size + 1
      const frames = [
        post(stream),
        data(stream, ''),
        data(stream, 'hel'),
        data(stream, ''),
        data(stream, 'lo', endStream),
      ]
      await sendInPieces(client, size, ...frames)
      await eventually(() => client.ended.has(stream) || !client.isOpen)
      assert.match(client.bodies.get(stream) ?? '', / POST 5 /)
    }
    client.socket.destroy()
  })

  it('ends on an empty frame of a stream that has none', async () => {
    await using flooded = await FloodedApp.start()
    for (const frames of [[data(0, '')], [data(1, '')], [get(1), data(1, '')], [post(1), data(3, '')]]) {
      const client = await flooded.client()
      await client.send(...frames)
      await eventually(() => !client.isOpen || client.seen.has(type.reset))
      client.socket.destroy()
    }
  })

  it('goes on after malformed requests, if others are complete', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    for (let n = 0; n < 120; n++) {
      const stream = 4 * n + 1
      await client.send(malformed(stream), get(stream + 2))
      await eventually(() => client.ended.has(stream + 2) || !client.isOpen)
      assert.equal(client.isOpen, true)
    }
    assert.equal(client.seen.get(type.reset), 120)
    client.socket.destroy()
    assert.equal(flooded.app.running.status().entrance!.floods, 0)
  })

  it('goes on if its client sends much before it reads what is there', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    const window = frame(type.windowUpdate, 0, 0, word(2 ** 30))
    const windows = frame(type.settings, 0, 0, [0, 4, ...word(2 ** 30)])
    await client.send(windows, window)
    client.socket.pause()
    const large = [...getBlock.filter((byte) => byte !== 0x84), ...literal(':path', '/large')]
    for (let stream = 1; stream < 8; stream += 2) await client.send(get(stream, large))
    await client.send(post(9))
    for (let n = 0; n < 3000; n++) await client.send(data(9, 'x'), ...(n % 100 === 0 ? [settings] : []))
    client.socket.resume()
    await client.send(data(9, '', endStream))
    await eventually(() => client.ended.size === 5 || !client.isOpen)
    assert.match(client.bodies.get(9) ?? '', / POST 3000 /)
    client.socket.destroy()
  })
})
