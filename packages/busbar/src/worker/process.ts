/**
 * What a process of Node runs that hosts one service. It ends with the supervisor: when the channel closes, or by the guard
 * where it does not notice.
 */
import './tick-shape.ts'
import { WorkerCells, createCells } from '../shared/cells.ts'
import type { FromWorker, Order, ProcessInit, ToWorker } from '../shared/control.ts'
import type { TcpHandle } from '../shared/port.ts'
import { refuseShared } from '../shared/state/segment.ts'
import { Metering } from './metering.ts'
import { runWorker } from './run.ts'

/** As often as a thread writes into the cells, so that the same ages mean the same. */
const beatInterval = 100
/** Every so many beats also say what the service does. */
const beatsPerReport = 10

type Message = ToWorker | { type: 'init'; init: ProcessInit }

const exit = process.exit.bind(process)
const send = process.send!.bind(process) as (message: FromWorker) => void
const waiting: Order[] = []
let obey = (order: Order): void => void waiting.push(order)

takeChannel()
// A terminal and an init system tell every process of the app; the supervisor says in which order they stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

/** The channel is Busbar's: a program that looks for a parent finds none, and hears nothing of these messages. */
function takeChannel(): void {
  const emit = process.emit.bind(process) as (event: string | symbol, ...args: unknown[]) => boolean
  process.emit = ((event: string | symbol, ...args: unknown[]) => {
    if (event === 'disconnect') exit(1)
    if (event !== 'message') return emit(event, ...args)
    receive(args[0] as Message, args[1] as TcpHandle | undefined)
    return true
  }) as typeof process.emit
  // Node keeps messages back, and the process does not stay for them, until somebody listens.
  process.on('message', () => {})
  // Node itself looks at `channel` and `connected` for each message.
  for (const name of ['send', 'disconnect'])
    Object.defineProperty(process, name, { value: undefined, configurable: true, writable: true })
  delete process.env['NODE_CHANNEL_FD']
}

function receive(message: Message, handle: TcpHandle | undefined): void {
  if (message.type === 'init') return void run(message.init)
  if (message.type !== 'handle') return obey(message)
  send({ type: 'taken', id: message.id })
  // The client may have gone while it was under way.
  if (handle !== undefined) obey({ type: 'connection', listener: message.listener, connection: handle })
}

async function run(init: ProcessInit): Promise<void> {
  refuseShared(`${init.hosts[0]?.name} runs as a process (run: 'process'), whose memory the others do not see`)
  const cells = new WorkerCells(createCells(1), 0)
  const metering = new Metering(init)
  let beats = 0
  setInterval(() => {
    const report = beats++ % beatsPerReport === 0
    send({ type: 'beat', cells: cells.copy(), instances: report ? metering.table.block(0).slice() : undefined })
  }, beatInterval).unref()
  await runWorker({
    init,
    cells,
    metering,
    send,
    hear: (hear) => {
      obey = hear
      for (const order of waiting.splice(0)) hear(order)
    },
  })
}
