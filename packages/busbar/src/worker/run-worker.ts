import { flushCompileCache } from 'node:module'
import { BusbarError } from '../contract/errors.ts'
import { type WorkerCells, threadsNow } from '../shared/metrics/worker-cells.ts'
import type { FromWorker, Order, WorkerInit } from '../shared/control-messages.ts'
import { deferBuiltinUndici } from '../shared/process/builtin-undici.ts'
import type { WorkerApp, WorkerParts } from './lifecycle/worker-app.ts'
import { closeInspector, openInspector, showSourceLines } from './inspect.ts'
import type { Metering } from './reporting/metering.ts'
import { DelaySamples } from './reporting/loop-delays.ts'
import { createOutbox, type Outbox, type OutputFlow } from './reporting/outbox.ts'
import { createVitalsReader } from './reporting/vitals.ts'
import { startTelemetry } from './telemetry/telemetry.ts'

export interface RunParts {
  readonly init: WorkerInit
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly send: (message: FromWorker) => void
  readonly output: OutputFlow
  /** Registers the handler of the supervisor's orders, which gets those that wait first. */
  readonly onOrder: (handle: (order: Order) => void) => void
}

/** Milliseconds; at most a fifth of the age at which the supervisor calls a worker stale. */
const heartbeatInterval = 100
const vitalsInterval = 1000

// The real one: programs get a `process.exit` that ends only the program.
const exit = process.exit.bind(process)

/** Runs a worker from boot to stop: carries out the supervisor's orders and reports to it. */
export async function runWorker({ init, cells, metering, send, output, onOrder }: RunParts): Promise<void> {
  const outbox = createOutbox(send, undefined, output)
  startHeartbeat(cells, metering)
  const flushSpans = metering.startTraces(init.app, outbox)
  process.on('exit', () => {
    flushSpans()
    outbox.flush()
  })
  try {
    await prepareDebugging(init, outbox)
    const loadUndici = deferBuiltinUndici()
    const { prepareWorker } = await import('./boot.ts')
    const worker = await prepareWorker(init, { cells, metering, outbox })
    const reportMetrics = startTelemetry(init, outbox, metering.tracer)
    loadUndici()
    onOrder((order) =>
      order.type === 'stop'
        ? void stop(worker, order, outbox, reportMetrics)
        : handleOrder(worker, order, { metering, outbox }),
    )
    outbox.post({ type: 'ready', services: await worker.start() })
  } catch (error) {
    outbox.post({ type: 'failed', error: BusbarError.from(error).toRecord() })
  }
}

async function prepareDebugging({ mode, inspect, hosts }: WorkerInit, outbox: Outbox): Promise<void> {
  if (mode === 'dev') showSourceLines()
  if (inspect === undefined) return
  const names = hosts.map(({ name, index }) => (index === 0 ? name : `${name} ${index}`)).join(', ')
  const line = `inspector of ${names}: ${await openInspector(inspect)}`
  outbox.log({ time: Date.now(), level: 'info', service: undefined, stream: 'busbar', line })
}

function startHeartbeat(cells: WorkerCells, metering: Metering): void {
  const { table, row } = metering
  const read = createVitalsReader()
  const delays = new DelaySamples()
  let beaten = threadsNow()
  let delay = 0
  cells.beat(beaten)
  setInterval(() => {
    const now = threadsNow()
    // A timer never fires early, but the clock's milliseconds are rounded.
    const late = now - beaten - heartbeatInterval
    delay = Math.max(delay, late)
    delays.add(late)
    beaten = now
    cells.beat(now)
    // A call abandoned while its answer was on its way sends no further event that would free its
    // slot.
    table.freeAbandoned(row)
  }, heartbeatInterval).unref()
  setInterval(() => {
    const { vitals, runtime } = read()
    cells.vitals = { ...vitals, delay }
    cells.runtime = { ...runtime, delays: delays.read() }
    delay = 0
    metering.renew()
  }, vitalsInterval).unref()
}

function handleOrder(
  worker: WorkerApp,
  order: Exclude<Order, { type: 'stop' }>,
  { metering, outbox }: Pick<WorkerParts, 'metering' | 'outbox'>,
): void {
  switch (order.type) {
    case 'connection':
      return worker.accept(order.listenerId, order.connection)
    case 'tls':
      return worker.setTls(order.tls)
    case 'identity':
      return worker.hosts.setIdentity(order.identity)
    case 'join':
    case 'serves':
    case 'health':
    case 'leave':
      return worker.peerServices.handle(order)
    case 'services':
      return worker.updateServices(order)
    case 'pathTemplates':
      return void metering.templates.add(order)
    case 'announced':
      return void worker.announced(order.slowStart)
    case 'share':
      return worker.shareConnections()
    case 'readiness':
      return worker.setReadiness(order)
    case 'released':
      return worker.release(order.service)
    case 'task':
      return void perform(worker, order, outbox)
  }
}

async function perform(
  worker: WorkerApp,
  { id, task }: Extract<Order, { type: 'task' }>,
  outbox: Outbox,
): Promise<void> {
  try {
    // Loaded on demand: most workers are never asked.
    const { performTask } = await import('./tasks/perform-task.ts')
    outbox.post({ type: 'taskDone', id, result: await performTask(task, worker) })
  } catch (error) {
    const { stack: _, ...record } = BusbarError.from(error).toRecord()
    outbox.post({ type: 'taskDone', id, error: record })
  }
}

async function stop(
  worker: WorkerApp,
  order: Extract<Order, { type: 'stop' }>,
  outbox: Outbox,
  reportMetrics: () => Promise<void>,
): Promise<void> {
  try {
    await worker.stop(order)
  } catch (error) {
    // Busbar's own fault. Unhandled, it would be reported as a program's, and the worker would
    // hang.
    const line = `stopping failed: ${error instanceof Error ? error.stack : String(error)}`
    outbox.log({ time: Date.now(), level: 'error', service: undefined, stream: 'busbar', line })
  }
  await reportMetrics()
  // At the first stop it writes some hundred files. An exit must not take as long.
  flushCompileCache()
  outbox.post({ type: 'stopped' })
  closeInspector()
  // A worker that exits by itself runs the 'exit' handlers of its programs.
  exit(0)
}
