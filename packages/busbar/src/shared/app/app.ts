import type { AcceleratorName } from '../accelerators.ts'
import type { AppHosts } from '../hosts.ts'
import type { QueueSettings } from '../queues.ts'
import type { Address, AdminPort, GatewayConfig } from './gateway-config.ts'
import type { AppSupervision, Supervision } from './supervision.ts'
import type { OtlpSettings, TraceSettings } from './telemetry-settings.ts'

export type * from './gateway-config.ts'

/**
 * The app after the config was loaded: defaults filled in, paths absolute, everything frozen. All
 * other code reads this and never the config. Times are milliseconds, sizes are bytes.
 */
export interface App extends AppSupervision, AppHosts {
  /** Absolute path of the folder of the config, or of the one program. */
  readonly root: string
  readonly name: string
  /** As its `package.json` has it. Undefined without one. */
  readonly version?: string | undefined
  /** Absolute. Undefined for a program without a config. */
  readonly configFile: string | undefined
  /** Number of shared workers, at least 1. `'auto'` is already resolved. */
  readonly workers: number
  /**
   * `balanced`: the main thread accepts and passes each connection to the worker with the fewest.
   * `reusePort`: each worker accepts by itself.
   */
  readonly accept: 'balanced' | 'reusePort'
  /** Accelerators that workers try to use. Default: all. */
  readonly accelerators?: readonly AcceleratorName[]
  readonly gateway: GatewayConfig
  /** Undefined: no admin port. */
  readonly admin?: AdminPort | undefined
  /** In start order: a service follows those it needs. */
  readonly services: readonly Service[]
  readonly limits: Limits
  /** Default: the log is on standard output only. */
  readonly logs?: LogSettings
  /** Undefined: none. */
  readonly traces?: TraceSettings | undefined
  readonly otlp?: OtlpSettings | undefined
  /** What runs at set times. */
  readonly schedule?: readonly ScheduleEntry[]
  /** Values that must not be shown: contents of secret files, and the admin token. */
  readonly secrets?: readonly string[]
  /** Absolute path of the module whose default export wraps every call of a typed service. */
  readonly interceptors: string | undefined
  /**
   * `edge`: calls between services are not checked against schemas. Calls from outside always are.
   */
  readonly validate: 'always' | 'edge'
  /** How long a stop waits for requests in flight. */
  readonly stopTimeout: number
  /** Consecutive restarts of a worker before the app gives up. Undefined: no limit. */
  readonly maxRestarts?: number | undefined
}

export interface Limits {
  /** Until a connection has sent all headers of a request. */
  readonly headerTimeout: number
  /** Until a whole request has arrived. 0: no limit. */
  readonly requestTimeout: number
  /** Until a service has begun its response. 0: no limit. */
  readonly responseTimeout: number
  /** How long a connection may be idle between two requests. */
  readonly keepAliveTimeout: number
  /** All headers of a request together. */
  readonly maxHeaderSize: number
  /** A request's body. */
  readonly maxBodySize: number
  /** The buffered input of a typed call over HTTP; at most `maxBodySize`. */
  readonly maxInputSize: number
  /** Typed calls in flight per instance. Further calls are refused. */
  readonly maxInFlight: number
  /** How long WebSockets of a worker that drains may stay open before they are closed. */
  readonly webSocketDrain: number
  /** Length of a chain of nested calls. A longer chain is answered with 508. */
  readonly maxHops: number
}

export interface ScheduleEntry {
  readonly name: string
  readonly cron: string
  /** Undefined: that of the system. */
  readonly timeZone: string | undefined
  readonly target: ScheduleTarget
  readonly overlap: 'skip' | 'queue' | 'allow'
  readonly jitter: number
  readonly missed: 'skip' | 'run'
  readonly timeout: number
}

export type ScheduleTarget =
  | { readonly kind: 'call'; readonly service: string; readonly method: string; readonly input: unknown }
  | {
      readonly kind: 'request'
      readonly service: string
      readonly verb: string
      /** With its query. */
      readonly path: string
      /** JSON. */
      readonly body: string | undefined
    }
  /** `file`: absolute. */
  | { readonly kind: 'task'; readonly file: string; readonly env: Readonly<Record<string, string>> }

export interface LogSettings {
  readonly stdout: boolean
  /** Lines per second of each service. Undefined: no limit. */
  readonly rate: number | undefined
  /** Names of fields that are hidden, beside the usual ones. */
  readonly redact: readonly string[]
  /** Undefined: no files. */
  readonly files: LogFiles | undefined
}

export interface LogFiles {
  /** Absolute. */
  readonly folder: string
  readonly maxSize: number
  readonly maxAge: number
  /** All files together. */
  readonly maxTotal: number
  readonly compress: boolean
}

export interface Service extends Placement, Supervision {
  readonly name: string
  /**
   * A typed service has a `contract.*` in its folder. A command is any process that listens on
   * `$PORT`.
   */
  readonly kind: 'program' | 'typed' | 'command'
  /**
   * True if a test double of the process that started the app replaces it. Its code is not loaded.
   */
  readonly double?: boolean
  /** Absolute path of its folder, which is also its working directory. */
  readonly path: string
  readonly entry: EntryModule
  /** Variables that override those of the process. `env` overrides `envFile`. */
  readonly env: Readonly<Record<string, string>>
  readonly needs: readonly string[]
  /** Services of other apps without which it is not ready. Default: none. */
  readonly remoteNeeds?: readonly string[]
  readonly startTimeout: number
  readonly stopTimeout: number
  /**
   * Public ports besides the gateway's. A port on which the program itself listens leads to that
   * server.
   */
  readonly expose: readonly Address[]
  /**
   * Selects the program's server that is the service, by the port on which it listens. Undefined:
   * its first HTTP server. For a command: the port on which it listens regardless of `PORT`.
   */
  readonly port: number | undefined
  /** Ports of this machine that stand for it when the app calls them. */
  readonly localhost?: readonly number[] | undefined
  /**
   * The name of another service with the same folder, which is why this one was moved to a
   * thread of its own.
   */
  readonly copyOf?: string | undefined
  /** With `copyOf`: where it was to run. */
  readonly asked?: Pick<Placement, 'run' | 'group'> | undefined
  /** Templates of its paths, besides those that its worker finds by itself. */
  readonly pathTemplates?: readonly string[] | undefined
  /** Path at which it publishes its OpenAPI document. Undefined: none. */
  readonly openapi?: string | undefined
  /**
   * Requests of one client that come through the gateway go to the same instance: a client is who
   * shows the gateway's cookie, or who has the same address.
   */
  readonly sticky?: Sticky | undefined
  /** Set for the service that owns the app's queue, which is part of Busbar. */
  readonly queueSettings?: QueueSettings | undefined
  /** The names in `queues.methods` that begin with its own. Its contract is not loaded yet. */
  readonly queuedMethods?: readonly string[] | undefined
  /** How `busbar build` builds it. Undefined: there is nothing to build. */
  readonly build?: ServiceBuild | undefined
}

export type Sticky = 'cookie' | 'address'

export interface ServiceBuild {
  /** Run one after the other, without a shell. */
  readonly commands: readonly (readonly string[])[]
  /** Human-readable: what the config or the `package.json` says. */
  readonly text: string
}

/** Where a service's instances run. */
export interface Placement {
  readonly run: 'shared' | 'thread' | 'process'
  /**
   * Services of a group share threads: the first instance of each runs in the first thread, and so
   * on.
   */
  readonly group: string | undefined
  /** For a shared service: the number of shared workers. */
  readonly instances: number
  /** Calls that an instance handles at a time. Undefined: no limit. */
  readonly concurrency: number | undefined
  /** Calls, over all callers, that may wait for an instance. Only with `concurrency`. */
  readonly queue: number
  /**
   * How long a thread may continue with a cancelled call before it is terminated. Only with
   * `concurrency`.
   */
  readonly grace: number
  /** Whether each thread has a standby thread. */
  readonly spare: boolean
  /** Memory limit: the heap of a thread, all memory of a process. */
  readonly memory: number | undefined
  /** Node flags of a process, after those of its entry. */
  readonly nodeOptions: readonly string[]
  /** Undefined: no restrictions. */
  readonly permissions: Permissions | undefined
}

/** Node's permission model. */
export interface Permissions {
  /** Absolute paths, besides the app and Busbar itself. */
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly allow: readonly ('addons' | 'child-process' | 'wasi' | 'worker')[]
}

export interface EntryModule {
  /** Absolute path of the module. For a command: its first word. */
  readonly file: string
  /**
   * The arguments after the file in `scripts.start`, which the program finds in `process.argv`. For
   * a command: its other words, in which `$PORT` stands for its port.
   */
  readonly args: readonly string[]
  /** Node flags of `scripts.start`, such as `--import ./register.js`. */
  readonly nodeOptions: readonly string[]
  /** How it was found, for messages: `scripts.start`, `main`, `index.js`. */
  readonly foundBy: string
}
