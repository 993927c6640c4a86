/** Responds to `workerData` requests in one turn of the event loop, and exits before its end. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { batchWrites } from '../../../src/accelerators/batch-writes/batch-writes.ts'

const asked: Socket[] = []
const server = createServer({ allowHalfOpen: true }, (socket) => {
  batchWrites(socket)
  socket.once('data', () => {
    if (asked.push(socket) < workerData) return
    for (const each of asked) each.write('answer')
    process.exit()
  })
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
