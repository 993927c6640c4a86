import { type ChildProcess, spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Service } from '../../config/app.ts'
import { searchPath } from '../../config/services/command.ts'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import { type CallAccess, callsVariable, callVariables, urlVariables } from '../../shared/calls/call-access.ts'
import { type LocalPorts, noLocalPorts } from '../../shared/calls/local-ports.ts'
import { HealthMonitor, healthNeverPassed } from '../../shared/health/health-monitor.ts'
import { withoutConnections } from '../../shared/process/child-stdio.ts'
import { isExhaustion } from '../../shared/process/descriptors.ts'
import type { ToWorker } from '../../shared/control-messages.ts'
import { pwdVariable, bypassProxies } from '../../shared/process/program-environment.ts'
import { processExited, startFailed } from '../workers/worker-exit.ts'
import type { OrphanReaper } from './orphan-reaper.ts'
import type { OutputScheduler } from './output/output-scheduler.ts'
import { ChildOutput } from './output/pipe-output.ts'
import type { TransferResult, WorkerRuntime, RuntimeEvents } from './runtime.ts'

export interface CommandParts {
  readonly service: Service
  /** Its environment, for a command that listens on `port`. */
  readonly environment: (port: number) => NodeJS.ProcessEnv
  /** Resolves when the services that it needs serve; rejects when one does not serve in time. */
  readonly needed: Promise<void>
  readonly reaper: OrphanReaper
  readonly scheduler: OutputScheduler
  /** Called with its address, just before it serves. */
  readonly answers: (address: Address) => void
}

/** Milliseconds between two attempts to connect to its port. */
const tryInterval = 50

const piped: [StdioNull, StdioPipe, StdioPipe] = ['ignore', 'pipe', 'pipe']

/**
 * Any program that listens on a port of its own. It runs in its own process group, so that
 * everything that it starts ends with it.
 */
export class CommandRuntime implements WorkerRuntime {
  readonly closed = 0
  readonly #parts: CommandParts
  readonly #events: RuntimeEvents
  readonly #ended = Promise.withResolvers<void>()
  #child: ChildProcess | undefined
  #monitor: HealthMonitor | undefined
  #serves = false
  #over = false

  constructor(parts: CommandParts, events: RuntimeEvents) {
    this.#parts = parts
    this.#events = events
    void this.#start()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Busbar cannot see its event loop, if it has one. */
  age(): number {
    return 0
  }

  async stack(): Promise<undefined> {}

  send(order: ToWorker): void {
    if (order.type === 'released' && order.service === this.#parts.service.name) this.#signal('SIGTERM')
    if (order.type !== 'stop') return
    this.#monitor?.stop()
    if (!order.inOrder) return this.#signal('SIGTERM')
    // The services that need it may use up the timeout: it gets SIGTERM halfway, before it is
    // killed.
    const late = setTimeout(() => this.#signal('SIGTERM'), order.timeout / 2)
    void this.#ended.promise.then(() => clearTimeout(late))
  }

  /** It accepts for itself. */
  transfer(): TransferResult {
    return 'lost'
  }

  kill(): Promise<void> {
    if (this.#child === undefined) this.#exited(null, null)
    else this.#signal('SIGKILL')
    return this.#ended.promise
  }

  async #start(): Promise<void> {
    const { service, needed } = this.#parts
    try {
      await needed
      const port = service.port ?? (await freePort())
      const began = performance.now()
      if (this.#over) return
      this.#spawn(port)
      const host = await this.#untilAnswers(port)
      if (host === undefined) return
      await this.#checkHealth({ host, port }, began)
      if (this.#over) return
      this.#serves = true
      this.#parts.answers({ host, port })
      this.#events.message({ type: 'started', service: service.name })
      const report = { name: service.name, listens: `${host}:${port}`, startedIn: 0, warnings: [] }
      this.#events.message({ type: 'ready', services: [report] })
    } catch (error) {
      this.#events.failing(startFailed(BusbarError.from(error)))
      void this.kill()
    }
  }

  #spawn(port: number): void {
    const { service, environment, reaper, scheduler } = this.#parts
    const [file, ...args] = [service.entry.file, ...service.entry.args].map((word) =>
      word.replaceAll('$PORT', `${port}`),
    )
    const options = {
      cwd: service.path,
      env: environment(port),
      detached: process.platform !== 'win32',
    }
    const child = withoutConnections(piped, (stdio) => spawn(file!, args, { ...options, stdio }))
    this.#child = child
    const output = new ChildOutput(child, scheduler, (line) => this.#events.line(line, service.name))
    child.once('exit', (code, signal) => void output.ended().then(() => this.#exited(code, signal)))
    child.once('error', (error) => {
      if (child.pid !== undefined) return
      this.#events.failing(startFailed(notStarted(service, error)))
      this.#exited(null, null)
    })
    if (child.pid === undefined) return
    reaper.watch(-child.pid)
  }

  /** Resolves when the first check has passed, if the service has health checks. */
  async #checkHealth(at: Address, began: number): Promise<void> {
    const { service } = this.#parts
    const { name, health, startTimeout } = service
    if (health === undefined) return
    const monitor = new HealthMonitor({ service: name, connect: () => connect(at) }, health)
    void this.#ended.promise.then(() => monitor.stop())
    const failure = await monitor.untilHealthy(startTimeout - (performance.now() - began))
    if (failure !== undefined) throw restoreError(healthNeverPassed(service, failure))
    this.#monitor = monitor
    monitor.start((report) => this.#events.message({ type: 'health', service: name, ...report }))
  }

  /**
   * Resolves to the host that it listens on, or to undefined if it ended first. Rejects after
   * `startTimeout`.
   */
  async #untilAnswers(port: number): Promise<string | undefined> {
    const { service } = this.#parts
    const deadline = performance.now() + service.startTimeout
    while (!this.#over) {
      const host = await listeningHost(port)
      if (host !== undefined) return this.#over ? undefined : host
      if (performance.now() > deadline) throw tooLate(service, port)
      await sleep(tryInterval)
    }
    return undefined
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    const { service, reaper } = this.#parts
    const exit = processExited(code, signal, service.name)
    if (!this.#serves) this.#events.failing(startFailed(neverAnswered(service, exit.text)))
    // Ends the processes that it left behind.
    this.#signal('SIGKILL')
    if (this.#child?.pid !== undefined) reaper.forget(-this.#child.pid)
    this.#events.exited(exit)
    this.#ended.resolve()
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      // The process group is empty.
    }
  }
}

export interface CommandEnvironment {
  readonly service: Service
  /** All services of the app. */
  readonly names: readonly string[]
  readonly localPorts?: LocalPorts
  readonly calls: CallAccess
  /** The port that it listens on. */
  readonly port: number
}

/**
 * Busbar's own environment, the variables for calling services, and the command's own `env`, which
 * wins.
 */
export function commandEnvironment({
  service,
  names,
  localPorts = noLocalPorts,
  calls,
  port,
}: CommandEnvironment): NodeJS.ProcessEnv {
  const { name, path, env: own } = service
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...pwdVariable(path, process.env),
    ...urlVariables(calls, name),
    ...own,
  }
  if (own[callsVariable] === undefined)
    Object.assign(env, callVariables(calls, name, { names, localPorts }, env['NODE_OPTIONS']))
  bypassProxies(env, names, ['127.0.0.1'])
  return { ...env, PORT: `${port}`, PATH: searchPath(path, env['PATH']) }
}

/** The port is free now. Another program may take it before the command does, which is unlikely. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * A program that listens on `localhost` may get either address. One that listens on both is always
 * reached over IPv4, also if it began to listen between the first two attempts.
 */
async function listeningHost(port: number): Promise<string | undefined> {
  const [preferred, other] = ['127.0.0.1', '::1'] as const
  if (await answers(preferred, port)) return preferred
  if (!(await answers(other, port))) return undefined
  return (await answers(preferred, port)) ? preferred : other
}

function answers(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

function notStarted({ name, entry }: Service, error: Error): BusbarError {
  return new BusbarError('PROGRAM_THREW', {
    message: `service '${name}' could not be started: ${error.message}`,
    hint: isExhaustion(error)
      ? 'Raise the limit of file descriptors (ulimit -n).'
      : `Install ${entry.file}; it is searched in node_modules/.bin, then in PATH.`,
    service: name,
    cause: error,
  })
}

function neverAnswered({ name, entry }: Service, how: string): BusbarError {
  return new BusbarError('PROGRAM_EXITED', {
    message: `service '${name}' (${[entry.file, ...entry.args].join(' ')}) ended before it answered: ${how}`,
    hint: `See its output in the log; after startApp, log: 'pretty' shows it.`,
    service: name,
  })
}

function tooLate({ name, entry, startTimeout, port: configured }: Service, port: number): BusbarError {
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${name}' (${[entry.file, ...entry.args].join(' ')}) did not answer on port ${port} within ${startTimeout} ms`,
    hint:
      configured === undefined
        ? `It must listen on the port in the environment variable PORT; $PORT in the command is replaced by it too. If it listens on a fixed port, set services.${name}.port to that.`
        : `It must listen on the port that services.${name}.port states, on 127.0.0.1 or ::1.`,
    service: name,
  })
}
