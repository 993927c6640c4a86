import { AsyncLocalStorage } from 'node:async_hooks'
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { CallCount } from '../../contract/host/host.ts'
import type { EndpointState, LocalEndpoint } from '../../mesh/endpoint.ts'
import { currentScope, runInScope, type Scope } from '../../mesh/scope.ts'
import type { PrivateListener } from '../../mesh/sockets/private-listener.ts'
import type { ServiceReport, StopTimes } from '../../shared/control.ts'
import type { Hosting } from './install.ts'
import type { CapturedServer } from './captured-server.ts'
import type { ProgramEnd, ProgramProcess } from './program-process.ts'
import { isLost, otherWarning, portOf, reportOf } from './report.ts'
import { type ServedConnection, ServedConnections } from './served-connections.ts'
import { startProgram } from './start.ts'
import { stopProgram } from './stop.ts'

export interface HostedProgram extends LocalEndpoint {
  readonly report: ServiceReport
  /** Gives a connection to the program's own server, TLS included if it is an `https` one. */
  accept(socket: Socket): void
  /** Takes the connections of a public port: for the server that listens on this very port, else as {@link accept}. */
  door(port: number): { accept(socket: Socket): void }
  /**
   * Lets those who keep connections to it go, runs the program's own SIGTERM (else SIGINT) handlers, then closes its
   * servers: what is in flight is answered, what remains when the time is over is cut. Never rejects.
   */
  stop(times: StopTimes): Promise<void>
}

/** What a program starts in, whoever asks for it: nothing of Busbar's or of another program's async context. */
const clean = AsyncLocalStorage.snapshot()

/** Starts a program in this thread. Rejects with a BusbarError that names the service: one of the PROGRAM_ codes. */
export function hostProgram(service: Service, hosting: Hosting): Promise<HostedProgram> {
  return clean(async () => {
    const program = hosting.programs.of(service.name)
    if (program === undefined) {
      throw new BusbarError('INTERNAL', {
        message: `service '${service.name}' is not of this app`,
        service: service.name,
      })
    }
    const began = performance.now()
    try {
      const { captured, warnings } = await startProgram(program, hosting.programs)
      const report = reportOf(program, captured, Math.round(performance.now() - began), warnings)
      return new Hosted(program, hosting, captured, report)
    } catch (error) {
      program.enterPhase({ is: 'stopped' })
      hosting.output.flush(service.name)
      throw error
    }
  })
}

type Snapshot = ReturnType<typeof AsyncLocalStorage.snapshot>

class Hosted implements HostedProgram {
  readonly at = 'here'
  readonly service: string
  readonly server: HttpServer
  readonly listener: PrivateListener
  readonly count: CallCount | undefined
  readonly report: ServiceReport
  readonly #program: ProgramProcess
  readonly #hosting: Hosting
  readonly #captured: CapturedServer
  /** The context that the program listened in: what Node would run its connections in. */
  readonly #context: Snapshot
  readonly #scope: Scope
  readonly #connections = new ServedConnections((connection) => {
    // Connections of the mesh come in scopes of their own, and their callers count them.
    if (currentScope() === this.#scope) this.#meter(connection)
  })
  #state: EndpointState = 'serving'
  #stopped: Promise<void> | undefined

  constructor(program: ProgramProcess, hosting: Hosting, captured: CapturedServer, report: ServiceReport) {
    this.service = program.service.name
    this.server = captured.front ?? (captured.server as HttpServer)
    this.listener = captured.listener
    this.count = hosting.metering?.of(this.service)
    this.report = report
    this.#program = program
    this.#hosting = hosting
    this.#captured = captured
    this.#context = captured.context
    this.#scope = { service: this.service, hops: 0 }
    // The mesh's connections come to an `https` server with their handshake done, and to an http2 one by its front.
    for (const server of [captured.server, this.server]) this.#connections.watch(server)
    program.enterPhase({ is: 'serving', ended: hosting.die })
    program.onListen = (other) => this.#warnOfOther(other)
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

  door(port: number): { accept(socket: Socket): void } {
    const asked = this.#program.servers.find((server) => portOf(server) === port)
    if (asked === undefined || asked === this.#captured) return this
    this.#connections.watch(asked.server)
    return { accept: (socket) => this.#acceptAt(asked, socket) }
  }

  #acceptAt({ context, listener }: CapturedServer, socket: Socket): void {
    this.#meter(this.#connections.add(socket))
    context(() => runInScope(this.#scope, () => listener.accept(socket)))
  }

  #meter(connection: ServedConnection): void {
    const { metering } = this.#hosting
    if (metering === undefined) return
    connection.meter({ service: this.service, count: metering.of(this.service), meter: metering.meter })
  }

  stop(times: StopTimes): Promise<void> {
    this.#stopped ??= clean(() => this.#stop(times))
    return this.#stopped
  }

  async #stop(times: StopTimes): Promise<void> {
    this.#state = 'draining'
    const exited = Promise.withResolvers<void>()
    this.#program.enterPhase({
      is: 'stopping',
      ended: (end) => {
        if (end.reason !== 'exit') this.#say('error', end)
        exited.resolve()
      },
    })
    await stopProgram({
      program: this.#program,
      servers: new Set([...this.#program.servers.map(({ server }) => server), this.server]),
      connections: this.#connections,
      exited: exited.promise,
      ...times,
      enter: (run) => this.enter(this.#scope, run),
    })
    this.enter(this.#scope, () => this.#connections.destroy())
    this.#program.enterPhase({ is: 'stopped' })
    this.#hosting.output.flush(this.service)
    this.#state = 'stopped'
  }

  #warnOfOther(other: CapturedServer): void {
    if (!isLost(this.#program, this.#captured, other)) return
    this.#say('warn', otherWarning(this.#program, this.#captured, other))
  }

  #say(level: 'warn' | 'error', what: string | ProgramEnd): void {
    const line = typeof what === 'string' ? `service '${this.service}' ${what}` : linesOf(what)
    this.#hosting.log({ time: Date.now(), level, service: this.service, stream: 'busbar', line })
  }
}

function linesOf({ error }: ProgramEnd): string {
  const { message, stack } = error.toRecord()
  return stack === undefined ? message : `${message}\n${stack}`
}
