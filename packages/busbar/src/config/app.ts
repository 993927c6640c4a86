import type { AcceleratorName } from '../shared/accelerators.ts'

/**
 * The app as it was resolved: what the config said, with every default filled, every path absolute, and frozen.
 * Everything behind the loader reads this shape and no other. Times are milliseconds, sizes are bytes.
 */
export interface App {
  /** The folder that holds the config, or the one program. Absolute. */
  readonly root: string
  readonly name: string
  /** Absolute; undefined where the folder is a program without a config. */
  readonly configFile: string | undefined
  /** How many shared workers. At least 1; `'auto'` has become the number of usable processors. */
  readonly workers: number
  /** Who accepts a connection: the main thread, which hands it to the worker with the fewest, or each worker by itself. */
  readonly accept: 'balanced' | 'reusePort'
  /** Those that workers use where they work; all of them by default. */
  readonly accelerators?: readonly AcceleratorName[]
  readonly gateway: Gateway
  /** Undefined opens no port. */
  readonly admin?: AdminPort | undefined
  /** In the order they start: after those they need. */
  readonly services: readonly Service[]
  readonly limits: Limits
  /** The module whose default export stands around every call of a typed service. Absolute. */
  readonly interceptors: string | undefined
  /** Whether schemas are asked for calls between services, too; for those from outside they always are. */
  readonly validate: 'always' | 'edge'
  /** How long a stop waits for what is in flight. */
  readonly stopTimeout: number
  /** How often in a row a worker is started again before the app gives up; undefined for no limit. */
  readonly maxRestarts?: number | undefined
}

export interface Address {
  readonly host: string
  /** 0 asks the system for a free one. */
  readonly port: number
}

export interface Gateway extends Address {
  readonly tls: TlsFiles | undefined
  /** The service that gets whatever no route takes. */
  readonly entry: string | undefined
  readonly routes: readonly Route[]
  /** Origins of other sites whose pages may call typed services; undefined for none. */
  readonly cors?: readonly string[]
  /** The document of the whole app; undefined: it has none. */
  readonly openapi?: OpenApi | undefined
}

export interface OpenApi {
  /** Where the document is. */
  readonly path: string
  /** Where the page for people is; undefined: there is none. */
  readonly page: string | undefined
  /** The config asks for them, so they come before an `entry` that would take these paths. Routes come before both. */
  readonly beforeEntry: boolean
  readonly title: string
  readonly version: string
}

/** What the app says of itself, for whoever knows the token. */
export interface AdminPort extends Address {
  readonly token: string
}

export interface TlsFiles {
  /** Absolute paths of PEM files. */
  readonly cert: string
  readonly key: string
}

export interface Route {
  /** Lower case, without port; undefined for any host. */
  readonly host: string | undefined
  /** Starts with a slash and ends without one; '' for everything under the host. */
  readonly prefix: string
  readonly service: string
  /** False passes the path on as it came; else the prefix is cut off before the service sees the path. */
  readonly strip?: boolean | undefined
}

export interface Limits {
  /** Until a connection has sent all headers of a request. */
  readonly headerTimeout: number
  /** Until a whole request has arrived. 0: no limit. */
  readonly requestTimeout: number
  /** Until a service has begun to answer. 0: no limit. */
  readonly responseTimeout: number
  /** Of an idle connection between two requests. */
  readonly keepAliveTimeout: number
  /** All headers of a request together. */
  readonly maxHeaderSize: number
  /** A request's body. */
  readonly maxBodySize: number
  /** The input of a typed call over HTTP, which is read whole; at most `maxBodySize`. */
  readonly maxInputSize: number
  /** Typed calls that an instance of a service has in flight; one more is refused. */
  readonly maxInFlight: number
  /** Of calls that cause calls: the one that would make more than this answers 508. */
  readonly maxHops: number
}

export interface Service extends Placement {
  readonly name: string
  /** A typed service has a `contract.*` in its folder; a command is any other program that listens on `$PORT`. */
  readonly kind: 'program' | 'typed' | 'command'
  /** Code of the process that started the app answers in its place; its own code is not loaded. */
  readonly double?: boolean
  /** The folder it is found in and sees as its working directory. Absolute. */
  readonly path: string
  readonly entry: Entry
  /** Its own variables, over those of the process: `envFile` first, `env` over it. */
  readonly env: Readonly<Record<string, string>>
  readonly needs: readonly string[]
  readonly startTimeout: number
  readonly stopTimeout: number
  /** Ports of its own beside the gateway. One that the program itself listens on leads there, any other to the service. */
  readonly expose: readonly Address[]
  /**
   * Which of the ports that the program listens on is the service; undefined for the first HTTP one. Of a command: the
   * port that it listens on whatever `PORT` says.
   */
  readonly port: number | undefined
  /** The service whose folder it has, which a thread loads only once: so it has threads of its own, whatever the config says. */
  readonly copyOf?: string | undefined
  /** The path at which it publishes its OpenAPI document; undefined where it does not. */
  readonly openapi?: string | undefined
}

/** Where a service's instances run. */
export interface Placement {
  readonly run: 'shared' | 'thread' | 'process'
  /** Services of one group share their threads: the first instance of each the first thread, and so on. */
  readonly group: string | undefined
  /** Of a shared service: `workers`. */
  readonly instances: number
  /** Calls that an instance takes at a time; undefined for as many as come. */
  readonly concurrency: number | undefined
  /** Calls of all callers that may wait for one of the instances; only together with `concurrency`. */
  readonly queue: number
  /** Milliseconds for which an instance in a thread may go on with a call that is over before it is ended; only together with `concurrency`. */
  readonly grace: number
  /** Whether each of its threads has another one that is ready to take its place. */
  readonly spare: boolean
  /** Bytes: the heap of a thread, all of a process. */
  readonly memory: number | undefined
  /** Flags of Node for a process, behind those of its entry. */
  readonly nodeOptions: readonly string[]
  /** Undefined allows all. */
  readonly permissions: Permissions | undefined
}

/** Node's permission model. */
export interface Permissions {
  /** Absolute, besides the app and Busbar itself. */
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly allow: readonly ('addons' | 'child-process' | 'wasi' | 'worker')[]
}

export interface Entry {
  /** Absolute path of the module; of a command, its first word. */
  readonly file: string
  /**
   * What stands behind the file in `scripts.start`: the program sees them in `process.argv`. Of a command, the other
   * words; `$PORT` in them stands for its port.
   */
  readonly args: readonly string[]
  /** Node's own flags from `scripts.start`, such as `--import ./register.js`. */
  readonly nodeOptions: readonly string[]
  /** How it was found, for people: `scripts.start`, `main`, `index.js`. */
  readonly foundBy: string
}
