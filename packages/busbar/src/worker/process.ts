/**
 * Entry of a worker process, which hosts one service. It exits when its channel to the supervisor
 * closes. The guard process kills it if it does not notice.
 */
import type { Socket } from 'node:net'
import { createCells, threadsNow } from '../shared/metrics/worker-cells.ts'
import { takeCompileCacheVariables } from '../shared/process/compile-cache.ts'
import { hideDebuggerFlags } from '../shared/process/debugger-flags.ts'
import { descriptorLimit, hasDescriptors, reserveDescriptors } from '../shared/process/descriptors.ts'
import type { Order, ProcessInit } from '../shared/control-messages.ts'
import { ReportFile, reportDescriptor } from '../shared/metrics/report-file.ts'
import { OutputWindow } from '../shared/output/output-window.ts'
import { refuseShared } from '../shared/state/segment.ts'
import { type ProcessOrder, claimControlChannel } from './control-channel.ts'
import { Metering } from './reporting/metering.ts'
import { ReportedRow } from './reporting/reported-cells.ts'
import { runWorker } from './run-worker.ts'

/** Milliseconds. The service's counters are sent this often, if they have changed. */
const countersInterval = 1000

hideDebuggerFlags()
takeCompileCacheVariables()
const exit = process.exit.bind(process)
const window = new OutputWindow()
/** Orders that arrived before the worker could handle them. */
const waiting: Order[] = []
/** The id of the last connection that arrived. */
let lastHandle = -1
let handleOrder = (order: Order): void => void waiting.push(order)

const send = claimControlChannel(receive, () => exit(1))
// A terminal or init system signals every process of the app. The supervisor decides the order of
// stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

function receive(message: ProcessOrder, socket: Socket | undefined): void {
  if (message.type === 'init') return void run(message.init)
  if (message.type === 'outputRead') return window.read(message.size)
  if (message.type === 'connectionsSent') return decline(message.id)
  if (message.type !== 'connectionHandle') return handleOrder(message)
  if (!hasDescriptors()) {
    // The supervisor still has the connection.
    socket?.destroy()
    return decline(message.id)
  }
  lastHandle = message.id
  send({ type: 'taken', id: message.id })
  // Undefined if the client closed the connection during the transfer.
  if (socket !== undefined) handleOrder({ type: 'connection', listenerId: message.listenerId, connection: socket })
}

/** Reports connections up to `id` as declined, except those that have been answered already. */
function decline(id: number): void {
  if (id <= lastHandle) return
  lastHandle = id
  send({ type: 'declined', id })
}

async function run(init: ProcessInit): Promise<void> {
  reserveDescriptors(descriptorLimit())
  refuseShared(`${init.hosts[0]?.name} runs as a process (run: 'process'), whose memory the others do not see`)
  const file = new ReportFile(reportDescriptor)
  const cells = new ReportedRow(createCells(1), file, () => send({ type: 'heartbeat' }))
  const metering = new Metering(init, file)
  let reported = new Uint32Array()
  const report = (): void => {
    const counters = metering.table.usedBlock(0)
    if (areSame(counters, reported)) return
    reported = counters.slice()
    send({ type: 'counters', cells: reported })
  }
  setInterval(report, countersInterval).unref()
  process.on('exit', () => {
    cells.beat(threadsNow())
    report()
  })
  await runWorker({
    init,
    cells,
    metering,
    send,
    output: { window, blocks: false },
    onOrder: (handle) => {
      handleOrder = handle
      for (const order of waiting.splice(0)) handle(order)
    },
  })
}

/** Takes 4 µs where sending takes 70: 27 KB for an app of one service. */
function areSame(one: Uint32Array, other: Uint32Array): boolean {
  return bytesOf(one).equals(bytesOf(other))
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
