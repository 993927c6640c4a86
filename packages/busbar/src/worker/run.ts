import { BusbarError } from '../contract/errors.ts'
import { type WorkerCells, threadsNow } from '../shared/cells.ts'
import type { FromWorker, Order, WorkerInit } from '../shared/control.ts'
import { deferBuiltinUndici } from '../shared/builtin-undici.ts'
import type { WorkerApp } from './boot.ts'
import type { Metering } from './metering.ts'
import { createOutbox, type Outbox, type OutputFlow } from './outbox.ts'
import { createVitals } from './vitals.ts'

export interface RunParts {
  readonly init: WorkerInit
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly send: (message: FromWorker) => void
  readonly output: OutputFlow
  /** Has orders told from now on, those that wait first. */
  readonly hear: (obey: (order: Order) => void) => void
}

/** A fifth of the age at which the supervisor calls a worker stale, or less. */
const heartbeatInterval = 100
const vitalsInterval = 1000

// Programs get a `process.exit` of their own; this one really ends the thread, or the process.
const exit = process.exit.bind(process)

/** All that a worker does comes from the supervisor's orders, and all that it says goes there. */
export async function runWorker({ init, cells, metering, send, output, hear }: RunParts): Promise<void> {
  const outbox = createOutbox(send, undefined, output)
  keepBeating(cells, metering)
  process.on('exit', () => outbox.flush())
  try {
    const load = deferBuiltinUndici()
    const { prepareWorker } = await import('./boot.ts')
    const worker = await prepareWorker(init, { cells, metering, outbox })
    load()
    hear((order) => obey(worker, order, outbox))
    outbox.post({ type: 'ready', services: await worker.start() })
  } catch (error) {
    outbox.post({ type: 'failed', error: BusbarError.from(error).toRecord() })
  }
}

function keepBeating(cells: WorkerCells, { meter, table, row }: Metering): void {
  const vitals = createVitals()
  cells.beat(threadsNow())
  setInterval(() => {
    cells.beat(threadsNow())
    // Those that were given up when their answer was on its way: no word of it ever comes here.
    table.freeGivenUp(row)
  }, heartbeatInterval).unref()
  setInterval(() => {
    cells.vitals = vitals()
    meter.renew()
  }, vitalsInterval).unref()
}

function obey(worker: WorkerApp, order: Order, outbox: Outbox): void {
  switch (order.type) {
    case 'connection':
      return worker.admit(order.listener, order.connection)
    case 'tls':
      return worker.setTls(order.tls)
    case 'join':
    case 'serves':
    case 'leave':
      return worker.neighbours.obey(order)
    case 'released':
      return worker.release(order.service)
    case 'stop':
      return void stop(worker, order, outbox)
  }
}

async function stop(worker: WorkerApp, order: Extract<Order, { type: 'stop' }>, outbox: Outbox): Promise<void> {
  try {
    await worker.stop(order)
  } catch (error) {
    // Ours, whatever it is: left to itself it would be told as a program's, and the worker would wait to be ended.
    const line = `stopping failed: ${error instanceof Error ? error.stack : String(error)}`
    outbox.log({ time: Date.now(), level: 'error', service: undefined, stream: 'busbar', line })
  }
  outbox.post({ type: 'stopped' })
  // Exiting by itself, the worker runs what its programs hung on `process.on('exit')`.
  exit(0)
}
