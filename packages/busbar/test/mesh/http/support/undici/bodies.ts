import { EventEmitter, once } from 'node:events'
import { Readable, finished } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { suite } from 'node:test'
import { hash, whole } from '../program.ts'
import { describe, failure } from '../mesh-and-tcp.ts'
import { Collector, request, type Bench } from './bench.ts'

/** The ways to read the body of a response. */
export function testBodies(bench: Bench): void {
  const { same } = bench
  suite('request: the body', () => {
    same("is of the version's own class and a Node stream", async (caller) => {
      const { body } = await request(caller, '/json')
      const kind = [
        body.constructor.name,
        body instanceof Readable,
        body instanceof EventEmitter,
        body.bodyUsed,
        body.readable,
      ]
      await body.dump()
      return kind
    })
    same('answers only once', async (caller) => {
      const { body } = await request(caller, '/json')
      const first = await body.json()
      return [
        first,
        body.bodyUsed,
        Readable.isDisturbed(body),
        await failure(() => body.text()),
        await failure(() => body.json()),
      ]
    })
    same('has ended once it was read', async (caller) => {
      const { body } = await request(caller, '/json')
      await body.text()
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => finished(body, resolve))
      const ended = [body.destroyed, body.readableEnded, body.closed]
      body.destroy()
      return [ended, await body.dump(), body.errored]
    })
    same('is dumped', async (caller) => {
      const small = await (await request(caller, '/json')).body.dump()
      const empty = await (await request(caller, '/empty')).body.dump()
      return [small ?? null, empty ?? null]
    })
    same('is dumped up to a limit', async (caller) => {
      const { body } = await request(caller, '/large?size=3000000')
      return [await failure(() => body.dump({ limit: 1000 })), body.destroyed]
    })
    same('gives data and end', async (caller) => {
      const { body } = await request(caller, '/large')
      const chunks: Buffer[] = []
      body.on('data', (chunk: Buffer) => chunks.push(chunk))
      await once(body, 'end')
      return [chunks.every((chunk) => Buffer.isBuffer(chunk)), hash(Buffer.concat(chunks))]
    })
    same('gives text in an encoding', async (caller) => {
      const { body } = await request(caller, '/split')
      body.setEncoding('utf8')
      let text = ''
      body.on('data', (chunk: string) => (text += chunk))
      await once(body, 'end')
      return text
    })
    same('is piped', async (caller) => {
      const { body } = await request(caller, '/large')
      const sink = new Collector()
      await pipeline(body, sink)
      return [hash(sink.bytes), body.destroyed]
    })
    same('is a web stream', async (caller) => {
      const { body } = await request(caller, '/chunks')
      const stream = body.body
      const text = await new Response(stream).text()
      return [text, body.bodyUsed, await failure(() => body.text())]
    })
    same('is locked by its web stream', async (caller) => {
      const { body } = await request(caller, '/json')
      const reader = body.body.getReader()
      const refused = await failure(() => body.text())
      await reader.cancel()
      return refused
    })
    same('is destroyed, which the program sees', async (caller) => {
      const before = caller.side.seen.length
      const { body } = await request(caller, '/endless')
      const closed = once(body, 'close').catch((error: unknown) => describe(error))
      body.on('error', () => {})
      body.destroy()
      return [await caller.side.seen[before]!.over, (await closed) !== undefined, body.destroyed]
    })
    same('is destroyed with an error', async (caller) => {
      const { body } = await request(caller, '/endless')
      const failed = once(body, 'error')
      body.destroy(new RangeError('enough'))
      return describe((await failed)[0])
    })
    same('is left by a loop, which the program sees', async (caller) => {
      const before = caller.side.seen.length
      for await (const chunk of (await request(caller, '/endless')).body) if (chunk.length > 0) break
      return caller.side.seen[before]!.over
    })
    same('waits for who reads it later', async (caller) => {
      const { body } = await request(caller, '/large?size=2000000')
      await new Promise((resolve) => setTimeout(resolve, 20))
      return hash(await whole(body))
    })
    same('emits nothing to who listens only after it was read', async (caller) => {
      const { body } = await request(caller, '/json')
      await body.text()
      let ends = 0
      body.on('end', () => ends++)
      body.on('data', () => ends++)
      await new Promise((resolve) => setImmediate(resolve))
      return ends
    })
  })
}
