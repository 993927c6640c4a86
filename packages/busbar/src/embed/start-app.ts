// A config is compiled without Node's types, and perhaps for a `lib` that has no `AsyncDisposable`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Client, ClientOptions } from '../contract/client.ts'
import type { Contract } from '../contract/contract.ts'
import type { Implementation } from '../contract/implementation.ts'
import type { Methods } from '../contract/method.ts'
import type { PlainClient, PlainContract } from '../contract/plain.ts'
import type { AppStatus } from '../observe/status.ts'
import type { BusbarError } from '../contract/errors.ts'

export interface StartAppOptions {
  /** The gateway's port over that of the config; 0 asks the system for a free one. */
  readonly port?: number | undefined
  /** The gateway's host over that of the config. */
  readonly host?: string | undefined
  /** The number of shared workers over that of the config. */
  readonly workers?: number | 'auto' | undefined
  /** Where every service runs that can be there, over the config. */
  readonly run?: 'shared' | 'thread' | 'process' | undefined
  /** Fills the placeholders of the config. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * What becomes of the lines that services and Busbar write. A function gets each of them; `pretty` and `json` write them to
   * stdout as `busbar start` does. Default: nothing is written.
   */
  readonly log?: 'pretty' | 'json' | ((line: LogLine) => void) | undefined
  /** Test doubles by the names of the services that they replace. The services themselves are not started. */
  readonly replace?: Readonly<Record<string, Replacement>> | undefined
}

/** A line that a service wrote, or an event of Busbar. */
export interface LogLine {
  /** Milliseconds, as of `Date.now()`. */
  readonly time: number
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  /** Undefined for Busbar's own. */
  readonly service: string | undefined
  readonly stream: 'stdout' | 'stderr' | 'busbar'
  /** Without its newline. */
  readonly line: string
  /** The number of the worker that it comes from; undefined for the main thread. */
  readonly worker: number | undefined
}

/** What may answer in a service's place: code of the process that starts the app. */
export type Replacement = RequestHandler | FetchHandler | Implementation

/** What `http.createServer` takes, Express apps among them. What it returns is awaited. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => unknown

// Of any type where Node's types are not installed; as `import type` that would be an error of the declarations.
/* oxlint-disable typescript/consistent-type-imports */
/** @ts-ignore */
type IncomingMessage = import('node:http').IncomingMessage
/** @ts-ignore */
type ServerResponse = import('node:http').ServerResponse
/* oxlint-enable typescript/consistent-type-imports */

/** What Hono and others export, and what `fetchHandler()` of `busbar/fetch` returns. */
export interface FetchHandler {
  fetch(request: Request): Response | Promise<Response>
}

/** Of the options of `client()` those that do not say where the service is. */
export type AppClientOptions = Pick<
  ClientOptions,
  'timeout' | 'metadata' | 'service' | 'use' | 'retries' | 'retryBudget' | 'serialiser'
>

/** A running app, in the process that started it. */
export interface EmbeddedApp extends AsyncDisposable {
  /** Where the gateway answers: `http://127.0.0.1:41234`. */
  readonly url: string
  /**
   * Calls a service by its name, whether it has a route or not, as services call each other. `path` begins with a slash. The
   * rest is as with the global `fetch`, but for failures, which are BusbarErrors.
   */
  fetch(service: string, path: string, init?: RequestInit): Promise<Response>
  /** A client of a typed service of the app. Throws SERVICE_UNKNOWN when the app has no service of the contract's name. */
  client: AppClient
  /** What `busbar ps` shows, as it is now. */
  status(): AppStatus
  /**
   * Loads the config and the services again, as `busbar dev` does after a change. New workers take over before old ones drain;
   * where ports, workers or services changed, all of the app stops and starts. Rejects with a BusbarError when the new version
   * cannot start; the version before goes on serving unless it had to be stopped.
   */
  reload(): Promise<void>
  /** Finishes what is in flight and stops the app. Never rejects; the second call returns the promise of the first. */
  stop(): Promise<void>
  /** Settles when nothing runs any more, and says why: `stop()`, or the error of an app that gave up. Never rejects. */
  readonly ended: Promise<EndReason>
}

/** Why an app does not run any more. */
export type EndReason = { readonly why: 'stopped' } | { readonly why: 'failed'; readonly error: BusbarError }

export interface AppClient {
  <T extends object>(contract: PlainContract<T>, options?: AppClientOptions): PlainClient<T> & AsyncDisposable
  <M extends Methods>(contract: Contract<M>, options?: AppClientOptions): Client<M>
}

/**
 * Starts an app in this process: a folder with a config, a config, or a single program, as `busbar start` does. Resolves when
 * every service answers and the ports are open; rejects with a BusbarError. It installs no signal handlers and does not end
 * the process.
 */
export async function startApp(place: string | URL, options: StartAppOptions = {}): Promise<EmbeddedApp> {
  // Services import this package too, and none of what starts an app.
  const { openApp } = await import('./embedded-app.ts')
  return await openApp(place, options)
}
