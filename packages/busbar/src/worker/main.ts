/** What a worker thread runs. Everything it does comes from the supervisor's orders, and all it says goes there. */
import { parentPort, workerData } from 'node:worker_threads'
import { BusbarError } from '../contract/errors.ts'
import { WorkerCells, threadsNow } from '../shared/cells.ts'
import type { ThreadInit, ToWorker } from '../shared/control.ts'
import { bootWorker, type WorkerApp } from './boot.ts'
import { Metering } from './metering.ts'
import { createOutbox } from './outbox.ts'
import { createVitals, nameThread } from './vitals.ts'

/** A fifth of the age at which the supervisor calls a worker stale, or less. */
const heartbeatInterval = 100
const vitalsInterval = 1000

// Programs get a `process.exit` of their own; this one really ends the thread.
const exit = process.exit.bind(process)
const port = parentPort!
const init = workerData as ThreadInit
const outbox = createOutbox((message) => port.postMessage(message))
const cells = new WorkerCells(init.cells, init.row)
const metering = new Metering(init)
const vitals = createVitals()
nameThread(cells)
cells.beat(threadsNow())
setInterval(() => cells.beat(threadsNow()), heartbeatInterval).unref()
setInterval(() => {
  cells.vitals = vitals()
  metering.meter.renew()
}, vitalsInterval).unref()
process.on('exit', () => outbox.flush())

try {
  const app = await bootWorker(init, { cells, metering, outbox })
  port.on('message', (order: ToWorker) => obey(app, order))
  outbox.post({ type: 'ready', services: app.services.map((service) => service.report) })
} catch (error) {
  outbox.post({ type: 'failed', error: BusbarError.from(error).toRecord() })
}

function obey(app: WorkerApp, order: ToWorker): void {
  switch (order.type) {
    case 'connection':
      return app.doors.admit(order.listener, order.connection)
    case 'tls':
      return app.setTls(order.tls)
    case 'join':
    case 'serves':
    case 'leave':
      return
    case 'stop':
      return void app.stop(order.timeout).then(sayStopped)
  }
}

/** Exiting by itself, the thread runs what its programs hung on `process.on('exit')`. */
function sayStopped(): void {
  outbox.post({ type: 'stopped' })
  exit(0)
}
