/**
 * The native entrance, as the supervisor and the workers see it. `entrance/load.ts` finds and loads
 * it; the composition roots pass it to the supervisor.
 */

/** How a worker of this process registers with the entrance. */
export interface EntranceAccess {
  /** The add-on, which the main thread has loaded. */
  readonly file: string
  readonly id: number
}

/**
 * Upper bounds of the times for which requests wait for their handler, in milliseconds. The same
 * are in `crates/entrance/src/worker/queue_times.rs`.
 */
export const queueTimeBounds: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000]

export interface EntranceLibrary {
  readonly file: string
  /** Why it cannot serve this version of Busbar. Undefined if it can. */
  readonly mismatch: string | undefined
  open(limits: EntranceLimits): NativeEntrance
}

export interface EntranceLimits {
  /** I/O threads. */
  readonly threads?: number
  readonly maxConnections?: number
  /** A request's line and fields, in bytes. */
  readonly maxHead?: number
  readonly maxFields?: number
  readonly maxBody?: number
  /** Requests that are with one worker at a time. */
  readonly maxInFlight?: number
  /** Times in milliseconds. */
  readonly headTimeout?: number
  /** 0: no limit. */
  readonly requestTimeout?: number
  readonly idleTimeout?: number
  readonly sendTimeout?: number
  /** How long a request may wait for a worker while a replacement starts. */
  readonly workerTimeout?: number
  /** The entrance's own responses are problem details, like the gateway's. Default: as Node's. */
  readonly problems?: boolean
  /** All requests of a connection go to one worker, while it serves. */
  readonly pinConnections?: boolean
  /** Workers get gRPC calls as such. Default: as requests of HTTP. */
  readonly grpc?: boolean
}

export interface EntranceCertificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** The names that select it, in lower case: `a.example`, or `*.example`. */
  readonly names: readonly string[]
}

export interface EntranceTlsOptions {
  /** PEM. Clients are asked for a certificate that one of these has signed. */
  readonly clientCa?: string
  readonly onlyTls13?: boolean
}

/** A route of the gateway. An omitted host: any. */
export interface DirectRoute {
  readonly host?: string
  readonly prefix: string
  readonly strip: boolean
  readonly service: string
}

/** Sizes in bytes, times in milliseconds. */
export interface DirectOptions {
  readonly maxHead: number
  readonly maxBody: number
  /** Until a response begins. 0: no limit. */
  readonly responseTimeout: number
  readonly keepAlive: number
  /** Paths that begin so are the gateway's own. */
  readonly reserved: readonly string[]
  /** Sites whose pages may read what the entrance answers itself; `*` for all. */
  readonly origins: readonly string[]
}

/** An instance that serves in a process (a path), or of a command (a host and a port). */
export interface DirectInstance {
  readonly service: string
  readonly path?: string
  readonly host?: string
  readonly port?: number
  /** Of its worker. */
  readonly slot?: number | undefined
}

/** A path template of a service, by which its requests are counted. */
export interface DirectTemplate {
  readonly service: string
  /** As it is shown. */
  readonly path: string
  /** Default: any. */
  readonly method?: string
  readonly segments: readonly DirectSegment[]
}

/** As in `path-templates/template-pattern.ts`. */
export interface DirectSegment {
  readonly is: 'text' | 'parameter' | 'digits' | 'pieces' | 'rest'
  readonly texts: readonly string[]
}

/** Requests that instances got without a worker between: what was counted since the last time. */
export interface DirectEdge {
  readonly service: string
  /** A path template, or the prefix of the gateway's route. */
  readonly route: string
  /** `*`: beyond the limit, any of any route. */
  readonly method: string
  readonly transport: string
  /** More requests in flight, or fewer. */
  readonly inFlight: number
  readonly retries: number
  readonly outcomes: readonly DirectOutcome[]
}

export interface DirectOutcome {
  /** As in `metrics/edge-table.ts`. */
  readonly status: number
  /** Of the worker that answered. Undefined: none, or not distinguished beyond the limit. */
  readonly slot?: number | undefined
  readonly count: number
  /** Milliseconds of all requests together. */
  readonly sum: number
  /** By bucket of `metrics/latency-buckets.ts`. */
  readonly buckets: readonly number[]
}

/** Made by the main thread. */
export interface NativeEntrance {
  /** Workers register with it. */
  readonly id: number
  /** Open connections. */
  readonly open: number
  /** `secure`: for TLS. */
  listen(host: string, port: number, secure?: boolean): { readonly address: string; readonly port: number }
  /**
   * For handshakes that begin later. Throws for a certificate that it cannot use, and keeps the
   * previous ones then. The first is for names that no certificate has.
   */
  setCertificates(pairs: readonly EntranceCertificate[], options: EntranceTlsOptions): void
  /** `services`: those that are reached without a worker between. */
  setRoutes(routes: readonly DirectRoute[], services: readonly string[], options: DirectOptions): void
  /** All that serve now. */
  setInstances(instances: readonly DirectInstance[]): void
  /** Requests that are with an instance, also if it serves no more. */
  requestsAt(instance: DirectInstance): number
  /** Of all services. */
  setTemplates(templates: readonly DirectTemplate[]): void
  unlisten(): void
  /** Whether a worker is about to start: requests wait for it while there is none. */
  expectWorker(isExpected: boolean): void
  /** Closes each connection once it has been idle for `quiet` milliseconds. */
  drain(quiet: number): void
  /** Closes all connections now. */
  cut(): void
  /** Ends its threads, and all connections. */
  close(): void
  stats(): Record<string, number>
  takeDirectEdges(): readonly DirectEdge[]
  /**
   * How many requests waited for their handler up to each of {@link queueTimeBounds}, how many
   * longer, and the sum of their times in milliseconds.
   */
  queueTimes(): readonly number[]
}
