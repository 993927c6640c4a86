/** Another worker: one that is busy when it is dialled or dials, or one whose hello comes late. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { helloPacket } from '../../../../src/mesh/transports/hello.ts'
import { encodePacket } from '../../../../src/mesh/transports/packet-codec.ts'
import { dialUnix, listenUnix } from '../../../../src/mesh/transports/unix.ts'

const { does, path, busy } = workerData as {
  does: 'listen' | 'dial' | 'dial and be busy'
  path: string
  busy: number
}
const hello = { worker: 2, secret: 's' }

if (does === 'listen') {
  await listenUnix(path, hello, ({ transport }) => transport.close())
  parentPort!.postMessage('listens')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy)
} else if (does === 'dial and be busy') {
  const dialled = dialUnix(path, hello)
  parentPort!.postMessage('dials')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy)
  const { transport } = await dialled
  transport.close()
} else {
  const socket = connect({ path })
  await once(socket, 'connect')
  // The other side has accepted the connection by then.
  await sleep(200)
  parentPort!.postMessage('connected')
  await sleep(200)
  socket.write(Buffer.concat(encodePacket(helloPacket(hello))))
}
