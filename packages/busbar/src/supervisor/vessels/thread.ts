import { extname } from 'node:path'
import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import { WorkerCells, threadsNow } from '../../shared/cells.ts'
import type { FromWorker, ThreadInit, ToWorker } from '../../shared/control.ts'
import type { TcpHandle } from '../../shared/port.ts'
import { prepareSegment } from '../../shared/state/segment.ts'
import { threadExited, threw } from '../exit.ts'
import { handOver } from '../accept/handover.ts'
import { splitLines } from './lines.ts'
import { prepareV8 } from './v8-flags.ts'
import type { Vessel, VesselEvents } from './vessel.ts'

export interface ThreadParts {
  readonly init: ThreadInit
  /** For whoever looks at the process with a debugger or `top -H`. */
  readonly name: string
  readonly entry: URL | undefined
  readonly resourceLimits: ResourceLimits | undefined
}

/** The module has the extension of this one: `.ts` from the sources, `.js` from what was built. */
const workerMain = new URL(`../../worker/main${extname(import.meta.url)}`, import.meta.url)

/** A thread of this process. */
export class ThreadVessel implements Vessel {
  readonly pid = process.pid
  readonly #worker: Worker
  readonly #cells: WorkerCells

  constructor({ init, name, entry, resourceLimits }: ThreadParts, events: VesselEvents) {
    this.#cells = new WorkerCells(init.cells, init.row)
    this.#cells.clear()
    this.#cells.beat(threadsNow())
    prepareSegment()
    prepareV8()
    this.#worker = new Worker(entry ?? workerMain, {
      name,
      workerData: init,
      stdout: true,
      stderr: true,
      ...(resourceLimits !== undefined && { resourceLimits }),
    })
    this.#worker
      .on('message', (message: FromWorker) => events.message(message))
      .on('error', (thrown: unknown) => events.failing(threw(thrown)))
      .on('exit', (code) => events.exited(threadExited(code)))
    splitLines(this.#worker.stdout, (line) => events.line(line, 'stdout'))
    splitLines(this.#worker.stderr, (line) => events.line(line, 'stderr'))
  }

  get closed(): number {
    return this.#cells.closed
  }

  age(now: number): number {
    return this.#cells.age(now)
  }

  send(order: ToWorker, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(order, transfer)
  }

  hand(listener: string, handle: TcpHandle): boolean {
    return handOver(this.#worker, listener, handle)
  }

  kill(): Promise<unknown> {
    return this.#worker.terminate()
  }
}
