import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { App, Service } from '../../../../src/config/app.ts'
import type { ErrorRecord } from '../../../../src/contract/errors.ts'
import type { LogRecord, ServiceReport } from '../../../../src/shared/control-messages.ts'
import type { Fault } from '../../../../src/worker/sandbox/sandbox.ts'
import { serviceAt } from '../../../support/app/service.ts'
import { TestFolder } from '../../../support/app/test-folder.ts'
import type { Started, ToTest, ToThread } from './messages.ts'

export const programs = fileURLToPath(new URL('../programs', import.meta.url))

export interface Program extends Partial<Omit<Service, 'entry'>> {
  /** A folder of `programs`, a file in one, or an absolute folder: `koa`, `commonjs/second.js`. */
  readonly program: string
  readonly args?: readonly string[]
  readonly nodeOptions?: readonly string[]
}

/** Programs in one thread, for tests. Must be disposed. */
export class HostedApp implements AsyncDisposable {
  readonly records: LogRecord[] = []
  readonly faults: Fault[] = []
  /** Of the private sockets. The thread cannot remove it when it is terminated. */
  readonly #folder = new TestFolder()
  readonly #worker: Worker
  readonly #exit: Promise<number>
  readonly #waiting: { wanted: (message: ToTest) => boolean; resolve: (message: ToTest) => void }[] = []
  #started: readonly Started[] = []

  constructor(services: readonly Service[]) {
    const workerData = { app: appOf(services), folder: this.#folder.path }
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), { workerData })
    this.#worker.on('message', (message: ToTest) => this.#receive(message))
    this.#exit = once(this.#worker, 'exit').then(([code]) => code as number)
  }

  /** Rejects with the error record when a program does not start. */
  async start(): Promise<this> {
    const message = await this.#next((message) => message.type === 'started' || message.type === 'failed')
    if (message.type === 'failed') throw new StartFailure(message.error)
    this.#started = message.type === 'started' ? message.services : []
    return this
  }

  /** Resolves to the exit code when the thread ends by itself. */
  get exit(): Promise<number> {
    return this.#exit
  }

  report(service: string): ServiceReport {
    return this.#of(service).report
  }

  portOf(service: string, way: 'accept' | 'connect' = 'accept'): number {
    const { port, streamPort } = this.#of(service)
    return way === 'accept' ? port : streamPort
  }

  async get(service: string, path = '/', way: 'accept' | 'connect' = 'accept'): Promise<Response> {
    const url = `http://127.0.0.1:${this.portOf(service, way)}${path}`
    const response = await fetch(url, { headers: { connection: 'close' } })
    await this.caughtUp()
    return response
  }

  /** Resolves when all messages of the thread have arrived: responses may overtake them. */
  async caughtUp(): Promise<void> {
    this.#send({ type: 'ping' })
    await Promise.race([this.#next(({ type }) => type === 'pong'), this.#exit])
  }

  async json(service: string, path = '/', way: 'accept' | 'connect' = 'accept'): Promise<unknown> {
    return await (await this.get(service, path, way)).json()
  }

  lines(service: string | undefined, stream: LogRecord['stream'] = 'stdout'): string[] {
    return this.records.filter((one) => one.service === service && one.stream === stream).map(({ line }) => line)
  }

  /** Resolves to the first record, past or future, whose line matches. */
  async line(pattern: RegExp): Promise<LogRecord> {
    const found = this.records.find(({ line }) => pattern.test(line))
    if (found !== undefined) return found
    const message = await this.#next((message) => message.type === 'log' && pattern.test(message.record.line))
    return (message as { record: LogRecord }).record
  }

  async stop(timeout = 5_000, only?: string, quiet = 500): Promise<{ closed: number; states: string[] }> {
    this.#send({ type: 'stop', timeout, quiet, only })
    const message = await this.#next(({ type }) => type === 'stopped')
    return message as { closed: number; states: string[] } & typeof message
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
    this.#folder[Symbol.dispose]()
  }

  #of(service: string): Started {
    const found = this.#started.find(({ report }) => report.name === service)
    if (found === undefined) throw new Error(`'${service}' has not started`)
    return found
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message)
  }

  #next(wanted: (message: ToTest) => boolean): Promise<ToTest> {
    const answer = new Promise<ToTest>((resolve) => this.#waiting.push({ wanted, resolve }))
    const died = this.#exit.then((code): never => {
      throw new Error(`the thread has exited with code ${code}`)
    })
    return Promise.race([answer, died])
  }

  #receive(message: ToTest): void {
    if (message.type === 'log') this.records.push(message.record)
    if (message.type === 'fault') this.faults.push(message)
    for (const one of this.#waiting.filter(({ wanted }) => wanted(message))) {
      this.#waiting.splice(this.#waiting.indexOf(one), 1)
      one.resolve(message)
    }
  }
}

export class StartFailure extends Error {
  readonly record: ErrorRecord

  constructor(record: ErrorRecord) {
    super(record.message)
    this.record = record
  }
}

/** Starts programs in one thread, by the names of their services. */
export async function hostPrograms(services: Record<string, Program | string>): Promise<HostedApp> {
  const app = new HostedApp(Object.entries(services).map(([name, program]) => serviceOf(name, program)))
  try {
    return await app.start()
  } catch (error) {
    await app[Symbol.asyncDispose]()
    throw error
  }
}

/** Returns the error with which a start fails. */
export async function startFailureOf(services: Record<string, Program | string>): Promise<ErrorRecord> {
  try {
    await using _app = await hostPrograms(services)
  } catch (error) {
    if (error instanceof StartFailure) return error.record
    throw error
  }
  throw new Error('the start did not fail')
}

/**
 * Copies a program to a folder of its own, which is removed when the test file ends, so that two
 * services do not share one folder.
 */
export function copyProgram(program: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-program-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(programs, program), folder, { recursive: true })
  symlinkSync(nodeModules, join(folder, 'node_modules'))
  return folder
}

/** The folder of the programs' dependencies, which all packages share. */
const nodeModules = dirname(dirname(createRequire(import.meta.url).resolve('prom-client/package.json')))

export function serviceOf(name: string, given: Program | string): Service {
  const { program, args = [], nodeOptions = [], ...options } = typeof given === 'string' ? { program: given } : given
  const file = fileOf(resolve(programs, program))
  return serviceAt(name, { file, args, nodeOptions, foundBy: 'entry' }, options)
}

function fileOf(place: string): string {
  if (/\.\w+$/.test(place)) return place
  return join(
    place,
    readdirSync(place).find((name) => name.startsWith('index.'))!,
  )
}

export function appOf(services: readonly Service[]): App {
  return {
    root: programs,
    name: 'test',
    configFile: undefined,
    workers: 1,
    accept: 'balanced',
    gateway: { host: '127.0.0.1', port: 0, tls: undefined, entry: undefined, routes: [] },
    services,
    limits: {
      headerTimeout: 10_000,
      requestTimeout: 300_000,
      responseTimeout: 0,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16_384,
      maxBodySize: 1_048_576,
      maxInputSize: 4 * 1024 ** 2,
      maxInFlight: 10_000,
      webSocketDrain: 3000,
      maxHops: 10,
    },
    interceptors: undefined,
    validate: 'always',
    stopTimeout: 5_000,
  }
}
