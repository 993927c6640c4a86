/** Heads of HTTP/2 that are large, cut into pieces, or not complete. */
import assert from 'node:assert/strict'
import { connect } from 'node:tls'
import { describe, it } from 'node:test'
import { FloodedApp } from './flooded-app.ts'
import { endHeaders, endStream, frame, frameType as type, get, getBlock, literal, preface } from './http2-frames.ts'
import { builtAddon, eventually } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

/** `count` fields, each with a value of `length`. */
function fields(count: number, length: number): number[] {
  return Array.from({ length: count }, (_, n) => literal(`x${n.toString(36)}`, 'v'.repeat(length))).flat()
}

/** A GET whose block comes in frames of `length` bytes. */
function inPieces(stream: number, block: readonly number[], length: number): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at < block.length; at += length) {
    const flags = (at === 0 ? endStream : 0) | (at + length >= block.length ? endHeaders : 0)
    frames.push(frame(at === 0 ? type.headers : type.continuation, flags, stream, block.slice(at, at + length)))
  }
  return Buffer.concat(frames)
}

function timeouts({ app }: FloodedApp): number {
  const { refusals } = app.running.status().entrance!
  return refusals.find(({ reason }) => reason === 'head_timeout')!.count
}

describe('a head of HTTP/2', options, () => {
  it('may come in many small frames', async () => {
    await using flooded = await FloodedApp.start({ maxHeaderSize: 65_536 })
    const client = await flooded.client()
    const block = [...getBlock, ...fields(50, 1_000)]
    for (const [place, length] of [100, 1024, 16 * 1024].entries()) {
      const stream = 2 * place + 1
      await client.send(inPieces(stream, block, length))
      await eventually(() => client.ended.has(stream) || !client.isOpen)
      assert.match(client.bodies.get(stream) ?? '', /^a GET/, `in frames of ${length} bytes`)
    }
    // In several packets, of which one ends within the header of a frame.
    const bytes = inPieces(7, block, 500)
    for (const part of [bytes.subarray(0, 5_005), bytes.subarray(5_005, 5_010), bytes.subarray(5_010)]) {
      await client.send(part)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await eventually(() => client.ended.has(7) || !client.isOpen)
    assert.match(client.bodies.get(7) ?? '', /^a GET/)
    client.socket.destroy()
  })

  it('may have as many fields as one of HTTP/1', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    await client.send(inPieces(1, [...getBlock, ...fields(1_900, 0)], 16 * 1024))
    await eventually(() => client.ended.has(1) || !client.isOpen)
    assert.match(client.bodies.get(1) ?? '', /^a GET/)
    client.socket.destroy()
  })

  it('that is too large gets a problem document, and far beyond that ends the connection', async () => {
    await using flooded = await FloodedApp.start()
    const client = await flooded.client()
    await client.send(inPieces(1, [...getBlock, ...fields(80, 1_000)], 16 * 1024), get(3))
    await eventually(() => (client.ended.has(1) && client.ended.has(3)) || !client.isOpen)
    assert.match(client.bodies.get(1) ?? '', /"status":431.*"code":"HEADERS_TOO_LARGE"/)
    assert.match(client.bodies.get(3) ?? '', /^a GET/)
    await client.send(inPieces(5, [...getBlock, ...fields(600, 1_000)], 1024))
    await client.closed
    assert.match(await flooded.ask(), /^a GET/)
  })

  it('that stops ends its connection in time, also beside a request in flight', async () => {
    await using flooded = await FloodedApp.start({ headerTimeout: 500 })
    const client = await flooded.client()
    const begun = inPieces(3, [...getBlock, ...fields(1, 50)], 20).subarray(0, 60)
    await client.send(frame(type.headers, endHeaders, 1, getBlock), begun)
    await client.closed
    assert.equal(client.goaway, 0)
    assert.equal(timeouts(flooded), 1)
    await eventually(() => flooded.app.running.status().entrance!.connections === 0)
  })

  it('begins with the first byte of its frame', async () => {
    await using flooded = await FloodedApp.start({ headerTimeout: 500 })
    for (const [place, length] of [1, 5, 8].entries()) {
      const client = await flooded.client()
      await client.send(frame(type.headers, endHeaders, 1, getBlock), get(3).subarray(0, length))
      await client.closed
      assert.equal(client.goaway, 0)
      assert.equal(timeouts(flooded), place + 1)
    }
  })

  it('may come long after the one before it', async () => {
    await using flooded = await FloodedApp.start({ headerTimeout: 500 })
    const client = await flooded.client()
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await client.send(get(1))
    await eventually(() => client.ended.has(1) || !client.isOpen)
    assert.match(client.bodies.get(1) ?? '', /^a GET/)
    assert.equal(timeouts(flooded), 0)
    client.socket.destroy()
  })

  it('has to follow the preface, which has to come in time', async () => {
    await using flooded = await FloodedApp.start({ headerTimeout: 500 })
    const { port } = flooded.app
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: flooded.ca, ALPNProtocols: ['h2'] })
    socket.on('error', () => {}).resume()
    await new Promise((resolve) => socket.once('close', resolve))
    assert.equal(timeouts(flooded), 1)
  })

  it('has to follow the settings that end the preface', async () => {
    await using flooded = await FloodedApp.start({ headerTimeout: 500 })
    const { port } = flooded.app
    for (const [place, rest] of [
      Buffer.alloc(0),
      frame(type.settings, 0, 0, [0, 3, 0, 0, 0, 9]).subarray(0, 12),
    ].entries()) {
      const socket = connect({
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        ca: flooded.ca,
        ALPNProtocols: ['h2'],
      })
      socket.on('error', () => {}).resume()
      socket.write(Buffer.concat([preface, rest]))
      await new Promise((resolve) => socket.once('close', resolve))
      assert.equal(timeouts(flooded), place + 1)
    }
  })
})
