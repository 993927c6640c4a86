/** Answers when as many as `workerData` says have asked, all in one turn, and exits before that is over. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { gatherWrites } from '../../../src/accelerators/batch-writes/gather-writes.ts'

const asked: Socket[] = []
const server = createServer({ allowHalfOpen: true }, (socket) => {
  gatherWrites(socket)
  socket.once('data', () => {
    if (asked.push(socket) < workerData) return
    for (const each of asked) each.write('answer')
    process.exit()
  })
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
