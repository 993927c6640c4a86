/** Entry of a worker thread, and of the thread that probes accelerators. */
import { syncBuiltinESMExports } from 'node:module'
import workerThreads, { workerData } from 'node:worker_threads'
// Reads the real values before they are replaced.
import '../shared/process/this-thread.ts'
import { WorkerCells } from '../shared/metrics/worker-cells.ts'
import type { Order, ProbeData, ThreadData, ThreadInit } from '../shared/control-messages.ts'
import { OutputWindow } from '../shared/output/output-window.ts'
import { takeCompileCacheVariables } from '../shared/process/compile-cache.ts'
import { reserveDescriptors } from '../shared/process/descriptors.ts'
import { runWorker } from './run-worker.ts'
import { Metering } from './reporting/metering.ts'
import { recordThreadId } from './reporting/vitals.ts'

/** The values that Node documents for a main thread. `isInternalThread` is the same in both. */
const mainThreadValues = {
  isMainThread: true,
  parentPort: null,
  resourceLimits: {},
  threadId: 0,
  threadName: '',
  workerData: null,
}

takeCompileCacheVariables()
const data = workerData as ThreadData | ProbeData
if ('probe' in data) await (await import('./accelerators.ts')).reportAccelerators(data.probe)
else await host(data)

async function host({ init, control }: ThreadData): Promise<void> {
  emulateMainThread()
  const cells = new WorkerCells(init.cells, init.row)
  recordThreadId(cells)
  reserveDescriptors(init.descriptors)
  await runWorker({
    init,
    cells,
    metering: new Metering(init),
    output: { window: new OutputWindow(init.output), blocks: hostsOneService(init) },
    send: (message) => control.postMessage(message),
    onOrder: (handle) => control.on('message', (order: Order) => handle(order)),
  })
}

/**
 * Gives `node:worker_threads` the values of a main thread, for all code that this thread loads from
 * now on, by `import` and by `require`. Threads that a program starts load a `node:worker_threads`
 * of their own, with the real values.
 */
function emulateMainThread(): void {
  Object.assign(workerThreads, mainThreadValues)
  syncBuiltinESMExports()
}

/** True if blocking this thread stops a single service. A shared worker also has the gateway. */
function hostsOneService({ kind, hosts, app }: ThreadInit): boolean {
  return hosts.length === 1 && (kind === 'thread' || app.services.length === 1)
}
