import type { EventCounts } from '../shared/metrics/instance-cells.ts'
import type { QueueCounts } from '../shared/metrics/queue-cells.ts'
import type { RefusalCount } from '../shared/metrics/refusals.ts'
import type { RuntimeStats } from '../shared/metrics/runtime-cells.ts'
import type { AcceleratorState } from '../shared/accelerators.ts'
import type { ScheduleStats } from './schedule-status.ts'

/**
 * The current state of an app, as `GET /status` answers and `busbar ps --json` prints it. Keys are
 * only ever added. Counts are totals since the app's start, over all workers. Times are
 * milliseconds, sizes are bytes.
 */
export interface AppStatus {
  readonly app: {
    readonly name: string
    readonly root: string
    /** The config, or of an app without one its program. */
    readonly file: string
    /** The process of the supervisor. */
    readonly pid: number
    /** Milliseconds since 1970. */
    readonly startedAt: number
    /** `running` from when the ports are open until a stop begins. */
    readonly phase: 'starting' | 'running' | 'stopping'
    /** Whether it runs, each service has a healthy instance, and the gateway a worker. */
    readonly ready: boolean
    /** The services without a healthy instance; `gateway` stands for the gateway. */
    readonly unready: readonly string[]
    /** Processor time of the supervisor's process, with all its threads. */
    readonly cpuTime: number
    /** Resident memory of that process. */
    readonly memory: number
  }
  /** Empty until the first worker has run the probes. */
  readonly accelerators: readonly AcceleratorState[]
  readonly workers: readonly WorkerStats[]
  /** In the app's order, like `instances`. */
  readonly services: readonly ServiceStats[]
  readonly instances: readonly InstanceStats[]
  /** By caller and callee. */
  readonly calls: readonly CallStats[]
  /** The same calls in detail. */
  readonly edges: readonly EdgeStats[]
  /** Services of other apps that this one calls. */
  readonly remotes: readonly RemoteStats[]
  /** Null if the app is in no cluster. */
  readonly cluster: ClusterStats | null
  /** The entries of the config's `schedule`, with their last runs. */
  readonly schedule: readonly ScheduleStats[]
  /** Null if the app does not use the native entrance. */
  readonly entrance: EntranceStats | null
  /** Responses in place of services, at either entrance, with those in `entrance`. */
  readonly refusals: readonly RefusalCount[]
}

/** A service of other apps. */
export interface RemoteStats {
  readonly service: string
  /** At least one worker has a link to a host that offers it. */
  readonly reachable: boolean
  readonly hosts: readonly RemoteHostStats[]
}

/** A host of other apps that serves, or should serve, a remote service. */
export interface RemoteHostStats {
  /** Its address, or what it is in the cluster. */
  readonly host: string
  /** Null before the first link. */
  readonly app: string | null
  /** Of the app, as its `package.json` has it. */
  readonly version: string | null
  /** Of the service: the same for the same contract. Null if it is not known. */
  readonly contract: string | null
  readonly state: 'linked' | 'unlinked' | 'ejected'
  /** Why it gets no calls. */
  readonly why: string | null
  /** Workers of this app with a link to it. */
  readonly links: number
  /** Calls in flight there, of all callers, as it has reported last. */
  readonly load: number | null
  /** Unfinished calls of this app. */
  readonly inFlight: number
  /** Milliseconds since it was heard last. */
  readonly silentFor: number | null
}

/** The other hosts of the cluster, as they have announced themselves. */
export interface ClusterStats {
  readonly name: string
  /** This app's own host. */
  readonly host: string
  /** Why there is no connection to NATS. Null: there is one. */
  readonly fault: string | null
  readonly members: readonly ClusterMemberStats[]
}

export interface ClusterMemberStats {
  readonly host: string
  readonly app: string
  readonly machine: string
  readonly version: string | null
  readonly silentFor: number
  readonly services: readonly { readonly service: string; readonly load: number; readonly contract: string | null }[]
}

/** The native entrance of the gateway. */
export interface EntranceStats {
  /** Open connections of clients. */
  readonly connections: number
  /** Connections since the start. */
  readonly accepted: number
  readonly handshakes: number
  readonly failedHandshakes: number
  /** By protocol. */
  readonly requests: { readonly http1: number; readonly http2: number }
  /** Requests that workers have and have not answered; upgraded connections too. */
  readonly inFlight: number
  readonly bytesReceived: number
  readonly bytesSent: number
  /** Responses of the entrance itself, without those of the gateways in the workers. */
  readonly refusals: readonly RefusalCount[]
  /** How long requests waited until a worker called their handler. */
  readonly queueTimes: {
    /** The number of requests up to each bound; null: all. */
    readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
    readonly sum: number
  }
  /** Requests that another worker got, because theirs died or was late before it began them. */
  readonly moved: number
  /** Requests that were repeated, because their worker died. */
  readonly repeated: number
  /** Requests that services in processes and commands got without a worker between. */
  readonly direct: number
  /** Connections that were closed because of a flood. */
  readonly floods: number
}

/** A slot and the worker in it. */
export interface WorkerStats {
  /** The index of the slot. */
  readonly worker: number
  /** For people: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: 'shared' | 'thread' | 'process' | 'command'
  /** `blocked`: it serves, but its event loop is blocked. */
  readonly state: 'starting' | 'serving' | 'blocked' | 'draining' | 'waiting' | 'givenUp' | 'stopped'
  /** The operating system's process ID; all threads have the same. */
  readonly pid: number | null
  /** When it was started, in milliseconds since 1970. Null: there is none. */
  readonly startedAt: number | null
  /** How often a worker died in this slot and was restarted. */
  readonly restarts: number
  /** Milliseconds until the restart, while it waits for one. */
  readonly startsIn: number | null
  readonly lastExit: ExitInfo | null
  /** Open connections that the supervisor transferred. */
  readonly connections: number
  /** In-flight requests of its gateway. */
  readonly requests: number
  /** Since the last heartbeat of its event loop. */
  readonly silentFor: number | null
  /** Processor time since the worker's start. */
  readonly cpuTime: number | null
  /** Processors used, averaged over the last second: 1 is one whole processor. */
  readonly cpu: number | null
  /** The share of the last second in which its event loop was busy, 0 to 1. */
  readonly eventLoopUtilization: number | null
  /** The longest delay of its event loop in the last second, or since it blocks. */
  readonly eventLoopDelay: number | null
  readonly heapUsed: number | null
  /** Time of garbage collection since the worker's start. */
  readonly gcTime: number | null
  readonly runtime: RuntimeStats | null
  /** For a thread its heap and what the heap refers to, for a process its resident memory. */
  readonly memory: number | null
  /** The spare thread, if there is one. */
  readonly spare: SpareStats | null
}

export interface SpareStats {
  readonly state: 'starting' | 'ready'
  readonly memory: number | null
}

export interface ExitInfo {
  readonly why: string
  readonly service: string | null
  /** One sentence. */
  readonly text: string
  /** Of what the program threw, or of what blocked its event loop; else empty. */
  readonly stack: readonly string[]
}

export interface InstanceStats {
  readonly service: string
  /** The index of the instance within its service. */
  readonly instance: number
  /** The slot that it runs in: {@link WorkerStats.worker}. */
  readonly worker: number
  readonly state: WorkerStats['state']
  /** Why its health checks fail, while it serves but gets no new calls. */
  readonly unhealthy: string | null
  readonly inFlight: number
  readonly calls: number
  /** Calls without an answer, or with a status of 500 or more. */
  readonly failures: number
  /** In the last second. */
  readonly callsPerSecond: number
}

export interface ServiceStats {
  readonly service: string
  /** Of all instances that it has had, those of removed workers too. A command counts none. */
  readonly calls: number
  readonly failures: number
  /** Calls that wait for an instance with a free slot. */
  readonly waiting: number
  /** Calls that were refused because too many were waiting. */
  readonly shed: number
  /** Of the topics that it subscribes to. */
  readonly events: EventCounts
  /** Of its methods, in the app's queue. */
  readonly queue: QueueCounts
}

export interface CallStats {
  /** '' for calls from outside, '*' for all pairs beyond the distinguished ones. */
  readonly caller: string
  readonly callee: string
  readonly count: number
  /** Of these, the ones whose duration is known: not those in flight when their worker died. */
  readonly timed: number
  /** Milliseconds of all timed calls together. */
  readonly sum: number
  /** Percentiles in milliseconds. */
  readonly p50: number
  readonly p99: number
  /**
   * Cumulative: calls that took at most `le` milliseconds. The last bucket has `le: null` and
   * counts all timed calls.
   */
  readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
}

/** The calls of one caller to one method or route of a service, over one transport. */
export interface EdgeStats {
  /** '' for calls from outside; '*' for all edges beyond the distinguished ones, like `callee`. */
  readonly caller: string
  readonly callee: string
  readonly protocol: 'http' | 'rpc'
  /** Of HTTP, or of the contract; '*' if those of the pair are not distinguished any more. */
  readonly method: string
  /** The route of the gateway; '' for calls between services. */
  readonly route: string
  readonly transport: string
  readonly inFlight: number
  /** Calls that are over. */
  readonly calls: number
  /** Of these, the ones without a complete response, or with a status of 500 or more. */
  readonly failures: number
  /** How often they were sent again. A retried call is one call. */
  readonly retries: number
  /** In the last second. */
  readonly callsPerSecond: number
  /** Percentiles in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly outcomes: readonly OutcomeStats[]
}

/** The calls of an edge with the same status. */
export interface OutcomeStats {
  /** A status of HTTP; `none` without a complete response; `4xx` or `other` beyond the limits. */
  readonly status: string
  readonly count: number
  /** As that of {@link CallStats}. */
  readonly timed: number
  /** Milliseconds of all timed ones together. */
  readonly sum: number
  /** As those of {@link CallStats}. */
  readonly buckets: CallStats['buckets']
  /** The same calls by the workers that made and answered them. */
  readonly workers: readonly WorkerOutcomeStats[]
}

export interface WorkerOutcomeStats extends Pick<OutcomeStats, 'count' | 'timed' | 'sum' | 'buckets'> {
  /** The index of the slot. Null for calls from outside, and if it is unknown. */
  readonly caller: number | null
  /** Null if no worker of this app has answered, or it is unknown. */
  readonly callee: number | null
}
