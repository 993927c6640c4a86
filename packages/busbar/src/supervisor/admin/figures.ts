import type { AcceleratorState } from '../../shared/accelerators.ts'
import type { App } from '../../config/app.ts'
import { isRawEntry } from '../../config/gateway/raw-entry.ts'
import type { Ledger } from '../../observe/ledger.ts'
import type {
  AppStatus,
  CallFigures,
  ExitFigures,
  InstanceFigures,
  ServiceFigures,
  SpareFigures,
  WorkerFigures,
} from '../../observe/status.ts'
import { threadsNow, WorkerCells } from '../../shared/cells.ts'
import type { InstanceTable } from '../../shared/instances.ts'
import { bucketCount, quantile, upperBound } from '../../shared/latency.ts'
import { processCpuTime, processMemory, threadCpuTime } from './proc.ts'
import type { WorkerStatus } from '../running.ts'

export interface FiguresParts {
  readonly app: App
  readonly cells: SharedArrayBuffer
  readonly instances: InstanceTable
  readonly ledger: Ledger
  readonly accelerators: () => readonly AcceleratorState[]
  /** As they are at the moment. */
  readonly workers: () => readonly WorkerStatus[]
}

/** A serving worker whose event loop has not turned for so many milliseconds is blocked. */
const blockedAfter = 1000

const tickInterval = 1000

/** Processor time of a place's worker as it was at a tick, and what that was of the time before. */
interface CpuSample {
  /** The thread or process: another one's time begins anew. */
  readonly of: number
  readonly time: number
  readonly at: number
  readonly share: number | null
}

/**
 * The app's figures at any moment, from shared memory and the system alone: no worker is asked, so a blocked one is shown
 * like any other.
 */
export class Figures {
  readonly #parts: FiguresParts
  readonly #startedAt = Date.now()
  readonly #cpu = new Map<number, CpuSample>()
  #ticked = threadsNow()

  constructor(parts: FiguresParts) {
    this.#parts = parts
  }

  /** What happens in each second is only known from then on. Returns what ends it. */
  watch(): () => void {
    const timer = setInterval(() => this.#tick(), tickInterval).unref()
    return () => clearInterval(timer)
  }

  read(): AppStatus {
    const { app } = this.#parts
    this.#parts.ledger.collect()
    const workers = this.#parts.workers().map((status) => ({ status, figures: this.#workerFigures(status) }))
    const unready = unreadyOf(app, this.#parts.workers())
    const ready = unready.length === 0
    return {
      app: { name: app.name, root: app.root, pid: process.pid, startedAt: this.#startedAt, ready, unready },
      accelerators: this.#parts.accelerators(),
      workers: workers.map(({ figures }) => figures),
      services: app.services.map(({ name }) => this.#serviceFigures(name)),
      instances: app.services.flatMap(({ name }) =>
        workers.flatMap(({ status, figures }) => this.#instanceFigures(name, status, figures)),
      ),
      calls: this.#parts.ledger.pairs.map(({ caller, callee, sum, counts }) => ({
        caller,
        callee,
        sum,
        ...distribution(counts),
      })),
    }
  }

  #tick(): void {
    const now = threadsNow()
    this.#parts.ledger.tick((now - this.#ticked) / 1000)
    this.#ticked = now
    for (const status of this.#parts.workers()) this.#sampleCpu(status, now)
  }

  #sampleCpu(status: WorkerStatus, at: number): void {
    const of = this.#identityOf(status)
    const time = this.#cpuTimeOf(status)
    if (of === undefined || time === null) return void this.#cpu.delete(status.worker)
    const before = this.#cpu.get(status.worker)
    const share = before?.of === of && at > before.at ? Math.max(0, time - before.time) / (at - before.at) : null
    this.#cpu.set(status.worker, { of, time, at, share })
  }

  #identityOf({ kind, pid, row }: WorkerStatus): number | undefined {
    return isThread(kind) ? row : pid
  }

  #cpuTimeOf(status: WorkerStatus): number | null {
    const { kind, pid } = status
    const cells = this.#cellsOf(status)
    const seen = isThread(kind) ? cells && threadCpuTime(cells.threadId) : pid && processCpuTime(pid)
    return seen ?? cells?.vitals.cpu ?? null
  }

  #workerFigures(status: WorkerStatus): WorkerFigures {
    const { worker, name, kind, deaths, lastExit, connections, pid } = status
    const alive = status.state === 'serving' || status.state === 'starting' || status.state === 'draining'
    const silentFor = alive ? this.#silenceOf(status) : null
    const state =
      status.state === 'serving' && silentFor !== null && silentFor > blockedAfter ? 'blocked' : status.state
    return {
      worker,
      name,
      kind,
      state,
      pid: alive ? (pid ?? null) : null,
      restarts: deaths,
      startsIn: status.state === 'waiting' ? Math.max(0, status.until - Date.now()) : null,
      lastExit: lastExit === undefined ? null : toExit(lastExit),
      connections,
      silentFor,
      spare: this.#spareFigures(status),
      ...(alive ? this.#vitalsOf(status, state === 'blocked') : noVitals),
    }
  }

  #spareFigures({ spare }: WorkerStatus): SpareFigures | null {
    if (spare === undefined) return null
    const { memory } = new WorkerCells(this.#parts.cells, spare.row).vitals
    return { state: spare.state, memory }
  }

  #silenceOf(status: WorkerStatus): number | null {
    const age = this.#cellsOf(status)?.age(threadsNow())
    return age === undefined ? null : Math.round(age)
  }

  #vitalsOf(status: WorkerStatus, isBlocked: boolean): Vitals {
    const { kind, pid, worker } = status
    const cells = this.#cellsOf(status)
    const own = cells?.vitals
    const memory = isThread(kind) || pid === undefined ? undefined : processMemory(pid)
    return {
      requests: cells?.inFlight ?? 0,
      cpuTime: this.#cpuTimeOf(status),
      cpu: this.#cpu.get(worker)?.share ?? null,
      // What does not turn is busy, and cannot say so itself.
      eventLoopUtilization: isBlocked ? 1 : (own?.utilization ?? null),
      heapUsed: own?.heapUsed ?? null,
      memory: memory ?? own?.memory ?? null,
    }
  }

  #instanceFigures(service: string, { hosts, row }: WorkerStatus, { worker, state }: WorkerFigures): InstanceFigures[] {
    const host = hosts.find(({ name }) => name === service)
    if (host === undefined) return []
    const { calls, failures, callsPerSecond } = this.#parts.ledger.of(worker, service)
    const inFlight = row === undefined ? 0 : this.#parts.instances.at(row, service).inFlight
    return [{ service, instance: host.index, worker, state, inFlight, calls, failures, callsPerSecond }]
  }

  #serviceFigures(service: string): ServiceFigures {
    let [waiting, shed] = [0, 0]
    for (const { worker, row } of this.#parts.workers()) {
      if (row !== undefined) waiting += this.#parts.instances.at(row, service).waiting
      shed += this.#parts.ledger.of(worker, service).shed
    }
    return { service, waiting, shed }
  }

  /** A command writes nothing. */
  #cellsOf({ kind, row }: WorkerStatus): WorkerCells | undefined {
    return row === undefined || kind === 'command' ? undefined : new WorkerCells(this.#parts.cells, row)
  }
}

type Vitals = Pick<WorkerFigures, 'requests' | 'cpuTime' | 'cpu' | 'eventLoopUtilization' | 'heapUsed' | 'memory'>

const noVitals: Vitals = {
  requests: 0,
  cpuTime: null,
  cpu: null,
  eventLoopUtilization: null,
  heapUsed: null,
  memory: null,
}

/** A blocked worker counts as one that serves: it may be at its work. */
function unreadyOf(app: App, workers: readonly WorkerStatus[]): string[] {
  const serving = workers.filter(({ state }) => state === 'serving')
  const isServed = (service: string): boolean => serving.some(({ hosts }) => hosts.some(({ name }) => name === service))
  const gateway = !isRawEntry(app) && !serving.some(({ kind }) => kind === 'shared') ? ['gateway'] : []
  return [...gateway, ...app.services.map(({ name }) => name).filter((name) => !isServed(name))]
}

function isThread(kind: WorkerStatus['kind']): boolean {
  return kind === 'shared' || kind === 'thread'
}

function toExit({ why, service, text }: NonNullable<WorkerStatus['lastExit']>): ExitFigures {
  return { why, service: service ?? null, text }
}

/** Coarser bounds than those that are counted by: a power of two of microseconds each, from 16 on. */
const coarse = Array.from({ length: bucketCount }, (_, bucket) => bucket).filter((bucket) => {
  const bound = upperBound(bucket)
  return bound === Infinity || (bound >= 16 && Number.isInteger(Math.log2(bound)))
})

function distribution(counts: Float64Array): Pick<CallFigures, 'count' | 'p50' | 'p99' | 'buckets'> {
  let count = 0
  const upTo = counts.map((more) => (count += more))
  const buckets = coarse.map((bucket) => {
    const bound = upperBound(bucket)
    return { le: bound === Infinity ? null : bound / 1000, count: upTo[bucket]! }
  })
  return { count, p50: quantile(counts, 0.5) / 1000, p99: quantile(counts, 0.99) / 1000, buckets }
}
