import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { CallCounter } from '../../contract/host/typed-host.ts'
import type { EndpointState } from '../../mesh/routing/endpoint.ts'
import { currentScope, runInScope, type Scope } from '../../mesh/scope.ts'
import type { PrivateListener } from '../../mesh/sockets/instance/private-listener.ts'
import type { ServiceReport } from '../../shared/control-messages.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { HostedService } from '../hosted-service.ts'
import type { ConnectionSink } from '../../mesh/sockets/instance/connection-sink.ts'
import { ExpressRoutes } from '../templates/express-routes.ts'
import type { Sandbox } from './sandbox.ts'
import { type CapturedServer, portOf } from './servers/captured-server.ts'
import type { ProgramEnd, ProgramProcess } from './process/program-process.ts'
import { isUnreachable, otherServerWarning, reportOf } from './service-report.ts'
import { type ServedConnection, ServedConnections } from './servers/served-connections.ts'
import type { ThreadWork } from './open-handles.ts'
import { startProgram } from './start/start-program.ts'
import { stopProgram } from './stop-program.ts'

/** An async context without stores of Busbar or of another program. */
const inCleanContext = AsyncLocalStorage.snapshot()

/**
 * Starts a program in this thread. Rejects with a BusbarError that names the service and has one of
 * the PROGRAM_ codes.
 */
export function hostProgram(service: Service, sandbox: Sandbox): Promise<HostedService> {
  return inCleanContext(async () => {
    const program = sandbox.programs.of(service.name)
    if (program === undefined) {
      throw new BusbarError('INTERNAL', {
        message: `service '${service.name}' is not of this app`,
        service: service.name,
      })
    }
    const began = performance.now()
    try {
      const { captured, warnings } = await startProgram(program, sandbox.programs, workOf(sandbox))
      const report = reportOf(program, captured, Math.round(performance.now() - began), warnings)
      return new HostedProgram(program, sandbox, captured, report)
    } catch (error) {
      program.enterPhase({ is: 'stopped' })
      sandbox.output.flush(service.name)
      throw error
    }
  })
}

type Snapshot = ReturnType<typeof AsyncLocalStorage.snapshot>

class HostedProgram implements HostedService {
  readonly at = 'here'
  readonly service: string
  readonly server: HttpServer
  readonly listener: PrivateListener
  readonly count: CallCounter | undefined
  readonly answered: ((request: IncomingMessage) => void) | undefined
  readonly report: ServiceReport
  readonly #program: ProgramProcess
  readonly #sandbox: Sandbox
  readonly #captured: CapturedServer
  /** The async context in which the program called `listen()`. Node runs connections in it. */
  readonly #context: Snapshot
  readonly #scope: Scope
  readonly #connections = new ServedConnections((connection) => {
    // Connections of the mesh arrive in scopes of their own and are counted by their callers.
    if (currentScope() === this.#scope) this.#meter(connection)
  })
  #state: EndpointState = 'serving'
  #stopped: Promise<void> | undefined

  constructor(program: ProgramProcess, sandbox: Sandbox, captured: CapturedServer, report: ServiceReport) {
    this.service = program.service.name
    this.server = captured.front ?? (captured.server as HttpServer)
    this.listener = captured.listener
    this.count = sandbox.metering?.of(this.service)
    const { templates } = sandbox
    this.answered = templates && new ExpressRoutes(this.service, templates).answered
    this.report = report
    this.#program = program
    this.#sandbox = sandbox
    this.#captured = captured
    this.#context = captured.context
    this.#scope = { service: this.service, hops: 0 }
    // The mesh's connections reach an https server after the handshake, and an http2 server by its
    // front.
    for (const server of [captured.server, this.server]) this.#connections.watch(server)
    program.enterPhase({ is: 'serving', ended: sandbox.die })
    program.onListen = (other) => this.#warnOfOtherServer(other)
    for (const warning of report.warnings) this.#log('warn', warning)
  }

  get state(): EndpointState {
    return this.#state
  }

  enter<R>(scope: Scope, callback: () => R): R {
    return this.#context(runInScope<R>, scope, callback)
  }

  accept(socket: Socket): void {
    this.#acceptAt(this.#captured, socket)
  }

  sinkFor(port: number): ConnectionSink {
    const other = this.#program.servers.find((server) => portOf(server) === port)
    if (other === undefined || other === this.#captured) return this
    this.#connections.watch(other.server)
    return { accept: (socket) => this.#acceptAt(other, socket) }
  }

  #acceptAt({ context, listener }: CapturedServer, socket: Socket): void {
    this.#meter(this.#connections.add(socket))
    context(() => runInScope(this.#scope, () => listener.accept(socket)))
  }

  #meter(connection: ServedConnection): void {
    const { metering } = this.#sandbox
    if (metering === undefined) return
    const { meter, tracer } = metering
    connection.meter({
      service: this.service,
      count: metering.of(this.service),
      meter,
      tracer,
      answered: this.answered,
    })
  }

  shareConnections(): void {
    this.#connections.share()
  }

  stop(times: StopTimes): Promise<void> {
    this.#stopped ??= inCleanContext(() => this.#stop(times))
    return this.#stopped
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#state = 'draining'
    const exited = Promise.withResolvers<void>()
    this.#program.enterPhase({
      is: 'stopping',
      ended: (end) => {
        if (end.reason !== 'exit') this.#log('error', end)
        exited.resolve()
      },
    })
    const over = new AbortController()
    const { webSockets } = this.#connections
    const closing = this.enter(this.#scope, () => times.webSockets && webSockets.close(times.webSockets, over.signal))
    await stopProgram({
      program: this.#program,
      work: workOf(this.#sandbox),
      servers: new Set([...this.#program.servers.map(({ server }) => server), this.server]),
      connections: this.#connections,
      exited: exited.promise,
      endWebSockets: async () => {
        over.abort()
        await closing
      },
      ...times,
      enter: (run) => this.enter(this.#scope, run),
    })
    over.abort()
    this.enter(this.#scope, () => this.#connections.destroy())
    await closing
    this.#program.enterPhase({ is: 'stopped' })
    this.#sandbox.output.flush(this.service)
    this.#state = 'stopped'
  }

  #warnOfOtherServer(other: CapturedServer): void {
    if (!isUnreachable(this.#program, this.#captured, other)) return
    this.#log('warn', otherServerWarning(this.#program, this.#captured, other))
  }

  #log(level: 'warn' | 'error', what: string | ProgramEnd): void {
    const line = typeof what === 'string' ? `service '${this.service}': ${what}` : linesOf(what)
    this.#sandbox.log({ time: Date.now(), level, service: this.service, stream: 'busbar', line })
  }
}

function workOf({ signs, metering }: Sandbox): ThreadWork {
  return { signs, meter: metering?.meter }
}

function linesOf({ error }: ProgramEnd): string {
  const { message, stack } = error.toRecord()
  return stack === undefined ? message : `${message}\n${stack}`
}
