/**
 * What a process of Node runs that hosts one service. It ends with the supervisor: when the channel closes, or by the guard
 * where it does not notice.
 */
import type { Socket } from 'node:net'
import { WorkerCells, createCells } from '../shared/cells.ts'
import { descriptorLimit, hasDescriptors, reserveDescriptors } from '../shared/descriptors.ts'
import type { Order, ProcessInit } from '../shared/control.ts'
import { CountsFile, countsDescriptor } from '../shared/counts-file.ts'
import { OutputWindow } from '../shared/output-window.ts'
import { refuseShared } from '../shared/state/segment.ts'
import { type ProcessOrder, takeChannel } from './channel.ts'
import { Metering } from './metering.ts'
import { runWorker } from './run.ts'

/** As often as a thread writes into the cells, so that the same ages mean the same. */
const beatInterval = 100
/** Every so many beats also say what the service does. */
const beatsPerReport = 10

const exit = process.exit.bind(process)
const window = new OutputWindow()
const waiting: Order[] = []
/** Of the last connection that came. */
let lastHandle = -1
let obey = (order: Order): void => void waiting.push(order)

const send = takeChannel(receive, () => exit(1))
// A terminal and an init system tell every process of the app; the supervisor says in which order they stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

function receive(message: ProcessOrder, socket: Socket | undefined): void {
  if (message.type === 'init') return void run(message.init)
  if (message.type === 'read') return window.read(message.size)
  if (message.type === 'handed') return decline(message.id)
  if (message.type !== 'handle') return obey(message)
  if (!hasDescriptors()) {
    // The supervisor has the connection still.
    socket?.destroy()
    return decline(message.id)
  }
  lastHandle = message.id
  send({ type: 'taken', id: message.id })
  // The client may have gone while it was under way.
  if (socket !== undefined) obey({ type: 'connection', listener: message.listener, connection: socket })
}

/** What has come up to there has been answered already. */
function decline(id: number): void {
  if (id <= lastHandle) return
  lastHandle = id
  send({ type: 'declined', id })
}

async function run(init: ProcessInit): Promise<void> {
  reserveDescriptors(descriptorLimit())
  refuseShared(`${init.hosts[0]?.name} runs as a process (run: 'process'), whose memory the others do not see`)
  const cells = new WorkerCells(createCells(1), 0)
  const metering = new Metering(init, new CountsFile(countsDescriptor))
  const report = (isWhole: boolean): void =>
    send({ type: 'beat', cells: cells.copy(), instances: isWhole ? metering.table.block(0).slice() : undefined })
  let beats = 0
  setInterval(() => report(beats++ % beatsPerReport === 0), beatInterval).unref()
  process.on('exit', () => report(true))
  await runWorker({
    init,
    cells,
    metering,
    send,
    output: { window, blocks: false },
    hear: (hear) => {
      obey = hear
      for (const order of waiting.splice(0)) hear(order)
    },
  })
}
