import type { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { threadsNow, WorkerCells } from '../../shared/metrics/worker-cells.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { Load } from './decision.ts'

/** Milliseconds; a worker with an older heartbeat is blocked, and so wholly busy. */
const blockedAfter = 1000

/**
 * Reads the load of a service from shared memory. No worker is asked, so a blocked one counts, too.
 */
export class LoadReader {
  readonly #cells: SharedArrayBuffer
  readonly #instances: InstanceTable
  /** By service: when it was looked at last, and how many calls each worker had begun by then. */
  readonly #looks = new Map<string, { readonly at: number; readonly begun: ReadonlyMap<number, number> }>()

  constructor(cells: SharedArrayBuffer, instances: InstanceTable) {
    this.#cells = cells
    this.#instances = instances
  }

  /** `service` undefined: the shared workers. */
  read(service: string | undefined, workers: readonly WorkerHandle[]): Load {
    const now = threadsNow()
    const busy = workers.map((worker) => this.#busyOf(worker, now))
    const utilization = busy.reduce((sum, one) => sum + one, 0) / Math.max(1, busy.length)
    const services = service === undefined ? workers[0]!.spec.hosts.map(({ name }) => name) : [service]
    const queues = services.map((name) => this.#queueOf(name, workers, now))
    const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0)
    const queueTime = Math.max(0, ...queues.map(({ time }) => time))
    const occupied = Math.max(0, ...services.map((name) => this.#occupiedOf(name, workers)))
    return { instances: workers.length, utilization, occupied, waiting, queueTime }
  }

  /** Bytes that one of the workers uses on average; undefined before they have reported. */
  memoryOf(workers: readonly WorkerHandle[]): number | undefined {
    const used = workers.map(({ row }) => new WorkerCells(this.#cells, row).vitals.memory).filter((bytes) => bytes > 0)
    return used.length === 0 ? undefined : used.reduce((sum, bytes) => sum + bytes, 0) / used.length
  }

  #busyOf(worker: WorkerHandle, now: number): number {
    if (worker.age(now) > blockedAfter) return 1
    return new WorkerCells(this.#cells, worker.row).utilization
  }

  #occupiedOf(service: string, workers: readonly WorkerHandle[]): number {
    const { concurrency } = this.#instances.shape.services.find(({ name }) => name === service)!
    if (concurrency === undefined) return 0
    const inFlight = workers.reduce((sum, { row }) => sum + this.#instances.at(row, service).inFlight, 0)
    return inFlight / (workers.length * concurrency)
  }

  /** Without an answer since the last look, a call waits for longer than `time`. */
  #queueOf(service: string, workers: readonly WorkerHandle[], now: number): { waiting: number; time: number } {
    const waiting = this.#instances.waiting(service)
    const perSecond = this.#rateOf(service, workers, now)
    return { waiting, time: waiting === 0 ? 0 : (waiting / Math.max(perSecond, 1)) * 1000 }
  }

  /** Calls per second that the instances have begun since the last look. */
  #rateOf(service: string, workers: readonly WorkerHandle[], now: number): number {
    const last = this.#looks.get(service)
    const begun = new Map(workers.map(({ worker, row }) => [worker, this.#instances.at(row, service).calls]))
    this.#looks.set(service, { at: now, begun })
    if (last === undefined || now <= last.at) return 0
    const since = (worker: number, calls: number): number => (calls - (last.begun.get(worker) ?? calls)) >>> 0
    const calls = [...begun].reduce((sum, [worker, count]) => sum + since(worker, count), 0)
    return (calls / (now - last.at)) * 1000
  }
}
