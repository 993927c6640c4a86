/** What the supervisor and its workers say to each other: over a thread's port, or a process's channel. */
import type { Socket } from 'node:net'
import type { MessagePort } from 'node:worker_threads'
import type { ErrorRecord } from '../contract/errors.ts'
import type { App } from '../config/app.ts'
import type { AcceleratorState } from './accelerators.ts'
import type { CallAccess } from './call-access.ts'

/** What a worker is born with: in the {@link ThreadData} of a thread, the first message to a process. */
export type WorkerInit = ThreadInit | ProcessInit

interface CommonInit {
  readonly app: App
  /** Its number among the others: no two that ever live in the app have the same, nor has the one that replaces it. */
  readonly worker: number
  /** The number of its place, as people see it: that of the one that replaces it too. */
  readonly place: number
  /** The instances it hosts, at most one of a service, in the order they start. The gateway is in every shared worker. */
  readonly hosts: readonly InstanceSpec[]
  /** What a link's hello must know, so that no other program talks to this app. */
  readonly secret: string
  /** What the paths of its private sockets begin with. */
  readonly sockets: string
  readonly listeners: readonly ListenerSpec[]
  /** The private ports by which programs outside of the workers call services. */
  readonly calls: CallAccess
  /** PEM contents of the gateway's certificate and key. */
  readonly tls: TlsMaterial | undefined
  /** In `dev` typed services copy what they are given and what they return. */
  readonly mode: 'start' | 'dev'
}

/** The `workerData` of a thread. Programs see neither it nor the port, which `parentPort` would be for all code of a thread. */
export interface ThreadData {
  readonly init: ThreadInit
  /** Carries {@link ToWorker} one way and {@link FromWorker} the other. */
  readonly control: MessagePort
}

export interface ThreadInit extends CommonInit {
  readonly kind: 'shared' | 'thread'
  /** The limit of the process's descriptors. */
  readonly descriptors: number
  readonly cells: SharedArrayBuffer
  /** Its row in the cells, its own as long as the thread lives. */
  readonly row: number
  /** The rows of all instances that threads host (`instances.ts`). */
  readonly instances: SharedArrayBuffer | undefined
  /** How much of what it logged has been read (`output-window.ts`). */
  readonly output: SharedArrayBuffer
  readonly listenAt: undefined
}

/** A process has no memory in common with the others. */
export interface ProcessInit extends CommonInit {
  readonly kind: 'process'
  readonly cells: undefined
  readonly row: undefined
  readonly instances: undefined
  readonly output: undefined
  /** The Unix socket (or named pipe) where it takes the links of the others. */
  readonly listenAt: string
}

/** By which both ends of a call know it, and the supervisor. */
export interface CallId {
  /** That of its link in {@link PeerSpec}; undefined where the supervisor knows nothing of it. */
  readonly link: number | undefined
  /** The number that the caller gave it. */
  readonly number: number
}

export interface InstanceSpec {
  /** The service. */
  readonly name: string
  readonly typed: boolean
  /** Which of the service's instances, from 0. */
  readonly index: number
  /** Of its private socket, where it has one: known once it serves. */
  readonly path?: string | undefined
}

/** Another worker of the app, as one that is to call it gets to know it: while both still start, if need be. */
export interface PeerSpec {
  /** As in its {@link WorkerInit}; a command has one too. */
  readonly worker: number
  /** As messages call it: people know its place, not the number. */
  readonly label: string
  /** Those that serve now; what starts later comes with `serves`. */
  readonly services: readonly InstanceSpec[]
  /** Its row in the shared memory; undefined for a process, which does not see that. */
  readonly row: number | undefined
  /** The number of the link, by which both ends know it: a pair that has lost one gets another. */
  readonly link: number
  readonly way: PeerWay
}

export type PeerWay =
  | { readonly by: 'thread'; readonly port: MessagePort }
  | { readonly by: 'unix'; readonly path: string }
  /** A command: no worker, only an HTTP server of its own. */
  | { readonly by: 'tcp'; readonly host: string; readonly port: number }
  /** It will dial. */
  | { readonly by: 'accept' }

export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  /** 48 bytes that all workers share, so that a session ticket is good at any of them. */
  readonly ticketKeys: Uint8Array
}

/** A public port: the gateway's, or one that a service exposes. */
export interface ListenerSpec {
  /** `gateway`, `expose:<service>`, and where that has more than one, `expose:<service>:2`. */
  readonly id: string
  readonly host: string
  /** As the config says until it is open, afterwards the real one: a worker that listens itself never sees 0. */
  readonly port: number
  readonly serves: { readonly kind: 'gateway' } | { readonly kind: 'service'; readonly service: string }
}

export type ToWorker =
  | Order
  /** To a process, whose channel carries the connection beside the message. It says `taken` at once, before it reads. */
  | { type: 'handle'; listener: string; id: number }
  /** To a process: so much of what it logged has been read (`output-window.ts`). */
  | { type: 'read'; size: number }
  /** All connections up to this one were sent before: the system drops those that the process has no descriptor for. */
  | { type: 'handed'; id: number }

/** What a worker carries out. */
export type Order =
  /** Nothing has been read from it. */
  | { type: 'connection'; listener: string; connection: Socket }
  | { type: 'tls'; tls: TlsMaterial }
  /** There is another worker, or another link to it; its MessagePort, where there is one, is in the transfer list. */
  | { type: 'join'; peer: PeerSpec }
  /** One more service of a worker that has joined. */
  | { type: 'serves'; peer: number; service: InstanceSpec }
  /** It died, or drains: no new calls, and `left` is said. Its link ends by itself when what is in flight has ended. */
  | { type: 'leave'; peer: number; reason: ErrorRecord }
  /**
   * Finish what is in flight, run the programs' own signal handlers, stop them in reverse order of `needs`. `inOrder`: all
   * of the app stops, and each service waits until it is `released`.
   */
  | ({ type: 'stop'; inOrder: boolean } & StopTimes)
  /** Nobody who needs the service runs any more. */
  | { type: 'released'; service: string }

/** How long a stop may take, in milliseconds. */
export interface StopTimes {
  /** For all of it. */
  readonly timeout: number
  /**
   * A connection that its client keeps is closed when nothing has come or gone on it for so long, and until then the next
   * answer on it says that it ends: a request may be on its way, and would be lost.
   */
  readonly quiet: number
}

export type FromWorker =
  /** Of a process, before its services start: it takes links at its {@link ProcessInit.listenAt}. */
  | { type: 'listening' }
  /** Said before a program is loaded, so that one that blocks its thread for ever can be named. */
  | { type: 'starting'; service: string }
  /** It serves from now on. */
  /** `path`: of its private socket, where it has one. */
  | { type: 'started'; service: string; path?: string | undefined }
  /** Every service answers, and under `accept: 'reusePort'` the worker's own listeners are open. */
  /** Which accelerators it uses, before its services start. */
  | { type: 'accelerators'; states: readonly AcceleratorState[] }
  | { type: 'ready'; services: ServiceReport[] }
  | { type: 'failed'; error: ErrorRecord }
  | { type: 'log'; records: LogRecord[] }
  /** A service's uncaught exception, unhandled rejection or exit, said before the thread ends. */
  | { type: 'fault'; service: string | undefined; reason: 'exception' | 'rejection' | 'exit'; error: ErrorRecord }
  /** While it stops: the service has stopped; undefined: the gateway has, or there was none. */
  | { type: 'closed'; service: string | undefined }
  | { type: 'stopped' }
  /** A link has ended, and neither this worker nor the other meant it to. */
  | { type: 'unlinked'; peer: number; link: number; reason: ErrorRecord }
  /** A worker that was said to `leave` has read all calls that it ever gets from this one. */
  | { type: 'left'; peer: number }
  /**
   * Its caller here has given up a call to a service with a `concurrency`, whose thread may compute it still. Only of those of
   * which the memory that threads share says nothing.
   */
  | { type: 'gaveUp'; peer: number; service: string; call: CallId }
  /** Of a process: the connection with this number has come. */
  | { type: 'taken'; id: number }
  /** Of a process: this connection, and those before it of which nothing was said, are not taken for lack of descriptors. */
  | { type: 'declined'; id: number }
  /**
   * Of a process, several times a second: its row of the cells as it is now; and about once a second its block of
   * `instances.ts`. A thread writes both itself.
   */
  | { type: 'beat'; cells: Uint32Array; instances: Uint32Array | undefined }

export interface ServiceReport {
  readonly name: string
  /** What the program asked to listen on, though no port was opened. */
  readonly listens: string
  readonly startedIn: number
  /** Its server takes TLS connections. */
  readonly tls?: boolean
  readonly warnings: readonly string[]
}

/** One line that a program wrote, or one event of the worker itself. */
export interface LogRecord {
  readonly time: number
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  /** Undefined for Busbar's own. */
  readonly service: string | undefined
  readonly stream: 'stdout' | 'stderr' | 'busbar'
  /** Without its newline. */
  readonly line: string
}
