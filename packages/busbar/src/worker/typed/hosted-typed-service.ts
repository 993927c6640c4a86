import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Limits, Service } from '../../config/app.ts'
import { nearest } from '../../config/nearest.ts'
import { client } from '../../contract/client/client.ts'
import type { Log } from '../../contract/context.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { HostOptions, TypedHost } from '../../contract/host/typed-host.ts'
import { HttpHandler } from '../../contract/http/http-handler.ts'
import { contractOfService } from '../../contract/method-contract.ts'
import { typedListener } from '../../gateway/typed/request-listener.ts'
import type { EndpointState } from '../../mesh/routing/endpoint.ts'
import { currentScope, type Scope } from '../../mesh/scope.ts'
import { PrivateListener } from '../../mesh/sockets/instance/private-listener.ts'
import { CallContexts } from '../../mesh/typed/call-contexts.ts'
import type { TypedMesh } from '../../mesh/typed/mesh-transport.ts'
import type { QueueHost } from '../../queue/queue-host.ts'
import type { EventAdmission } from '../../contract/host/event-inbox.ts'
import type { ServiceReport } from '../../shared/control-messages.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { HostedService } from '../hosted-service.ts'
import type { ConnectionSink } from '../../mesh/sockets/instance/connection-sink.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { KeepAliveConnections } from '../sandbox/servers/keep-alive-connections.ts'
import type { ProgramProcess } from '../sandbox/process/program-process.ts'
import { ServedConnections } from '../sandbox/servers/served-connections.ts'
import { loadInterceptors, startTypedService } from './start-typed-service.ts'
import { serviceLog } from './service-log.ts'
import type { QueueCells } from '../../shared/metrics/queue-cells.ts'
import type { Metering } from '../reporting/metering.ts'

export interface TypedSandbox extends Sandbox {
  readonly limits: Limits
  /** Origins of other sites whose pages may call (CORS). */
  readonly cors: readonly string[]
  /** The absolute path of the app's module of interceptors. */
  readonly interceptors: string | undefined
  /** Of the handlers of events. Undefined without a `concurrency`. */
  readonly admission: EventAdmission | undefined
  /** Clones arguments and results, so that code which relies on shared objects fails early. */
  readonly development: boolean
  /** For the service that owns the queue. */
  /** For the calls of the queue. */
  readonly mesh: TypedMesh
}

/** An async context without stores of Busbar or of another program. */
const inCleanContext = AsyncLocalStorage.snapshot()

/** Starts a typed service in this thread. Rejects with a BusbarError that names the service. */
export function hostTypedService(service: Service, sandbox: TypedSandbox): Promise<HostedService> {
  return inCleanContext(async () => {
    const program = sandbox.programs.of(service.name)!
    const began = performance.now()
    const contexts = new CallContexts(service.name)
    const log = serviceLog(service.name, sandbox.log)
    try {
      const queue = await openQueue(service, sandbox, log)
      const options = async (): Promise<HostOptions> => ({
        name: service.name,
        log,
        clone: sandbox.development,
        maxInFlight: sandbox.limits.maxInFlight,
        interceptors: queue === undefined ? await loadInterceptors(sandbox.interceptors) : [],
        count: sandbox.metering?.of(service.name),
        client,
        admission: sandbox.admission,
        enter: contexts.enter,
      })
      const host = await startTypedService(program, sandbox.programs, options, queue?.implementation)
      program.enterPhase({ is: 'serving', ended: sandbox.die })
      if (host.contract.name !== host.name) log.warn(nameMismatch(host))
      for (const line of unknownQueuedMethods(host, service)) log.warn(line)
      const parts = { program, sandbox, host, contexts, log, queue }
      return new HostedTypedService(parts, Math.round(performance.now() - began))
    } catch (error) {
      program.enterPhase({ is: 'stopped' })
      sandbox.output.flush(service.name)
      throw error
    }
  })
}

interface Parts {
  readonly program: ProgramProcess
  readonly sandbox: TypedSandbox
  readonly host: TypedHost
  readonly contexts: CallContexts
  readonly log: Log
  readonly queue: QueueHost | undefined
}

class HostedTypedService implements HostedService {
  readonly at = 'here'
  readonly service: string
  readonly typed: TypedHost
  readonly queue: QueueHost | undefined
  /** Serves calls over HTTP: from the gateway, from programs by name, and on exposed ports. */
  readonly server: Server
  readonly requestListener: RequestListener
  readonly httpHandler: HttpHandler
  readonly report: ServiceReport
  readonly #parts: Parts
  readonly listener: PrivateListener
  readonly #scope: Scope
  readonly #connections = new ServedConnections()
  #state: EndpointState = 'serving'
  #stopped: Promise<void> | undefined

  constructor(parts: Parts, startedIn: number) {
    const { host, sandbox, program } = parts
    this.#parts = parts
    this.service = host.name
    this.typed = host
    this.queue = parts.queue
    this.#scope = { service: host.name, hops: 0 }
    this.report = reportOf(host, startedIn)
    const options = listenerOptions(program.service, sandbox)
    this.httpHandler = new HttpHandler(host, options)
    this.requestListener = typedListener(host, options, this.httpHandler)
    this.server = createServer(serverOptions(sandbox.limits), this.requestListener)
    this.#connections.watch(this.server)
    this.listener = listenAt(this.server, sandbox.paths())
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

  sinkFor(): ConnectionSink {
    return this
  }

  stop(times: StopTimes): Promise<void> {
    return (this.#stopped ??= inCleanContext(() => this.#stop(times)))
  }

  async #stop(times: StopTimes): Promise<void> {
    const { program, sandbox, host, log } = this.#parts
    const end = performance.now() + times.timeout
    this.#state = 'draining'
    await new KeepAliveConnections({
      servers: new Set([this.server]),
      connections: this.#connections,
      ...times,
    }).drain()
    try {
      await this.enter(this.#scope, async () => await host.stop(Math.max(0, end - performance.now())))
    } catch (thrown) {
      log.error(`service '${this.service}' threw while it was disposed: ${stackOf(thrown)}`)
    }
    this.server.close()
    this.server.closeAllConnections()
    program.enterPhase({ is: 'stopped' })
    sandbox.output.flush(this.service)
    this.#state = 'stopped'
  }
}

/** No caller sees it: a typed service has no `server.address()`. */
const placeholder: AddressInfo = { address: '127.0.0.1', family: 'IPv4', port: 80 }

function listenAt(server: Server, path: string): PrivateListener {
  const listener = new PrivateListener(server, { path, address: placeholder })
  server.listen({ path, backlog: 4096 })
  return listener
}

function reportOf({ name, contract, events }: TypedHost, startedIn: number): ServiceReport {
  const methods = Object.keys(contract.methods).length
  const topics = events?.topics.length ?? 0
  const subscribes = topics === 0 ? '' : `subscribes to ${topics} ${topics === 1 ? 'topic' : 'topics'}`
  const offers =
    methods > 0 ? `${methods} ${methods === 1 ? 'method' : 'methods'}` : topics > 0 ? '' : 'methods of a class'
  const listens = [offers, subscribes].filter((part) => part !== '').join(', ')
  return { name, listens, startedIn, contract: contractOfService(contract), warnings: [] }
}

/** The contract of a class does not name its methods. */
function unknownQueuedMethods({ name, contract }: TypedHost, { queuedMethods = [] }: Service): readonly string[] {
  const known = Object.keys(contract.methods)
  const methods = known.length === 0 ? [] : queuedMethods.map((queued) => queued.slice(name.length + 1))
  return methods
    .filter((method) => !known.includes(method))
    .map((method) => {
      const near = nearest(method, known)
      const hint = near === undefined ? '' : `; the nearest is ${name}.${near}`
      return `service '${name}': queues.methods names ${name}.${method}, which its contract does not have${hint}. These settings have no effect`
    })
}

function nameMismatch({ name, contract }: TypedHost): string {
  return `service '${name}': its contract is named ${contract.name}, but the config names it ${name}. Callers must write client(contract, undefined, { service: '${name}' })`
}

function serverOptions(limits: Limits): Parameters<typeof createServer>[0] & object {
  const { headerTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits
  const headersTimeout = requestTimeout === 0 ? headerTimeout : Math.min(headerTimeout, requestTimeout)
  return { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize }
}

function listenerOptions(
  { path: folder, openapi }: Service,
  { limits: { maxInputSize, maxBodySize }, cors }: TypedSandbox,
): Parameters<typeof typedListener>[1] {
  const hops = (): number => currentScope()?.hops ?? 0
  const describes = openapi === undefined ? undefined : { path: openapi, folder }
  return { maxInputSize: Math.min(maxInputSize, maxBodySize), cors, hops, describes }
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : BusbarError.from(thrown).message
}

/** Creates the service that owns the queue. Undefined for every other service. */
async function openQueue(
  { queueSettings, stopTimeout }: Service,
  { mesh, metering }: { readonly mesh: TypedMesh; readonly metering?: Metering },
  log: Log,
): Promise<QueueHost | undefined> {
  if (queueSettings === undefined) return undefined
  // Loaded only here: it loads SQLite.
  const [module, { queueCalls }] = await Promise.all([
    import('../../queue/queue-host.ts'),
    import('../../mesh/typed/queue-calls.ts'),
  ])
  const calls = queueCalls(mesh)
  const known = new Map<string, QueueCells | undefined>()
  const { place } = queueSettings
  const isOwn = (name: string): boolean =>
    place.is === 'streams' ? place.services.includes(name) : calls.isKnown(name)
  const cells = (service: string): QueueCells | undefined => {
    if (isOwn(service) && !known.has(service)) known.set(service, metering?.queueOf(service))
    return known.get(service)
  }
  return new module.QueueHost({ settings: queueSettings, calls, log, cells, stopTimeout })
}
