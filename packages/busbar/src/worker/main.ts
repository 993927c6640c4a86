/** What a worker thread runs. */
import './tick-shape.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { WorkerCells } from '../shared/cells.ts'
import type { ThreadInit, Order } from '../shared/control.ts'
import { Metering } from './metering.ts'
import { runWorker } from './run.ts'
import { nameThread } from './vitals.ts'

const port = parentPort!
const init = workerData as ThreadInit
const cells = new WorkerCells(init.cells, init.row)
nameThread(cells)
await runWorker({
  init,
  cells,
  metering: new Metering(init),
  send: (message) => port.postMessage(message),
  hear: (obey) => port.on('message', (order: Order) => obey(order)),
})
