import type { App } from '../config/app.ts'
import { loadApp, type Placements } from '../config/load.ts'
import { client, notAContract } from '../contract/client/client.ts'
import type { ClientFunction } from '../contract/client/client-types.ts'
import { type Contract, isContract } from '../contract/contract.ts'
import { BusbarError } from '../contract/errors.ts'
import { serviceUnknown } from '../contract/host/unknown-names.ts'
import { callableNames } from '../shared/hosts.ts'
import { entranceLibrary } from '../entrance/load.ts'
import { createLog, type Log } from '../observe/log.ts'
import { LogIntake } from '../observe/log-intake.ts'
import type { AppStatus } from '../observe/app-status.ts'
import { LiveApp } from '../supervisor/live-app.ts'
import { needsRestart } from '../supervisor/generations/difference.ts'
import type { InstanceCount, MoveTarget } from '../supervisor/generations/changes.ts'
import type { AppLogRecord, EndReason, RunningApp } from '../supervisor/running-app.ts'
import { startSupervisor } from '../supervisor/supervisor.ts'
import { createAppClient } from './app-client.ts'
import type { AppClient, AppClientOptions, EmbeddedApp, LogLine, StartAppOptions } from './embedded-app.ts'
import { checkOptions, checkLocation } from './options.ts'
import { ServiceFetch } from './service-fetch.ts'
import { doubleKinds, testDoubleOpener } from './test-doubles.ts'

/**
 * Checks the arguments and starts the app. Rejects with a BusbarError after stopping what had
 * started.
 */
export async function openEmbeddedApp(location: unknown, options: unknown): Promise<EmbeddedApp> {
  const path = checkLocation(location)
  const checked = checkOptions(options)
  checked.signal?.throwIfAborted()
  try {
    const app = new RunningEmbeddedApp(path, checked)
    await app.start()
    return app
  } catch (error) {
    checked.signal?.throwIfAborted()
    throw BusbarError.from(error)
  }
}

class RunningEmbeddedApp implements EmbeddedApp {
  readonly #location: string
  readonly #options: StartAppOptions
  readonly #log: LogTarget
  readonly #intake: LogIntake
  readonly #live: LiveApp
  readonly #calls: ServiceFetch
  readonly #stopped = new AbortController()
  readonly #ended = Promise.withResolvers<EndReason>()
  #changing: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined
  /** Why it stops. */
  #reason: EndReason = { why: 'stopped' }
  #url = ''

  constructor(location: string, options: StartAppOptions) {
    this.#location = location
    this.#options = options
    this.#log = createLogTarget(options.log)
    this.#intake = new LogIntake(this.#log.write)
    this.#calls = new ServiceFetch(
      () => this.#running.calls,
      (name) => this.#names.includes(name),
    )
    this.#live = new LiveApp({
      start: (app) => startSupervisor(app, this.#startOptions()),
      needsRestart,
      restarting: () => {},
      ended: (reason) => void this.#end(reason),
    })
    options.signal?.addEventListener('abort', this.#aborted)
  }

  get url(): string {
    return this.#url
  }

  get ended(): Promise<EndReason> {
    return this.#ended.promise
  }

  readonly client: AppClient = (contract: Contract, given?: AppClientOptions | null): never => {
    const options = given ?? {}
    if (!isContract(contract)) throw notAContract()
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

  reload(service?: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#live.running === undefined) return await this.#renew()
      try {
        await this.#running.reload(service)
      } catch (error) {
        if (!BusbarError.is(error, 'RESTART_NEEDED')) throw error
        await this.#live.restart(await this.#load(), error.message)
        this.#url = this.#running.addresses[0]!.url
      }
    })
  }

  scale(service: string, instances: InstanceCount): Promise<void> {
    return this.#inTurn(() => this.#running.scale(service, instances))
  }

  move(service: string, to: MoveTarget): Promise<void> {
    return this.#inTurn(() => this.#running.move(service, to))
  }

  stop(): Promise<void> {
    return this.#end({ why: 'stopped' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  get #running(): RunningApp {
    const { running } = this.#live
    if (running === undefined) throw this.#stopping === undefined ? betweenVersions() : notRunning(this.#reason)
    return running
  }

  get #names(): readonly string[] {
    return callableNames(this.#running.app)
  }

  /** Changes of the app run one after the other. */
  #inTurn(change: () => Promise<unknown>): Promise<void> {
    const before = this.#changing
    const done = (async () => {
      await before
      if (this.#stopping !== undefined) throw notRunning(this.#reason)
      try {
        await change()
      } catch (error) {
        throw this.#stopping === undefined ? BusbarError.from(error) : notRunning(this.#reason)
      }
    })()
    this.#changing = done.catch(() => {})
    return done
  }

  async #renew(): Promise<void> {
    const app = await this.#load()
    await this.#live.renew(app, () => 'all')
    this.#url = this.#running.addresses[0]!.url
  }

  async #load(placements: Placements = {}): Promise<App> {
    const { port, host, workers, run, env = process.env, environment, replace = {} } = this.#options
    const overrides = {
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      ...(workers !== undefined && { workers }),
      ...(run !== undefined && { run }),
      ...(environment !== undefined && { env: environment }),
    }
    const app = await loadApp(this.#location, { env, overrides, placements, doubles: doubleKinds(replace) })
    this.#intake.use(app)
    return app
  }

  #startOptions(): Parameters<typeof startSupervisor>[1] {
    const { log } = this.#log
    const write = this.#intake.add
    const { replace = {} } = this.#options
    const parts = {
      log: (record: Omit<AppLogRecord, 'worker'>) => write({ ...record, worker: undefined }),
      client: this.#clientForDoubles,
    }
    return {
      mode: 'start',
      load: (placements) => this.#load(placements),
      requestRestart: async () => {
        const next = await this.#load()
        void this.#inTurn(() => this.#live.restart(next, 'busbar restart'))
      },
      log: write,
      ...(log !== undefined && { isLogBehind: () => log.isBehind }),
      signal: this.#stopped.signal,
      staysInFolder: true,
      entrance: entranceLibrary,
      doubles: new Map(Object.entries(replace).map(([name, double]) => [name, testDoubleOpener(double, parts)])),
    }
  }

  #end(reason: EndReason): Promise<void> {
    return (this.#stopping ??= this.#close(reason))
  }

  readonly #aborted = (): void => void this.stop()

  async #close(reason: EndReason): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#aborted)
    this.#reason = reason
    this.#stopped.abort(notRunning(reason))
    using _draining = this.#calls.drain()
    await this.#live.stop()
    await this.#changing
    this.#calls.close()
    this.#intake.close()
    await this.#log.log?.flush(1000)
    this.#ended.resolve(reason)
  }

  #clientOf(contract: Contract, options: AppClientOptions): object {
    return createAppClient(contract, options, {
      fetch: (...request) => this.fetch(...request),
      app: () => this.#running.app,
    })
  }

  /** With which test doubles call services. They may create clients before the app runs. */
  readonly #clientForDoubles: ClientFunction = (
    contract: Contract,
    target?: unknown,
    options?: AppClientOptions,
  ): never =>
    (target === undefined
      ? this.#clientOf(contract, options ?? {})
      : Reflect.apply(client as never, undefined, [contract, target, options])) as never
}

interface LogTarget {
  readonly write: (record: AppLogRecord) => void
  readonly log?: Log
}

function createLogTarget(log: StartAppOptions['log']): LogTarget {
  if (log === undefined) return { write: () => {} }
  if (typeof log === 'string') {
    const stdout = stdoutLog(log)
    return { write: (record) => stdout.write(record), log: stdout }
  }
  return { write: contained(log) }
}

/**
 * A log function that throws, or rejects, must not affect the code that logs. Only its first error
 * is reported: it may fail for every line.
 */
function contained(log: (line: LogLine) => unknown): LogTarget['write'] {
  let hasFailed = false
  const call = async (record: AppLogRecord): Promise<void> => {
    try {
      await log(record)
    } catch (error) {
      if (!hasFailed) process.emitWarning(`the log function given to startApp threw: ${String(error)}`)
      hasFailed = true
    }
  }
  return (record) => void call(record)
}

const stdoutLogs = new Map<'pretty' | 'json', Log>()

/** Shared by all apps of the process: a log listens to its stream until that closes. */
function stdoutLog(format: 'pretty' | 'json'): Log {
  const known = stdoutLogs.get(format)
  const log = known ?? createLog({ format, colors: process.stdout.isTTY, stream: process.stdout })
  stdoutLogs.set(format, log)
  return log
}

function notRunning(reason: EndReason): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', {
    message: reason.why === 'stopped' ? 'the app was stopped' : `the app has ended: ${reason.error.message}`,
    hint: 'Start it again with startApp; app.ended tells when an app has ended, and why.',
  })
}

/** Only if a change needs a restart: otherwise the previous version keeps serving. */
function betweenVersions(): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', {
    message: 'a reload has stopped the app, and the new version has not started',
    hint: 'If the reload has failed, correct what its error says and call app.reload() again.',
  })
}
