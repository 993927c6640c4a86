import { type ChildProcess, spawn, type StdioNull, type StdioPipe } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { withoutConnections } from '../../shared/child-stdio.ts'
import { isExhaustion } from '../../shared/descriptors.ts'
import type { ToWorker } from '../../shared/control.ts'
import { processExited, startFailed } from '../exit.ts'
import type { Guard } from './guard.ts'
import type { OutputScheduler } from './output-scheduler.ts'
import { ChildOutput } from './pipe-output.ts'
import type { Handed, Vessel, VesselEvents } from './vessel.ts'

export interface CommandParts {
  readonly service: Service
  /** What it is started with, where it is to listen on `port`. */
  readonly environment: (port: number) => NodeJS.ProcessEnv
  /** Settles when the services that it needs serve, or do not in time. */
  readonly needed: Promise<void>
  readonly guard: Guard
  readonly scheduler: OutputScheduler
  /** Told where it answers, just before it serves. */
  readonly answers: (address: Address) => void
}

/** How often a port is tried that does not answer yet, in milliseconds. */
const tryInterval = 50

const piped: [StdioNull, StdioPipe, StdioPipe] = ['ignore', 'pipe', 'pipe']

/** Programs that listen on `localhost` may mean either. */
const loopbacks = ['127.0.0.1', '::1'] as const

/**
 * A program of any kind that listens on a port of its own. It has its own group of processes, so that what it starts
 * ends with it.
 */
export class CommandVessel implements Vessel {
  readonly closed = 0
  readonly #parts: CommandParts
  readonly #events: VesselEvents
  readonly #ended = Promise.withResolvers<void>()
  #child: ChildProcess | undefined
  #serves = false
  #over = false

  constructor(parts: CommandParts, events: VesselEvents) {
    this.#parts = parts
    this.#events = events
    void this.#start()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** What it does between two answers cannot be seen. */
  age(): number {
    return 0
  }

  send(order: ToWorker): void {
    if (order.type === 'released' && order.service === this.#parts.service.name) this.#signal('SIGTERM')
    if (order.type !== 'stop') return
    if (!order.inOrder) return this.#signal('SIGTERM')
    // Those that need it may take all the time there is; it is asked all the same before it is killed.
    const late = setTimeout(() => this.#signal('SIGTERM'), order.timeout / 2)
    void this.#ended.promise.then(() => clearTimeout(late))
  }

  /** It accepts for itself. */
  hand(): Handed {
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
      if (this.#over) return
      this.#spawn(port)
      const host = await this.#untilAnswers(port)
      if (host === undefined) return
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
    const { service, environment, guard, scheduler } = this.#parts
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
    const output = new ChildOutput(child, scheduler, (text, stream, level) =>
      this.#events.line(text, stream, level, service.name),
    )
    child.once('exit', (code, signal) => void output.ended().then(() => this.#exited(code, signal)))
    child.once('error', (error) => {
      if (child.pid !== undefined) return
      this.#events.failing(startFailed(notStarted(service, error)))
      this.#exited(null, null)
    })
    if (child.pid === undefined) return
    guard.watch(-child.pid)
  }

  /** Undefined where it ended first. Rejects when its time is over. */
  async #untilAnswers(port: number): Promise<string | undefined> {
    const { service } = this.#parts
    const deadline = performance.now() + service.startTimeout
    while (!this.#over) {
      for (const host of loopbacks) if (await answers(host, port)) return this.#over ? undefined : host
      if (performance.now() > deadline) throw tooLate(service, port)
      await sleep(tryInterval)
    }
    return undefined
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    const { service, guard } = this.#parts
    const exit = processExited(code, signal, service.name)
    if (!this.#serves) this.#events.failing(startFailed(neverAnswered(service, exit.text)))
    // Whatever it started and left behind.
    this.#signal('SIGKILL')
    if (this.#child?.pid !== undefined) guard.forget(-this.#child.pid)
    this.#events.exited(exit)
    this.#ended.resolve()
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      // There is nobody left in the group.
    }
  }
}

/** Nobody has it now; that nobody takes it until the command does is likely, not certain. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
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
      ? 'raise the limit of file descriptors (ulimit -n)'
      : `Is ${entry.file} installed? It is looked for in node_modules/.bin, then in PATH.`,
    service: name,
    cause: error,
  })
}

function neverAnswered({ name, entry }: Service, how: string): BusbarError {
  return new BusbarError('PROGRAM_EXITED', {
    message: `service '${name}' (${[entry.file, ...entry.args].join(' ')}) ended before it answered: ${how}`,
    hint: 'What it printed is in the log above',
    service: name,
  })
}

function tooLate({ name, entry, startTimeout }: Service, port: number): BusbarError {
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${name}' (${[entry.file, ...entry.args].join(' ')}) did not answer on port ${port} within ${startTimeout} ms`,
    hint: 'It has to listen on the port in its variable PORT; $PORT in the command stands for it as well',
    service: name,
  })
}
