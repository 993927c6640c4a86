import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { open } from '../../support/mesh/test-call.ts'
import { unless } from '../../support/mesh/accelerators.ts'

const megabyte = 1024 * 1024
const chunk = Buffer.alloc(64 * 1024, 'x')

describe('backpressure', { skip: unless('exchange') }, () => {
  test('200 MB in each direction do not increase memory', async () => {
    const total = 200 * megabyte
    await using endpoint = new TestEndpoint('callee', (request, response) => void readAndSend(request, response, total))
    const call = open(endpoint, { method: 'POST', streamed: true })
    const memory = new Watermark()
    let length = 0
    call.onData = (piece) => {
      length += piece.length
      memory.look()
      return true
    }
    const answer = call.answer()
    for (let sent = 0; sent < total; sent += chunk.length) {
      if (!call.exchange!.write(chunk)) await once(call, 'drain')
      memory.look()
    }
    call.exchange!.end()
    equal((await answer).headers['x-received'], String(total))
    equal(length, total)
    ok(memory.growth < 24 * megabyte, `grew by ${Math.round(memory.growth / megabyte)} MB`)
  })

  test('a program that sends byte by byte leaves turns to others', async () => {
    const length = 100_000
    let turns = 0
    const send = async (response: ServerResponse): Promise<void> => {
      const count = (): void => {
        turns++
        if (!response.writableEnded) setImmediate(count)
      }
      setImmediate(count)
      for (let sent = 0; sent < length; sent++) if (!response.write('x')) await once(response, 'drain')
      response.end()
    }
    await using endpoint = new TestEndpoint('callee', (_, response) => void send(response))
    const { body } = await open(endpoint).answer()
    equal(body.length, length)
    ok(turns > 0, 'all was sent in one turn')
  })

  test('a program whose buffer is full by the framing alone gets a drain once the caller reads', async () => {
    // With the framing of the chunk, and only with it, as much as a socket buffers.
    const length = 65_536 - 4
    const send = async (response: ServerResponse): Promise<void> => {
      for (const small of ['read', 'unread']) {
        response.write(small)
        await nextTurn()
      }
      if (!response.write(Buffer.alloc(length))) await once(response, 'drain')
      response.end('end')
    }
    await using endpoint = new TestEndpoint('callee', (_, response) => void send(response))
    const call = open(endpoint)
    call.reading = false
    await once(call, 'chunk')
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    call.reading = true
    call.exchange!.resume()
    ok((await call.answer()).body.endsWith('end'))
  })

  test('a caller that does not read stops the program', async () => {
    const responses: ServerResponse[] = []
    let written = 0
    await using endpoint = new TestEndpoint('callee', (_, response) => {
      responses.push(response)
      const more = (): void => {
        do written += chunk.length
        while (response.write(chunk))
        response.once('drain', more)
      }
      more()
    })
    const call = open(endpoint)
    call.reading = false
    await once(call, 'chunk')
    await unchanged(() => written)
    ok(written < megabyte, `${written} bytes were written to nobody`)
    equal(call.chunks.length, 1)
    call.exchange!.abort()
    await once(call, 'error')
  })

  test('a program that does not read stops the caller', async () => {
    await using endpoint = new TestEndpoint('callee', () => {})
    const call = open(endpoint, { method: 'POST', streamed: true })
    let sent = 0
    let drains = 0
    call.on('drain', () => drains++)
    while (sent < 10 * megabyte) {
      sent += chunk.length
      if (call.exchange!.write(chunk)) continue
      const before = drains
      await unchanged(() => drains)
      if (drains === before) break
    }
    ok(sent < megabyte, `${sent} bytes were sent to nobody`)
    call.exchange!.abort()
    await once(call, 'error')
  })

  test('endless writing by the program does not starve others', async () => {
    const stopped: string[] = []
    await using endpoint = new TestEndpoint('callee', (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', more)
      }
      response.on('close', () => stopped.push('program'))
      more()
    })
    const call = open(endpoint)
    call.onData = () => true
    const failed = once(call, 'error')
    await new Promise((resolve) => setTimeout(resolve, 5))
    call.exchange!.abort()
    await failed
    while (stopped.length === 0) await nextTurn()
    deepEqual(stopped, ['program'])
  })

  test('endless sending by the caller does not starve others', async () => {
    await using endpoint = new TestEndpoint('callee', (request) => request.resume())
    const call = open(endpoint, { method: 'POST', streamed: true })
    let over = false
    const more = (): void => {
      while (!over && call.exchange!.write(chunk));
    }
    call.on('drain', more)
    const failed = once(call, 'error')
    more()
    await new Promise((resolve) => setTimeout(resolve, 5))
    over = true
    call.exchange!.abort()
    await failed
  })

  test('reading on after a pause gets the rest in order', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => void count(response))
    const call = open(endpoint)
    call.reading = false
    call.on('chunk', () => setImmediate(() => call.exchange!.resume()))
    const { body } = await call.answer()
    equal(body, `${Array.from({ length: 50 }, (_, n) => `${n},`).join('')}end`)
  })
})

async function readAndSend(request: IncomingMessage, response: ServerResponse, total: number): Promise<void> {
  let received = 0
  for await (const piece of request) received += (piece as Buffer).length
  response.setHeader('X-Received', received)
  await pipeline(source(total), response)
}

async function count(response: ServerResponse): Promise<void> {
  for (let n = 0; n < 50; n++) {
    response.write(`${n},`)
    await nextTurn()
  }
  response.end('end')
}

function* source(total: number): Generator<Buffer> {
  for (let made = 0; made < total; made += chunk.length) yield chunk
}

/** Measures the growth of the memory of live chunks. */
class Watermark {
  readonly #collect: () => void
  readonly #start: number
  #peak = 0
  #looks = 0

  constructor() {
    setFlagsFromString('--expose-gc')
    this.#collect = runInNewContext('gc') as () => void
    this.#start = this.#alive()
  }

  look(): void {
    if (++this.#looks % 128 === 0) this.#peak = Math.max(this.#peak, this.#alive())
  }

  get growth(): number {
    return this.#peak - this.#start
  }

  #alive(): number {
    this.#collect()
    return process.memoryUsage().arrayBuffers
  }
}

/** Resolves when a number has not changed for some turns. */
async function unchanged(number: () => number): Promise<void> {
  let last = number()
  for (let same = 0; same < 10; same++) {
    await nextTurn()
    if (number() !== last) same = 0
    last = number()
  }
}
