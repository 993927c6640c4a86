import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Limits, Service } from '../../config/app.ts'
import { client } from '../../contract/client.ts'
import type { Log } from '../../contract/context.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { TypedHost } from '../../contract/host/host.ts'
import { typedListener } from '../../gateway/typed/listener.ts'
import type { EndpointState } from '../../mesh/endpoint.ts'
import { currentScope, type Scope } from '../../mesh/scope.ts'
import { PrivateListener } from '../../mesh/sockets/private-listener.ts'
import { CallContexts } from '../../mesh/typed/contexts.ts'
import type { ServiceReport, StopTimes } from '../../shared/control.ts'
import type { HostedProgram } from '../host/host.ts'
import type { Hosting } from '../host/install.ts'
import { KeptConnections } from '../host/kept-connections.ts'
import type { ProgramProcess } from '../host/program-process.ts'
import { ServedConnections } from '../host/served-connections.ts'
import { loadInterceptors } from './interceptors.ts'
import { startTyped } from './load.ts'
import { logOf } from './log.ts'

export interface TypedHosting extends Hosting {
  readonly limits: Limits
  /** Origins of other sites whose pages may call. */
  readonly cors: readonly string[]
  /** The app's module of interceptors. Absolute. */
  readonly interceptors: string | undefined
  /** In development arguments and results are copied, so that it shows who changes what is not his. */
  readonly development: boolean
}

const clean = AsyncLocalStorage.snapshot()

/** Starts a typed service in this thread. Rejects with a BusbarError that names the service. */
export function hostTyped(service: Service, hosting: TypedHosting): Promise<HostedProgram> {
  return clean(async () => {
    const program = hosting.programs.of(service.name)!
    const began = performance.now()
    const contexts = new CallContexts(service.name)
    const log = logOf(service.name, hosting.log)
    try {
      const host = await startTyped(program, hosting.programs, async () => ({
        name: service.name,
        log,
        clone: hosting.development,
        maxInFlight: hosting.limits.maxInFlight,
        interceptors: await loadInterceptors(hosting.interceptors),
        count: hosting.metering?.of(service.name),
        client,
        enter: contexts.enter,
      }))
      program.enterPhase({ is: 'serving', ended: hosting.die })
      if (host.contract.name !== host.name) log.warn(mismatch(host))
      return new HostedTyped({ program, hosting, host, contexts, log }, Math.round(performance.now() - began))
    } catch (error) {
      program.enterPhase({ is: 'stopped' })
      hosting.output.flush(service.name)
      throw error
    }
  })
}

interface Parts {
  readonly program: ProgramProcess
  readonly hosting: TypedHosting
  readonly host: TypedHost
  readonly contexts: CallContexts
  readonly log: Log
}

class HostedTyped implements HostedProgram {
  readonly at = 'here'
  readonly service: string
  readonly typed: TypedHost
  /** For all that comes over HTTP: by the gateway, by name from programs, by ports of its own. */
  readonly server: Server
  readonly answers: RequestListener
  readonly report: ServiceReport
  readonly #parts: Parts
  readonly listener: PrivateListener
  readonly #scope: Scope
  readonly #connections = new ServedConnections()
  #state: EndpointState = 'serving'
  #stopped: Promise<void> | undefined

  constructor(parts: Parts, startedIn: number) {
    const { host, hosting, program } = parts
    this.#parts = parts
    this.service = host.name
    this.typed = host
    this.#scope = { service: host.name, hops: 0 }
    this.report = reportOf(host, startedIn)
    this.answers = typedListener(host, listenerOptions(program.service, hosting))
    this.server = createServer(serverOptions(hosting.limits), this.answers)
    this.#connections.watch(this.server)
    this.listener = listenAt(this.server, hosting.paths())
  }

  get state(): EndpointState {
    return this.#state
  }

  enter<R>(scope: Scope, callback: () => R): R {
    return this.#parts.contexts.enterScope(scope, callback)
  }

  accept(socket: Socket): void {
    this.#connections.add(socket)
    this.enter(this.#scope, () => this.listener.accept(socket))
  }

  door(): { accept(socket: Socket): void } {
    return this
  }

  stop(times: StopTimes): Promise<void> {
    return (this.#stopped ??= clean(() => this.#stop(times)))
  }

  async #stop(times: StopTimes): Promise<void> {
    const { program, hosting, host, log } = this.#parts
    const end = performance.now() + times.timeout
    this.#state = 'draining'
    await new KeptConnections({ servers: new Set([this.server]), connections: this.#connections, ...times }).drain()
    try {
      await this.enter(this.#scope, async () => await host.stop(Math.max(0, end - performance.now())))
    } catch (thrown) {
      log.error(`service '${this.service}' threw while it was disposed: ${stackOf(thrown)}`)
    }
    this.server.close()
    this.server.closeAllConnections()
    program.enterPhase({ is: 'stopped' })
    hosting.output.flush(this.service)
    this.#state = 'stopped'
  }
}

const anywhere: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 80 }

function listenAt(server: Server, path: string): PrivateListener {
  const listener = new PrivateListener(server, { path, address: anywhere })
  server.listen({ path, backlog: 4096 })
  return listener
}

function reportOf({ name, contract }: TypedHost, startedIn: number): ServiceReport {
  const methods = Object.keys(contract.methods).length
  const listens = methods === 0 ? 'methods of a class' : `${methods} ${methods === 1 ? 'method' : 'methods'}`
  return { name, listens, startedIn, warnings: [] }
}

function mismatch({ name, contract }: TypedHost): string {
  return `service '${name}': its contract is named ${contract.name}, and the config calls it ${name}: callers write client(contract, undefined, { service: '${name}' })`
}

function serverOptions(limits: Limits): Parameters<typeof createServer>[0] & object {
  const { headerTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits
  const headersTimeout = requestTimeout === 0 ? headerTimeout : Math.min(headerTimeout, requestTimeout)
  return { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize }
}

function listenerOptions(
  { path: folder, openapi }: Service,
  { limits: { maxInputSize, maxBodySize }, cors }: TypedHosting,
): Parameters<typeof typedListener>[1] {
  const hops = (): number => currentScope()?.hops ?? 0
  const describes = openapi === undefined ? undefined : { path: openapi, folder }
  return { maxInputSize: Math.min(maxInputSize, maxBodySize), cors, hops, describes }
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : BusbarError.from(thrown).message
}
