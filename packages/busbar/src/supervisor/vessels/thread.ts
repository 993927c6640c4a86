import { extname } from 'node:path'
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type ResourceLimits,
  type Transferable,
  Worker,
} from 'node:worker_threads'
import type { Socket } from 'node:net'
import { WorkerCells, threadsNow } from '../../shared/cells.ts'
import type { ThreadData, ThreadInit, ToWorker } from '../../shared/control.ts'
import { prepareSegment } from '../../shared/state/segment.ts'
import { threadExited, threw } from '../exit.ts'
import { handOver } from '../accept/handover.ts'
import { OutputWindow } from '../../shared/output-window.ts'
import type { OutputScheduler } from './output-scheduler.ts'
import { PipeOutput } from './pipe-output.ts'
import { SentOutput } from './sent-output.ts'
import { isFromWorker } from './from-worker.ts'
import type { Handed, Vessel, VesselEvents } from './vessel.ts'

export interface ThreadParts {
  readonly init: ThreadInit
  /** For whoever looks at the process with a debugger or `top -H`. */
  readonly name: string
  readonly entry: URL | undefined
  readonly resourceLimits: ResourceLimits | undefined
  readonly scheduler: OutputScheduler
}

/** The module has the extension of this one: `.ts` from the sources, `.js` from what was built. */
const workerMain = new URL(`../../worker/main${extname(import.meta.url)}`, import.meta.url)

/**
 * A thread of this process. Orders and reports have a port of their own: `worker.postMessage` and `parentPort` belong to
 * whatever code runs in the thread, and nobody listens there.
 */
export class ThreadVessel implements Vessel {
  readonly pid = process.pid
  readonly #worker: Worker
  readonly #control: MessagePort
  readonly #output: SentOutput
  readonly #pipes: readonly PipeOutput[]
  #open = true
  readonly #cells: WorkerCells

  constructor({ init, name, entry, resourceLimits, scheduler }: ThreadParts, events: VesselEvents) {
    this.#cells = new WorkerCells(init.cells, init.row)
    this.#cells.clear()
    this.#cells.beat(threadsNow())
    prepareSegment()
    const window = new OutputWindow(init.output)
    this.#output = new SentOutput({
      scheduler,
      message: (message) => events.message(message),
      read: (size) => window.read(size),
    })
    const { port1, port2 } = new MessageChannel()
    const workerData: ThreadData = { init, control: port2 }
    this.#worker = new Worker(entry ?? workerMain, {
      name,
      workerData,
      transferList: [port2],
      stdout: true,
      stderr: true,
      ...(resourceLimits !== undefined && { resourceLimits }),
    })
    this.#control = port1
      .on('message', (message) => this.#receive(message))
      .on('close', () => {
        // Only its end closes a thread's ports. One that ran out of memory may take seconds from here to its exit.
        if (this.#open) events.ending()
        this.#open = false
      })
    this.#worker
      .on('error', (thrown: unknown) => {
        this.#receiveLast()
        events.failing(threw(thrown))
      })
      .on('exit', (code) => {
        this.#receiveLast()
        this.#output.drain()
        for (const pipe of this.#pipes) pipe.drain()
        this.#open = false
        port1.close()
        events.exited(threadExited(code))
      })
    const { stdout, stderr } = this.#worker
    const line: VesselEvents['line'] = (text, stream, level) => events.line(text, stream, level)
    this.#pipes = [
      new PipeOutput({ stream: stdout, name: 'stdout', scheduler, line }),
      new PipeOutput({ stream: stderr, name: 'stderr', scheduler, line }),
    ]
  }

  get closed(): number {
    return this.#cells.closed
  }

  age(now: number): number {
    return this.#cells.age(now)
  }

  send(order: ToWorker, transfer: readonly Transferable[] = []): void {
    if (this.#open) this.#control.postMessage(order, transfer)
  }

  hand(listener: string, socket: Socket): Handed {
    return this.#open && handOver(this.#control, listener, socket) ? 'taken' : 'lost'
  }

  kill(): Promise<unknown> {
    return this.#worker.terminate()
  }

  #receive(message: unknown): void {
    if (isFromWorker(message)) this.#output.message(message)
  }

  /** What the thread said before it ended may still be under way when its end is known. */
  #receiveLast(): void {
    for (let last = receiveMessageOnPort(this.#control); last !== undefined; last = receiveMessageOnPort(this.#control))
      this.#receive(last.message)
  }
}
