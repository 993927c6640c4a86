/** What a worker thread runs. */
import { workerData } from 'node:worker_threads'
import { WorkerCells } from '../shared/cells.ts'
import type { Order, ThreadData, ThreadInit } from '../shared/control.ts'
import { OutputWindow } from '../shared/output-window.ts'
import { reserveDescriptors } from '../shared/descriptors.ts'
import { appearAsMainThread } from './host/main-thread.ts'
import { Metering } from './metering.ts'
import { runWorker } from './run.ts'
import { nameThread } from './vitals.ts'

const { init, control } = workerData as ThreadData
appearAsMainThread()
const cells = new WorkerCells(init.cells, init.row)
nameThread(cells)
reserveDescriptors(init.descriptors)
await runWorker({
  init,
  cells,
  metering: new Metering(init),
  output: { window: new OutputWindow(init.output), blocks: isAlone(init) },
  send: (message) => control.postMessage(message),
  hear: (obey) => control.on('message', (order: Order) => obey(order)),
})

/** Whether blocking this thread stops one service only: a shared worker has the gateway too. */
function isAlone({ kind, hosts, app }: ThreadInit): boolean {
  return hosts.length === 1 && (kind === 'thread' || app.services.length === 1)
}
