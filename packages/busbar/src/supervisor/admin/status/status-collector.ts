import type { App } from '../../../config/app.ts'
import type {
  AppStatus,
  EntranceStats,
  ExitInfo,
  InstanceStats,
  ServiceStats,
  SpareStats,
  WorkerStats,
} from '../../../observe/app-status.ts'
import type { ScheduleStats } from '../../../observe/schedule-status.ts'
import { noQueueCounts, QueueCells, queueCounters, queueGauges } from '../../../shared/metrics/queue-cells.ts'
import { threadsNow, WorkerCells } from '../../../shared/metrics/worker-cells.ts'
import { type RefusalCount, sumRefusals } from '../../../shared/metrics/refusals.ts'
import type { DirectEdge } from '../../../shared/entrance/entrance.ts'
import type { Readiness } from '../../../shared/control-messages.ts'
import { distribution, toEdgeStats } from './edge-stats.ts'
import { processCpuTime, processMemory, threadCpuTime } from './proc.ts'
import type { AppCluster } from '../../cluster/app-cluster.ts'
import type { Pulse } from '../../pulse.ts'
import type { Launcher } from '../../workers/launcher.ts'
import type { WorkerStatus } from '../../workers/worker-status.ts'

/** What the native entrance has counted. */
interface EntranceCounts {
  readonly stats: EntranceStats
  takeDirectEdges(): readonly DirectEdge[]
}

/** What the ports have counted. */
interface PortCounts {
  /** Undefined: the app does not use the native entrance. */
  readonly entrance: EntranceCounts | undefined
  /** Connections that no worker got. */
  readonly refusals: readonly RefusalCount[]
}

export interface StatusCollectorParts {
  readonly app: () => App
  readonly launcher: Pick<Launcher, 'cells' | 'instances' | 'totals' | 'accelerators' | 'remotes'>
  readonly cluster: Pick<AppCluster, 'others' | 'stats'>
  readonly pulse: Pulse
  /** The current state of each slot. */
  readonly workers: () => readonly WorkerStatus[]
  readonly ports: () => PortCounts
  readonly schedule: () => readonly ScheduleStats[]
  readonly readiness: () => Readiness
}

/** Milliseconds. A serving worker with an older heartbeat is blocked. */
const blockedAfter = 1000

const tickInterval = 1000

/** The processor time of a slot's worker at the last tick. */
interface CpuSample {
  /** The row of a thread, or the process ID: a new one starts from zero. */
  readonly of: number
  /** Milliseconds of processor time. */
  readonly time: number
  /** When it was sampled; of {@link threadsNow}. */
  readonly at: number
  /** Processors used since the sample before. */
  readonly share: number | null
}

/**
 * Collects the app's status from shared memory and the operating system. It asks no worker, so a
 * blocked one is shown like any other.
 */
export class StatusCollector {
  readonly #parts: StatusCollectorParts
  readonly #startedAt = Date.now()
  readonly #cpu = new Map<number, CpuSample>()
  #ticked = threadsNow()

  constructor(parts: StatusCollectorParts) {
    this.#parts = parts
  }

  /** Samples the rates per second from now on. Returns a function that ends it. */
  watch(): () => void {
    return this.#parts.pulse.every(tickInterval, () => this.#tick())
  }

  read(): AppStatus {
    const app = this.#parts.app()
    const { entrance, refusals } = this.#parts.ports()
    this.#parts.launcher.totals.collect(entrance?.takeDirectEdges())
    const workers = this.#parts.workers().map((status) => ({ status, stats: this.#workerStats(status) }))
    const { phase, unready } = this.#parts.readiness()
    const ready = phase === 'running' && unready.length === 0
    return {
      app: {
        name: app.name,
        root: app.root,
        file: app.configFile ?? app.services[0]!.entry.file,
        pid: process.pid,
        startedAt: this.#startedAt,
        phase,
        ready,
        unready,
        cpuTime: ownCpuTime(),
        memory: process.memoryUsage.rss(),
      },
      accelerators: this.#parts.launcher.accelerators,
      workers: workers.map(({ stats }) => stats),
      services: app.services.map(({ name }) => this.#serviceStats(name)),
      instances: app.services.flatMap(({ name }) =>
        workers.flatMap(({ status, stats }) => this.#instanceStats(name, status, stats)),
      ),
      calls: this.#parts.launcher.totals.pairs.map(({ caller, callee, count, sum, counts }) => ({
        caller,
        callee,
        count,
        sum,
        ...distribution(counts),
      })),
      edges: this.#parts.launcher.totals.edges.map(toEdgeStats),
      remotes: this.#parts.launcher.remotes.stats(app.remotes ?? [], this.#parts.cluster.others),
      cluster: this.#parts.cluster.stats,
      schedule: this.#parts.schedule(),
      entrance: entrance?.stats ?? null,
      refusals: sumRefusals(this.#parts.launcher.totals.refusals, refusals, entrance?.stats.refusals ?? []),
    }
  }

  #tick(): void {
    const now = threadsNow()
    this.#parts.launcher.totals.tick((now - this.#ticked) / 1000, this.#parts.ports().entrance?.takeDirectEdges())
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

  #workerStats(status: WorkerStatus): WorkerStats {
    const { worker, name, kind, deaths, lastExit, connections, pid, startedAt } = status
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
      startedAt: alive ? (startedAt ?? null) : null,
      restarts: deaths,
      startsIn: status.state === 'waiting' ? Math.max(0, status.until - Date.now()) : null,
      lastExit: lastExit === undefined ? null : toExitInfo(lastExit),
      connections,
      silentFor,
      spare: this.#spareStats(status),
      ...(alive ? this.#vitalsOf(status, state === 'blocked' ? silentFor : null) : noVitals),
    }
  }

  #spareStats({ spare }: WorkerStatus): SpareStats | null {
    if (spare === undefined) return null
    const { memory } = new WorkerCells(this.#parts.launcher.cells, spare.row).vitals
    return { state: spare.state, memory }
  }

  #silenceOf(status: WorkerStatus): number | null {
    const age = this.#cellsOf(status)?.age(threadsNow())
    return age === undefined ? null : Math.round(age)
  }

  /** `blockedFor`: milliseconds, or null. */
  #vitalsOf(status: WorkerStatus, blockedFor: number | null): Vitals {
    const { kind, pid, worker } = status
    const cells = this.#cellsOf(status)
    const own = cells?.vitals
    const memory = isThread(kind) || pid === undefined ? undefined : processMemory(pid)
    return {
      requests: cells?.inFlight ?? 0,
      cpuTime: this.#cpuTimeOf(status),
      cpu: this.#cpu.get(worker)?.share ?? null,
      // A blocked event loop is busy, and cannot report it.
      eventLoopUtilization: blockedFor !== null ? 1 : (own?.utilization ?? null),
      eventLoopDelay: own === undefined ? null : (blockedFor ?? own.delay),
      heapUsed: own?.heapUsed ?? null,
      gcTime: own?.gc ?? null,
      runtime: cells?.runtime ?? null,
      // 0: it has not reported yet.
      memory: memory ?? (own?.memory || null),
    }
  }

  #instanceStats(
    service: string,
    { hosts, row, unhealthy: all }: WorkerStatus,
    { worker, state }: WorkerStats,
  ): InstanceStats[] {
    const host = hosts.find(({ name }) => name === service)
    if (host === undefined) return []
    const { calls, failures, callsPerSecond } = this.#parts.launcher.totals.of(worker, service)
    const inFlight = row === undefined ? 0 : this.#parts.launcher.instances.at(row, service).inFlight
    const unhealthy = state === 'serving' ? (all.get(service) ?? null) : null
    return [{ service, instance: host.index, worker, state, unhealthy, inFlight, calls, failures, callsPerSecond }]
  }

  #serviceStats(service: string): ServiceStats {
    const { totals, instances: table } = this.#parts.launcher
    let [calls, failures, waiting, shed] = [0, 0, 0, 0]
    const events = { handled: 0, failed: 0, dropped: 0, waiting: 0 }
    const queue: Record<keyof typeof noQueueCounts, number> = { ...noQueueCounts }
    for (const one of totals.ofService(service)) {
      calls += one.calls
      failures += one.failures
      shed += one.shed
      events.handled += one.eventsHandled
      events.failed += one.eventsFailed
      events.dropped += one.eventsDropped
      for (const name of queueCounters) queue[name] += one.queue[name]
    }
    for (const { row } of this.#parts.workers()) {
      if (row === undefined) continue
      const cells = table.at(row, service)
      waiting += cells.waiting
      events.waiting += cells.events.waiting
      const now = new QueueCells(table.cellsAt(row, service)).counts
      for (const name of queueGauges) queue[name] += now[name]
    }
    return { service, calls, failures, waiting, shed, events, queue }
  }

  /** A command writes no cells. */
  #cellsOf({ kind, row }: WorkerStatus): WorkerCells | undefined {
    return row === undefined || kind === 'command' ? undefined : new WorkerCells(this.#parts.launcher.cells, row)
  }
}

type Vitals = Pick<
  WorkerStats,
  | 'requests'
  | 'cpuTime'
  | 'cpu'
  | 'eventLoopUtilization'
  | 'eventLoopDelay'
  | 'heapUsed'
  | 'gcTime'
  | 'runtime'
  | 'memory'
>

const noVitals: Vitals = {
  requests: 0,
  cpuTime: null,
  cpu: null,
  eventLoopUtilization: null,
  eventLoopDelay: null,
  heapUsed: null,
  gcTime: null,
  runtime: null,
  memory: null,
}

function ownCpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function isThread(kind: WorkerStatus['kind']): boolean {
  return kind === 'shared' || kind === 'thread'
}

function toExitInfo({ why, service, text, stack = [] }: NonNullable<WorkerStatus['lastExit']>): ExitInfo {
  return { why, service: service ?? null, text, stack }
}
