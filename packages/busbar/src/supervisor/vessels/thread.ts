import { extname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import { WorkerCells, threadsNow } from '../../shared/cells.ts'
import type { FromWorker, ThreadInit, ToWorker } from '../../shared/control.ts'
import type { TcpHandle } from '../../shared/port.ts'
import { prepareSegment } from '../../shared/state/segment.ts'
import { threadExited, threw } from '../exit.ts'
import { handOver } from '../accept/handover.ts'
import { splitLines } from './lines.ts'
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

/**
 * What V8 is told of threads before it makes one, each unless somebody has said something else. The young generation:
 *
 * - begins with 4 MB instead of 1. It grows with what survives, and with small requests little does, so that it stays small
 *   and each collection finds requests still in flight: a typed service at the gateway answers 5 to 8 % more.
 * - ends with 16 MB, as a main thread's does, instead of 32: what an app loads at its start makes it grow. A typed service
 *   answers 4 % more from 16; from 8 a request that calls four others, of which more are in flight, 7 % less.
 * - is where everything is born. Once it has reached its end, V8 takes it that what one place makes lives long if it once did
 *   (at start: modules, schemas) and makes it in the old generation from then on, and garbage of requests is left to full
 *   collections: 2 to 6 %, and a heap that stays where it is.
 *
 * docs/decisions/young-generation.md has the measurements.
 */
const heapFlags = {
  'min-semi-space': '--min-semi-space-size=4',
  'max-semi-space': '--max-semi-space-size=16',
  pretenuring: '--no-allocation-site-pretenuring',
}

/** V8 reads them when it makes an isolate. */
function tuneHeap(): void {
  const said = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  for (const [what, flag] of Object.entries(heapFlags))
    if (!said.some((own) => own.includes(what))) setFlagsFromString(flag)
}

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
    tuneHeap()
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
