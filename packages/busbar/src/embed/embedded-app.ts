import { loadApp } from '../config/load.ts'
import { client, type ClientFunction } from '../contract/client.ts'
import type { Contract } from '../contract/contract.ts'
import { BusbarError } from '../contract/errors.ts'
import { serviceUnknown } from '../contract/host/unknown.ts'
import { createLog, type Log } from '../observe/log.ts'
import type { AppStatus } from '../observe/status.ts'
import { LiveApp } from '../supervisor/live-app.ts'
import { canRestartInto } from '../supervisor/plan.ts'
import type { AppLogRecord, EndReason, RunningApp } from '../supervisor/running.ts'
import { startApp } from '../supervisor/supervisor.ts'
import { doublesOf, openerOf } from './doubles.ts'
import { checkOptions, checkPlace } from './options.ts'
import { ServiceFetch } from './service-fetch.ts'
import type { AppClient, AppClientOptions, EmbeddedApp, StartAppOptions } from './start-app.ts'

/** Rejects with a BusbarError, after closing whatever had started. */
export async function openApp(place: unknown, options: unknown): Promise<EmbeddedApp> {
  try {
    const app = new Embedded(checkPlace(place), checkOptions(options))
    await app.start()
    return app
  } catch (error) {
    throw BusbarError.from(error)
  }
}

class Embedded implements EmbeddedApp {
  readonly #place: string
  readonly #options: StartAppOptions
  readonly #log: LogTarget
  readonly #live: LiveApp
  readonly #calls: ServiceFetch
  readonly #stopped = new AbortController()
  readonly #ended = Promise.withResolvers<EndReason>()
  #reloading: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined
  #url = ''

  constructor(place: string, options: StartAppOptions) {
    this.#place = place
    this.#options = options
    this.#log = logTargetOf(options.log)
    this.#calls = new ServiceFetch(
      () => this.#running.calls,
      (name) => this.#names.includes(name),
    )
    this.#live = new LiveApp({
      start: (app) => startApp(app, this.#startOptions()),
      canRestartInto,
      replacing: () => {},
      ended: (reason) => void this.#end(reason),
    })
  }

  get url(): string {
    return this.#url
  }

  get ended(): Promise<EndReason> {
    return this.#ended.promise
  }

  readonly client: AppClient = (contract: Contract, options: AppClientOptions = {}): never => {
    const service = options.service ?? contract.name
    if (!this.#names.includes(service)) throw serviceUnknown(service, this.#names)
    return this.#clientOf(contract, options) as never
  }

  async start(): Promise<void> {
    try {
      await this.#renew()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async fetch(service: string, path: string, init?: RequestInit): Promise<Response> {
    if (!this.#names.includes(service)) throw serviceUnknown(service, this.#names)
    return await this.#calls.fetch(service, path, init)
  }

  status(): AppStatus {
    return this.#running.status()
  }

  reload(): Promise<void> {
    const before = this.#reloading
    const done = (async () => {
      await before
      if (this.#stopping !== undefined) throw notRunning()
      try {
        await this.#renew()
      } catch (error) {
        throw this.#stopping === undefined ? BusbarError.from(error) : notRunning()
      }
    })()
    this.#reloading = done.catch(() => {})
    return done
  }

  stop(): Promise<void> {
    return this.#end({ why: 'stopped' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  get #running(): RunningApp {
    const { running } = this.#live
    if (running === undefined) throw notRunning()
    return running
  }

  get #names(): readonly string[] {
    return this.#running.app.services.map(({ name }) => name)
  }

  async #renew(): Promise<void> {
    const { port, host, workers, run, env = process.env, replace = {} } = this.#options
    const overrides = {
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      ...(workers !== undefined && { workers }),
      ...(run !== undefined && { run }),
    }
    const app = await loadApp(this.#place, { env, overrides, doubles: doublesOf(replace) })
    await this.#live.renew(app, () => undefined)
    this.#url = this.#running.addresses[0]!.url
  }

  #startOptions(): Parameters<typeof startApp>[1] {
    const { write, log } = this.#log
    const { replace = {} } = this.#options
    const parts = {
      log: (record: Omit<AppLogRecord, 'worker'>) => write({ ...record, worker: undefined }),
      client: this.#inner,
    }
    return {
      mode: 'start',
      log: write,
      ...(log !== undefined && { isLogBehind: () => log.isBehind }),
      signal: this.#stopped.signal,
      staysInFolder: true,
      doubles: new Map(Object.entries(replace).map(([name, double]) => [name, openerOf(double, parts)])),
    }
  }

  #end(reason: EndReason): Promise<void> {
    return (this.#stopping ??= this.#close(reason))
  }

  async #close(reason: EndReason): Promise<void> {
    this.#stopped.abort(notRunning())
    using _ = this.#calls.drain()
    await this.#live.stop()
    await this.#reloading
    this.#calls.close()
    await this.#log.log?.flush(1000)
    this.#ended.resolve(reason)
  }

  #clientOf(contract: Contract, options: AppClientOptions): object {
    const service = options.service ?? contract.name
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(input)
      return await this.fetch(service, pathname + search, init)
    }
    return client(contract, `http://${service}.internal`, { ...options, fetch })
  }

  /** What doubles call others with: they may make their clients before the app runs. */
  readonly #inner: ClientFunction = (contract: Contract, target?: unknown, options?: AppClientOptions): never =>
    (target === undefined
      ? this.#clientOf(contract, options ?? {})
      : Reflect.apply(client as never, undefined, [contract, target, options])) as never
}

interface LogTarget {
  readonly write: (record: AppLogRecord) => void
  readonly log?: Log
}

/** A function that throws must not stop what writes the line. */
function logTargetOf(said: StartAppOptions['log']): LogTarget {
  if (said === undefined) return { write: () => {} }
  if (typeof said === 'string') {
    const log = stdoutLog(said)
    return { write: (record) => log.write(record), log }
  }
  return {
    write: (record) => {
      try {
        said(record)
      } catch (error) {
        process.emitWarning(`the log function given to startApp threw: ${String(error)}`)
      }
    },
  }
}

const stdoutLogs = new Map<'pretty' | 'json', Log>()

/** One for all apps: a log listens to its stream for as long as that is open. */
function stdoutLog(format: 'pretty' | 'json'): Log {
  const known = stdoutLogs.get(format)
  const log = known ?? createLog({ format, colors: process.stdout.isTTY, stream: process.stdout })
  stdoutLogs.set(format, log)
  return log
}

function notRunning(): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', { message: 'the app was stopped' })
}
