import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  createServer,
  get,
  request as openRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { captureConnections } from '../../../src/mesh/sockets/capture.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { servePrivateSockets } from '../../../src/mesh/sockets/instance/served-instance.ts'
import { BadWire, type Delivery } from '../../support/mesh/bad-wire.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { open, send } from '../../support/mesh/test-call.ts'
import { answerer, nobody } from '../../support/mesh/linked-endpoint.ts'
import { exchanges, streams, unless } from '../../support/mesh/accelerators.ts'

interface Far extends AsyncDisposable {
  readonly endpoint: RemoteEndpoint
  readonly wire: BadWire
  /** Requests that the program has received. */
  readonly seen: IncomingMessage[]
}

/** A program behind an unreliable connection. `node:http` reaches it as `callee.internal`. */
async function behind(delivery: Delivery, program: RequestListener | Server, chance?: SeededRandom): Promise<Far> {
  const stack = new AsyncDisposableStack()
  const seen: IncomingMessage[] = []
  const server = typeof program === 'function' ? createServer(program) : program
  server.on('request', (request: IncomingMessage) => seen.push(request))
  const router = new Router(['callee'])
  router.add(stack.use(new TestEndpoint('callee', server)))
  stack.use(servePrivateSockets({ router, maxHops: 8 }))
  const answer = answerer({ router, maxHops: 8, exchanges, streams })
  const wire = stack.use(await BadWire.between({ answer: nobody }, { answer }, delivery, chance))
  const link = wire.near
  const endpoint: RemoteEndpoint = {
    at: 'link',
    service: 'callee',
    worker: 2,
    index: 0,
    state: 'serving',
    link,
    typed: false,
  }
  const callers = new Router(['callee'])
  callers.addRemote(endpoint)
  stack.use(captureConnections({ router: callers, maxHops: 8, streams }))
  return { endpoint, wire, seen, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const echo: RequestListener = (request, response) => void request.pipe(response)

async function post(body: string): Promise<string> {
  const outgoing = openRequest('http://callee.internal/', { method: 'POST', agent: false }).end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return text(response)
}

describe('over an unreliable connection', { skip: unless('exchange', 'stream') }, () => {
  for (const delivery of ['sliced', 'delayed'] as const)
    test(`requests and connections arrive completely when it is ${delivery}`, async (t) => {
      const chance = new SeededRandom()
      t.diagnostic(`seed ${chance.seed}`)
      await using far = await behind(delivery, echo, chance)
      const bodies = Array.from({ length: 10 }, () =>
        'ä€x'.repeat(1 + chance.below(delivery === 'sliced' ? 40 : 3_000)),
      )
      const answers = bodies.map(async (body) => {
        const call = open(far.endpoint, { method: 'POST', streamed: true })
        for (const part of [body.slice(0, 7), body.slice(7)]) call.exchange!.write(part)
        call.exchange!.end()
        return (await call.answer()).body
      })
      assert.deepEqual(await Promise.all(answers), bodies)
      assert.deepEqual(await Promise.all(bodies.map(post)), bodies)
    })

  test('a cut fails the calls in flight at both ends, and does nothing twice', async () => {
    await using far = await behind('normal', (request) => void request.resume())
    const calls = [
      open(far.endpoint, { method: 'POST', body: 'whole' }),
      open(far.endpoint, { method: 'POST', streamed: true }),
      open(far.endpoint),
    ]
    calls[1]!.exchange!.write('part')
    const connection = once(get('http://callee.internal/', { agent: false }), 'response')
    while (far.seen.length < 4) await new Promise(setImmediate)
    const closed = far.seen.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)))
    const failures = calls.map((call) => assert.rejects(call.answer(), { code: 'LINK_LOST' }))
    failures.push(assert.rejects(connection, { code: 'ECONNRESET' }))
    far.wire.cut()
    await Promise.all(failures)
    await Promise.all(closed)
    assert.equal(far.seen.length, 4)
    await assert.rejects(send(far.endpoint), { code: 'LINK_LOST' })
  })

  test('a WebSocket ends at both ends', async () => {
    const server = createServer()
    const accepted = once(new WebSocketServer({ server }), 'connection') as Promise<[WebSocket]>
    await using far = await behind('normal', server)
    const client = new WebSocket('ws://callee.internal/')
    await once(client, 'open')
    const ends = [client, (await accepted)[0]].map((socket) => {
      socket.on('error', () => {})
      return once(socket, 'close')
    })
    far.wire.cut()
    assert.deepEqual(
      (await Promise.all(ends)).map(([code]) => code as number),
      [1006, 1006],
    )
  })

  test('a reader that has stopped gets a bounded amount, and everything once it reads again', async () => {
    await using far = await behind('normal', (request, response) => {
      request.resume()
      request.on('end', () => response.end('done'))
    })
    const call = open(far.endpoint, { method: 'POST', streamed: true })
    while (far.seen.length === 0) await new Promise(setImmediate)
    far.wire.stop()
    const piece = Buffer.alloc(64 * 1024)
    let written = 1
    while (call.exchange!.write(piece)) written++
    // A window, and the buffers of a socket.
    assert.ok(written < 64, `${written} pieces`)
    const drained = once(call, 'drain')
    far.wire.go()
    await drained
    call.exchange!.end()
    assert.equal((await call.answer()).body, 'done')
  })
})
