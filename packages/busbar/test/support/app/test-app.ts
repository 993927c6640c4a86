import { basename } from 'node:path'
import { inspect } from 'node:util'
import type { App, GatewayConfig, Service } from '../../../src/config/app.ts'
import type { AppEvent, AppLogRecord, RunningApp, StartOptions } from '../../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import type { WorkerStatus } from '../../../src/supervisor/workers/worker-status.ts'
import { entranceLibrary } from '../../../src/entrance/load.ts'
import { serviceAt } from './service.ts'
import { wantedEntrance } from './wanted-entrance.ts'
import { wanted } from '../mesh/wanted-accelerators.ts'

export interface AppSetup extends Partial<Omit<App, 'services' | 'gateway'>> {
  /** Files of programs or services, by name. The first one is the entry. */
  readonly services: Readonly<Record<string, string | (Partial<Service> & { file: string })>>
  readonly gateway?: Partial<GatewayConfig>
}

/** A loaded app on a free port. */
export function appOf({ services, gateway, ...rest }: AppSetup): App {
  const entry = Object.keys(services)[0]
  return {
    root: import.meta.dirname,
    name: 'test',
    configFile: undefined,
    workers: 1,
    accept: 'balanced',
    accelerators: wanted,
    gateway: {
      host: '127.0.0.1',
      port: 0,
      entrance: entranceWith(rest.accept),
      tls: undefined,
      entry,
      routes: [],
      ...gateway,
    },
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
      webSocketDrain: 3000,
      maxHops: 16,
    },
    interceptors: undefined,
    validate: 'always',
    stopTimeout: 5000,
    ...rest,
  }
}

/** A loaded app behind the wanted entrance. */
export function behindEntrance(app: App): App {
  return { ...app, gateway: { ...app.gateway, entrance: entranceWith(app.accept) } }
}

/** The native entrance does not go with `reusePort`. */
function entranceWith(accept: App['accept'] | undefined): GatewayConfig['entrance'] {
  return accept === 'reusePort' ? 'portable' : wantedEntrance
}

/** A started app that records its log, and stops at the end of its scope. */
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
    const running = await startSupervisor(app, {
      mode: 'start',
      entrance: entranceLibrary,
      ...options,
      // On an overloaded machine every worker may be late. Tests of timeouts set their own.
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

  /** Resolves when `condition` holds. It is checked after each event of the app. */
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

/** Polls a condition without events, for at most a minute. `seen`: shown in the error. */
export async function pollUntil(condition: () => boolean, seen: () => unknown = () => condition): Promise<void> {
  const limit = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`not within a minute: ${inspect(seen(), { depth: 5 })}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function serviceOf(name: string, service: string | (Partial<Service> & { file: string })): Service {
  const { file, ...overrides } = typeof service === 'string' ? { file: service } : service
  return serviceAt(name, { file, args: [], nodeOptions: [], foundBy: basename(file) }, overrides)
}
