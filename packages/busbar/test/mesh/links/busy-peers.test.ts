import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { helloTimeout } from '../../../src/mesh/links/limits.ts'
import { dialUnix, listenUnix } from '../../../src/mesh/transports/unix.ts'

const busy = helloTimeout + 300
const own = { worker: 1, secret: 's' }

/** A peer in a thread of its own. */
async function startPeer(does: 'listen' | 'dial', path: string): Promise<Worker> {
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

test('a hello that came while this thread was busy counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
  const taken = Promise.withResolvers<number>()
  const listener = await listenUnix(
    join(folder, 'link'),
    own,
    ({ transport, peer }) => {
      transport.close()
      taken.resolve(peer)
    },
    taken.reject,
  )
  const peer = await startPeer('dial', join(folder, 'link'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy)
  assert.equal(await taken.promise, 2)
  await peer.terminate()
  await listener.close()
  await rm(folder, { recursive: true })
})
