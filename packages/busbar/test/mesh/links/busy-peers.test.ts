import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { helloTimeout } from '../../../src/mesh/links/limits/limits.ts'
import type { Packet } from '../../../src/mesh/links/packet-transport.ts'
import { type WorkerHello, helloPacket, readHello } from '../../../src/mesh/transports/hello.ts'
import { greet, type HandshakeResult } from '../../../src/mesh/transports/socket.ts'
import { dialUnix, listenUnix } from '../../../src/mesh/transports/unix.ts'

const busy = helloTimeout + 300
const own = { worker: 1, secret: 's' }

/** A peer in a thread of its own. */
async function startPeer(does: 'listen' | 'dial' | 'dial and be busy', path: string): Promise<Worker> {
  const file = new URL('programs/busy-peer.ts', import.meta.url)
  const worker = new Worker(file, { workerData: { does, path, busy } })
  await once(worker, 'message')
  return worker
}

test('a worker that is busy for longer than a hello may take, as it loads a program, is linked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
  const peer = await startPeer('listen', join(folder, 'link'))
  const { transport } = await dialUnix(join(folder, 'link'), own)
  transport.close()
  await peer.terminate()
  await rm(folder, { recursive: true })
})

test('a worker that has dialled, and then loads a program for longer than that, is linked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
  const taken = Promise.withResolvers<number>()
  const accepted = ({ transport, peer }: HandshakeResult): void => {
    transport.close()
    taken.resolve(peer.worker)
  }
  const listener = await listenUnix(join(folder, 'link'), own, accepted, taken.reject)
  const peer = await startPeer('dial and be busy', join(folder, 'link'))
  assert.equal(await taken.promise, 2)
  await peer.terminate()
  await listener.close()
  await rm(folder, { recursive: true })
})

test('a hello that came while this thread was busy counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
  const hello = helloPacket(own)
  const read = (first: Packet): WorkerHello => readHello(first, own.secret)
  const taken = Promise.withResolvers<HandshakeResult>()
  const server = createServer((socket) => {
    greet(socket, false, { own: hello, refusal: hello, read }).then(taken.resolve, taken.reject)
  })
  await once(server.listen({ path: join(folder, 'link') }), 'listening')
  const peer = await startPeer('dial', join(folder, 'link'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy)
  const { transport, peer: greeted } = await taken.promise
  assert.equal(greeted.worker, 2)
  transport.close()
  await peer.terminate()
  server.close()
  await rm(folder, { recursive: true })
})
