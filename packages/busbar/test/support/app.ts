import { basename } from 'node:path'
import { inspect } from 'node:util'
import type { App, Gateway, Service } from '../../src/config/app.ts'
import type { AppEvent, AppLogRecord, RunningApp, StartOptions, WorkerStatus } from '../../src/supervisor/running.ts'
import { startApp } from '../../src/supervisor/supervisor.ts'
import { serviceAt } from './service.ts'
import { wanted } from './wanted.ts'

export interface AppSetup extends Partial<Omit<App, 'services' | 'gateway'>> {
  /** Files of programs by name, or more about them; the first one is the entry. */
  readonly services: Readonly<Record<string, string | (Partial<Service> & { file: string })>>
  readonly gateway?: Partial<Gateway>
}

/** An app as the config's loader would give it, on a port of the system's choice. */
export function appOf({ services, gateway, ...rest }: AppSetup): App {
  const entry = Object.keys(services)[0]
  return {
    root: import.meta.dirname,
    name: 'test',
    configFile: undefined,
    workers: 1,
    accept: 'balanced',
    accelerators: wanted,
    gateway: { host: '127.0.0.1', port: 0, tls: undefined, entry, routes: [], ...gateway },
    services: Object.entries(services).map(([name, service]) => serviceOf(name, service)),
    limits: {
      headerTimeout: 10_000,
      requestTimeout: 300_000,
      responseTimeout: 60_000,
      keepAliveTimeout: 60_000,
      maxHeaderSize: 16_384,
      maxBodySize: 1024 * 1024,
      maxInputSize: 4 * 1024 ** 2,
      maxInFlight: 10_000,
      maxHops: 16,
    },
    interceptors: undefined,
    validate: 'always',
    stopTimeout: 5000,
    ...rest,
  }
}

/** A started app that keeps what it said, and stops at the end of its scope. */
export class TestApp implements AsyncDisposable {
  readonly running: RunningApp
  readonly log: readonly AppLogRecord[]
  readonly #changes: Set<() => void>

  private constructor(running: RunningApp, log: readonly AppLogRecord[], changes: Set<() => void>) {
    this.running = running
    this.log = log
    this.#changes = changes
  }

  static async start(setup: AppSetup, options: Partial<StartOptions> = {}): Promise<TestApp> {
    return await TestApp.startLoaded(appOf(setup), options)
  }

  static async startLoaded(app: App, options: Partial<StartOptions> = {}): Promise<TestApp> {
    const changes = new Set<() => void>()
    const log: AppLogRecord[] = []
    const changed = (): void => {
      for (const change of changes) change()
    }
    const running = await startApp(app, {
      mode: 'start',
      ...options,
      // On a machine that is out of breath, every worker is late; what is tested of that says so itself.
      timing: { stale: 60_000, ...options.timing },
      log: (record) => {
        log.push(record)
        changed()
      },
      on: (event: AppEvent) => {
        options.on?.(event)
        changed()
      },
    })
    return new TestApp(running, log, changes)
  }

  get url(): string {
    return this.running.addresses[0]!.url
  }

  get port(): number {
    return this.running.addresses[0]!.port
  }

  /** Resolves as soon as `condition` holds, looked at whenever the app tells of something. */
  async until(condition: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (condition()) resolve()
    }
    this.#changes.add(look)
    look()
    await promise
    this.#changes.delete(look)
  }

  async untilLogged(text: string): Promise<void> {
    await this.until(() => this.log.some(({ line }) => line.includes(text)))
  }

  /** Resolves when a worker has died `deaths` times and serves again. */
  async untilReplaced(worker: number, deaths = 1): Promise<WorkerStatus> {
    const status = (): WorkerStatus => this.running.workers[worker]!
    await this.until(() => status().deaths >= deaths && status().state === 'serving')
    return status()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running.stop()
  }
}

/**
 * For what is only seen in memory that tells nobody when it changes. `seen` is what the error says where the condition does
 * not come to hold within a minute.
 */
export async function pollUntil(condition: () => boolean, seen: () => unknown = () => condition): Promise<void> {
  const limit = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`not within a minute: ${inspect(seen(), { depth: 5 })}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function serviceOf(name: string, service: string | (Partial<Service> & { file: string })): Service {
  const { file, ...said } = typeof service === 'string' ? { file: service } : service
  return serviceAt(name, { file, args: [], nodeOptions: [], foundBy: basename(file) }, said)
}
