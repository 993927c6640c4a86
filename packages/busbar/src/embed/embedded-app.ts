// Configs compile without Node's types, and perhaps with a `lib` that has no `AsyncDisposable`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Client, ClientOptions } from '../contract/client/client-types.ts'
import type { Contract } from '../contract/contract.ts'
import type { Implementation } from '../contract/implementation.ts'
import type { Methods } from '../contract/method.ts'
import type { PlainClient, PlainContract } from '../contract/plain-contract.ts'
import type { AppStatus } from '../observe/app-status.ts'
import type { BusbarError } from '../contract/errors.ts'

export interface StartAppOptions {
  /** The gateway's port. 0 asks the system for a free one. Default: the config's. */
  readonly port?: number | undefined
  /** The gateway's host. Default: the config's. */
  readonly host?: string | undefined
  /** The number of shared workers. Default: the config's. */
  readonly workers?: number | 'auto' | undefined
  /** Where services run, for those that can run there. Default: the config's placement of each. */
  readonly run?: 'shared' | 'thread' | 'process' | undefined
  /** Values of the config's placeholders. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** One of the config's `environments`, which is merged over the config. Default: none. */
  readonly environment?: string | undefined
  /**
   * Where the log lines of services and Busbar go. A function is called with each line; `pretty`
   * and `json` write them to stdout, as `busbar start` does. Default: nowhere.
   */
  readonly log?: 'pretty' | 'json' | ((line: LogLine) => unknown) | undefined
  /**
   * Stops the app when it aborts. An app that is still starting rejects with the signal's reason,
   * after everything has closed.
   */
  readonly signal?: AbortSignal | undefined
  /** Test doubles, by the name of the service that each replaces. The service is not started. */
  readonly replace?: Readonly<Record<string, Replacement>> | undefined
}

/** A line that a service wrote, or an event that Busbar logs. */
export interface LogLine {
  /** Milliseconds since the epoch, as `Date.now()` returns. */
  readonly time: number
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  /** The service's name. Undefined for Busbar's own lines. */
  readonly service: string | undefined
  readonly stream: 'stdout' | 'stderr' | 'busbar'
  /** The text, without its newline. */
  readonly line: string
  /** The number of the worker that wrote it. Undefined for the main thread. */
  readonly worker: number | undefined
}

/** A test double: code of the process that starts the app, which answers in place of a service. */
export type Replacement = RequestHandler | FetchHandler | Implementation

/** A handler as for `http.createServer`, such as an Express app. A returned promise is awaited. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => unknown

// These become `any` if Node's types are not installed. `import type` would be an error in the
// .d.ts file.
/* oxlint-disable typescript/consistent-type-imports */
/** @ts-ignore */
type IncomingMessage = import('node:http').IncomingMessage
/** @ts-ignore */
type ServerResponse = import('node:http').ServerResponse
/* oxlint-enable typescript/consistent-type-imports */

/** The export of a Hono app and others, and the result of `fetchHandler()` of `busbar/fetch`. */
export interface FetchHandler {
  fetch(request: Request): Response | Promise<Response>
}

/** The options of `client()`, except those that locate the service. */
export type AppClientOptions = Pick<
  ClientOptions,
  'timeout' | 'metadata' | 'service' | 'use' | 'retries' | 'retryBudget' | 'serialiser'
>

/** A running app, as the process that started it sees it. */
export interface EmbeddedApp extends AsyncDisposable {
  /** The gateway's URL: `http://127.0.0.1:41234`. */
  readonly url: string
  /**
   * Calls a service by its name, whether or not it has a route, as services call each other. `path`
   * begins with a slash. Works like the global `fetch`, but rejects with a BusbarError.
   */
  fetch(service: string, path: string, init?: RequestInit): Promise<Response>
  /**
   * Creates a client of a typed service. Throws SERVICE_UNKNOWN if the app has no service of that
   * name.
   */
  client: AppClient
  /** The current status, as `busbar ps` shows it. */
  status(): AppStatus
  /**
   * Reads the config again, applies what differs, and replaces the workers of `service`, or of all
   * services, by ones with the current code. New workers take over before old ones drain. If the
   * config differs in what only a restart can change, such as a port, the whole app restarts.
   * Rejects with a BusbarError if the new version cannot start; the old one goes on serving unless
   * it had to be stopped first.
   */
  reload(service?: string): Promise<void>
  /**
   * Changes the number of instances of a service: to `3`, or by `'+1'` or `'-1'`. For a shared
   * service, changes the number of shared workers. It stays so until the app is restarted.
   */
  scale(service: string, instances: number | `+${number}` | `-${number}`): Promise<void>
  /**
   * Changes where a service runs, while it serves. `instances`: default as before. It stays so
   * until the app is restarted.
   */
  move(
    service: string,
    to: { readonly run: 'shared' | 'thread' | 'process'; readonly instances?: number | undefined },
  ): Promise<void>
  /** Drains and stops the app. Never rejects. A second call returns the promise of the first. */
  stop(): Promise<void>
  /**
   * Resolves when the app has ended: after `stop()`, or with the error of an app that gave up.
   * Never rejects.
   */
  readonly ended: Promise<EndReason>
}

/** Why an app has ended. */
export type EndReason = { readonly why: 'stopped' } | { readonly why: 'failed'; readonly error: BusbarError }

export interface AppClient {
  <T extends object>(contract: PlainContract<T>, options?: AppClientOptions): PlainClient<T> & AsyncDisposable
  <M extends Methods>(contract: Contract<M>, options?: AppClientOptions): Client<M>
}
