/** Messages between the supervisor and its workers, over a thread's port or a process's channel. */
import type { Socket } from 'node:net'
import type { MessagePort } from 'node:worker_threads'
import type { ErrorRecord } from '../contract/errors.ts'
import type { App, Service } from './app/app.ts'
import type { AcceleratorName, AcceleratorState } from './accelerators.ts'
import type { BegunCallsAccess } from './calls/begun-calls.ts'
import type { CallAccess } from './calls/call-access.ts'
import type { CallId } from './calls/call-id.ts'
import type { EntranceAccess } from './entrance/entrance.ts'
import type { HostReport, Identity } from './hosts.ts'
import type { ListenerSpec, TlsMaterial } from './listeners/listener-spec.ts'
import type { InstancesShape, ServiceShape } from './metrics/instance-table.ts'
import type { OwnSpanRecord } from './traces/own-span.ts'
import type { SpanRecord } from './traces/span.ts'
import type { FoundTemplates } from './path-templates/known-templates.ts'
import type { StopTimes } from './time/stop-times.ts'
import type { WorkerTask } from './worker-tasks.ts'
import type { HealthReport } from './health/health-monitor.ts'
import type { SlowStartSpec } from './slow-start.ts'

export type { ListenerSpec, TlsMaterial }

/** What a worker starts with: in a thread's {@link ThreadData}, or a process's first message. */
export type WorkerInit = ThreadInit | ProcessInit

interface CommonInit {
  readonly app: App
  /** Unique in the app's lifetime: a replacement gets another number. */
  readonly worker: number
  /** The number of its slot, shown to people; a replacement has the same. */
  readonly slot: number
  /**
   * The instances that it hosts, at most one per service, in start order. The gateway runs in every
   * shared worker.
   */
  readonly hosts: readonly InstanceSpec[]
  /** The secret that a link's hello must contain, so that no other program connects to this app. */
  readonly secret: string
  /** Prefix of the paths of its private sockets. */
  readonly sockets: string
  readonly listeners: readonly ListenerSpec[]
  /** The private ports by which programs outside the workers call services. */
  readonly calls: CallAccess
  /** PEM contents of the gateway's certificates and keys. */
  readonly tls: TlsMaterial | undefined
  /** The app's certificate for links to other apps. Undefined if it uses no TLS with them. */
  readonly identity: Identity | undefined
  /** Undefined if the supervisor accepts the gateway's connections, or the workers themselves. */
  readonly entrance: EntranceAccess | undefined
  /** It takes no requests from the native entrance before it is `announced`. */
  readonly isHeld: boolean
  /** The port for a debugger; undefined for none. */
  readonly inspect: number | undefined
  /** In `dev`, typed services copy their arguments and results. */
  readonly mode: 'start' | 'dev'
  /** Of the table of counts. A process has a table of its own, with one row and the same places. */
  readonly shape: InstancesShape
}

/**
 * The `workerData` of a thread. Programs see neither it nor the port; `parentPort` would be visible
 * to all code of the thread.
 */
export interface ThreadData {
  readonly init: ThreadInit
  /** Carries {@link ToWorker} in one direction, {@link FromWorker} in the other. */
  readonly control: MessagePort
}

/** The `workerData` of a thread that only probes accelerators. */
export interface ProbeData {
  readonly probe: readonly AcceleratorName[]
}

export interface ThreadInit extends CommonInit {
  readonly kind: 'shared' | 'thread'
  /** The process's limit of file descriptors. */
  readonly descriptors: number
  readonly cells: SharedArrayBuffer
  /** Its row in the cells for as long as the thread lives. */
  readonly row: number
  /** The counts of all instances in threads (`metrics/instance-table.ts`). */
  readonly instances: SharedArrayBuffer | undefined
  /** What the calls of other apps take (`calls/app-use.ts`). */
  readonly appUse: SharedArrayBuffer
  /** What the probes found in a thread of their own. */
  readonly probed: readonly AcceleratorState[]
  /** How much of its output the supervisor has read (`output/output-window.ts`). */
  readonly output: SharedArrayBuffer
  readonly listenAt: undefined
}

/** A process shares no memory with the other workers. */
export interface ProcessInit extends CommonInit {
  readonly kind: 'process'
  readonly cells: undefined
  readonly row: undefined
  readonly instances: undefined
  readonly output: undefined
  /** Undefined: it probes by itself, since modules that its flags load may have changed Node. */
  readonly probed: readonly AcceleratorState[] | undefined
  /** The Unix socket or named pipe on which it accepts links. */
  readonly listenAt: string
}

export interface InstanceSpec {
  /** The service. */
  readonly name: string
  readonly typed: boolean
  /** The index among the service's instances, from 0. */
  readonly index: number
  /**
   * The path of its private socket, if it has one, its topics, and its methods that can be enqueued
   * (`queuedVersions`); known once it is ready.
   */
  readonly path?: string | undefined
  readonly topics?: readonly string[] | undefined
  readonly queued?: readonly string[] | undefined
  /** Its health checks fail: it gets no new calls. */
  readonly unhealthy?: boolean
  /** It gets a growing share of the calls, beside the one whose place it takes. */
  readonly slowStart?: SlowStartSpec
}

/** Another worker of the app, as announced to one that may call it; both may still be starting. */
export interface PeerSpec {
  /** As in its {@link WorkerInit}; a command has a number, too. */
  readonly worker: number
  readonly slot?: number | undefined
  /** Its name in messages: people know its slot, not its number. */
  readonly label: string
  /** The services that are ready now; later ones follow with `serves`. */
  readonly services: readonly InstanceSpec[]
  /** Its row in shared memory; undefined for a process, which has no access to it. */
  readonly row: number | undefined
  /** The number of the link, known at both ends; a new link of the same pair has another number. */
  readonly link: number
  readonly setup: LinkSetup
}

export type LinkSetup =
  | { readonly kind: 'thread'; readonly port: MessagePort; readonly begun: BegunCallsAccess }
  | { readonly kind: 'unix'; readonly path: string }
  /** A command: not a worker, only an HTTP server. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  /** The peer connects. */
  | { readonly kind: 'accept' }

export type ToWorker =
  | Order
  /** To a process: a connection, carried with the message. It answers `taken` before it reads. */
  | { type: 'connectionHandle'; listenerId: string; id: number }
  /** To a process: the amount of its output that was read (`output/output-window.ts`). */
  | { type: 'outputRead'; size: number }
  /** All connections up to this number were sent. The system drops those without a descriptor. */
  | { type: 'connectionsSent'; id: number }

/** What a worker does on request. */
export type Order =
  /** The connection is unread. */
  | { type: 'connection'; listenerId: string; connection: Socket }
  | { type: 'tls'; tls: TlsMaterial }
  | { type: 'identity'; identity: Identity }
  /**
   * Announces another worker, or a new link to a known one. A MessagePort, if there is one, is in
   * the transfer list.
   */
  | { type: 'join'; peer: PeerSpec }
  /** Another service of a known worker is ready. */
  | { type: 'serves'; peer: number; service: InstanceSpec }
  /** The health of a peer's service has changed. */
  | { type: 'health'; peer: number; service: string; healthy: boolean }
  /** A successor serves beside it: half of the kept connections end with their next response. */
  | { type: 'share' }
  /** It was held, and serves from now on. `slowStart`: beside the one that it replaces. */
  | { type: 'announced'; slowStart?: SlowStartSpec | undefined }
  /** For the gateway's probes. */
  | ({ type: 'readiness' } & Readiness)
  /**
   * A worker died or drains: no new calls go to it, and `callsDrained` confirms that. Its link ends
   * when the calls in flight have ended.
   */
  | { type: 'leave'; peer: number; reason: ErrorRecord }
  | ({ type: 'pathTemplates' } & FoundTemplates)
  /** The app has other services or limits. `places`: all services of the table of counts. */
  | { type: 'services'; services: readonly Service[]; places: readonly ServiceShape[] }
  /**
   * Finish calls in flight, run the programs' signal handlers, stop them in reverse order of
   * `needs`. `inOrder`: the whole app stops, and each service waits until it is `released`.
   */
  | ({ type: 'stop'; inOrder: boolean } & StopTimes)
  /** No service that needs this one runs any more. */
  | { type: 'released'; service: string }
  /** Answered by `taskDone`. */
  | { type: 'task'; id: number; task: WorkerTask }

/** What probes answer. */
export interface Readiness {
  /** `running` from when the ports are open until a stop begins. */
  readonly phase: 'starting' | 'running' | 'stopping'
  /**
   * The services without an instance that serves and is healthy; `gateway` stands for the gateway.
   */
  readonly unready: readonly string[]
  /** Those among them without an instance that is starting. */
  readonly unhealthy: readonly string[]
}

export type FromWorker =
  /** From a process, before its services start: it accepts links at `ProcessInit.listenAt`. */
  | { type: 'listening' }
  /** Sent before a program is loaded, so that one that blocks its thread can be named. */
  | { type: 'starting'; service: string }
  /** The service is ready. `path`: of its private socket, if it has one. */
  | ({ type: 'started'; service: string } & Pick<InstanceSpec, 'path' | 'topics' | 'queued'>)
  /** The accelerators that it uses; sent before its services start. */
  | { type: 'accelerators'; states: readonly AcceleratorState[] }
  /**
   * Every service is ready, and under `accept: 'reusePort'` the worker's own listeners are open.
   */
  | { type: 'ready'; services: ServiceReport[] }
  | { type: 'failed'; error: ErrorRecord }
  | ({ type: 'health'; service: string } & HealthReport)
  /** About once a second, if the app calls others: the hosts of these. */
  | { type: 'hosts'; hosts: readonly HostReport[] }
  | { type: 'log'; records: LogRecord[] }
  /** If the app has traces: spans that have ended. */
  | { type: 'spans'; spans: readonly SpanRecord[]; own: readonly OwnSpanRecord[] }
  /** The metrics of its services, by `encodeReport` of `metrics/service-metrics.ts`. */
  | { type: 'metrics'; json: string }
  | ({ type: 'pathTemplates' } & FoundTemplates)
  /** A service's uncaught exception, unhandled rejection or exit; sent before the thread ends. */
  | { type: 'fault'; service: string | undefined; reason: 'exception' | 'rejection' | 'exit'; error: ErrorRecord }
  /** During a stop: the service has stopped; undefined: the gateway and the links of other apps. */
  | { type: 'closed'; service: string | undefined }
  | { type: 'stopped' }
  /** A task has ended: with its result, or with an error. */
  | { type: 'taskDone'; id: number; result?: unknown; error?: ErrorRecord | undefined }
  /** A link has ended unexpectedly on both sides. */
  | { type: 'unlinked'; peer: number; link: number; reason: ErrorRecord }
  /** The worker that was announced by `leave` has received the last call from this one. */
  | { type: 'callsDrained'; peer: number }
  /**
   * A caller in this worker has abandoned a call to a service with a `concurrency`, whose thread
   * may still work on it. Only sent for calls that shared memory does not show.
   */
  | { type: 'callAbandoned'; peer: number; service: string; call: CallId }
  /** From a process: the connection with this number has arrived. */
  | { type: 'taken'; id: number }
  /**
   * From a process: this connection, and earlier ones that were not acknowledged, were refused for
   * lack of descriptors.
   */
  | { type: 'declined'; id: number }
  /** From a process that cannot write its row to `metrics/report-file.ts`. */
  | { type: 'heartbeat' }
  /** From a process, about once a second: its block of `metrics/instance-table.ts`. */
  | { type: 'counters'; cells: Uint32Array }

/** What a worker has seen of its services. */
export type Observation = Extract<FromWorker, { type: 'spans' | 'metrics' | 'pathTemplates' }>

export interface ServiceReport {
  readonly name: string
  /** The address that the program asked to listen on; no port was opened for it. */
  readonly listens: string
  readonly startedIn: number
  /** Its server accepts TLS connections. */
  readonly tls?: boolean
  /** Of a typed service: a short text that is the same for the same contract. */
  readonly contract?: string
  readonly warnings: readonly string[]
}

/** One line of a program's output, or one event of the worker. */
export interface LogRecord {
  readonly time: number
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  /** Undefined for Busbar itself. */
  readonly service: string | undefined
  readonly stream: 'stdout' | 'stderr' | 'busbar'
  /** Without the newline. */
  readonly line: string
  /** The line is too long for one record: the next of this service and stream continues it. */
  readonly continues?: boolean
}
