import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
// The global of the same name is an accessor, which takes a sixth of the time of a reading.
import { performance } from 'node:perf_hooks'
import type { CallEdge } from '../contract/call/call-edge.ts'
import type { EdgeCells } from '../shared/metrics/edge-cells.ts'
import { noWorker, pairOf, workerOf } from '../shared/metrics/worker-pair.ts'
import { type EdgeKey, type EdgeTable, noStatus, outside, type Transport } from '../shared/metrics/edge-table.ts'
import { Sampler } from '../shared/metrics/sampler.ts'
import { stripPrefix } from '../shared/strip-prefix.ts'
import type { SpanKind } from '../shared/traces/span.ts'
import { maxRouteLength } from '../shared/path-templates/known-templates.ts'
import { PathTemplates, type ServicePaths } from '../shared/path-templates/path-templates.ts'

/** By which a meter counts calls over HTTP: a path template of a service, or all other paths. */
export interface CountedRoute {
  readonly path: string | undefined
  /** There are few, and a call makes no text to find its own. The meter writes them. */
  edges: readonly KnownEdge[]
}

export type CountedPaths = PathTemplates<CountedRoute>

export function countedPaths(): CountedPaths {
  return new PathTemplates((path) => ({ path, edges: [] }))
}

/** Counts the calls of this worker, and measures how long they take. */
export class Meter extends Sampler {
  /** This worker, as `worker-pair.ts` numbers it. */
  readonly worker: number
  readonly #table: EdgeTable
  readonly #paths: CountedPaths
  readonly #callees = new Map<string, Callee>()

  /** `slot`: that of this worker. `paths`: of this meter alone. */
  constructor(table: EdgeTable, slot?: number, paths = countedPaths()) {
    super()
    this.worker = workerOf(slot)
    this.#table = table
    this.#paths = paths
  }

  /**
   * Always the same for the same call over HTTP. `caller`: a service, or undefined for code outside
   * any. `url`: as the callee gets it.
   */
  http(caller: string | undefined, callee: string, method: string, transport: Transport, url: string): Edge {
    const counted = this.#calleeOf(callee)
    return this.#edgeOf(counted, routeIn(counted, method, url), { caller, method, transport, prefix: '' })
  }

  /** Of a request from outside. `url`: as the client sent it. */
  arriving({ service, prefix, strippedPrefix }: MeteredRoute, method: string, transport: Transport, url: string): Edge {
    const counted = this.#calleeOf(service)
    const route = routeIn(counted, method, stripPrefix(url, strippedPrefix))
    const hasRoom = strippedPrefix.length + (route.path ?? '').length <= maxRouteLength
    const call = { caller: undefined, method, transport } as const
    if (route.path !== undefined && hasRoom) return this.#edgeOf(counted, route, { ...call, prefix: strippedPrefix })
    return this.#edgeOf(counted, counted.others, { ...call, prefix: prefix || '/' })
  }

  /**
   * Of a call over HTTP to an instance in this thread, which remembers what counts it: to find that
   * by the service's name cost 0.8 % of a fan-out to four services (`bench/edges.ts`).
   */
  inThread(endpoint: CalledInThread, caller: string | undefined, method: string, url: string): Edge {
    if (endpoint.counted?.of !== this) endpoint.counted = { of: this, callee: this.#calleeOf(endpoint.service) }
    const { callee } = endpoint.counted
    const route = routeIn(callee, method, url)
    for (const one of route.edges)
      if (one.method === method && one.caller === caller && one.transport === 'local' && one.prefix === '')
        return one.edge
    return this.#edgeOf(callee, route, { caller, method, transport: 'local', prefix: '' })
  }

  /** The template by which a call that is counted elsewhere has its route. */
  templateOf(service: string, method: string, url: string): string | undefined {
    return this.#paths.of(service).find(method, url)?.path
  }

  #calleeOf(service: string): Callee {
    const known = this.#callees.get(service)
    if (known !== undefined) return known
    const callee = { service, paths: this.#paths.of(service), others: { path: undefined, edges: [] } }
    this.#callees.set(service, callee)
    return callee
  }

  #edgeOf(callee: Callee, route: CountedRoute, call: HttpCall): Edge {
    const { caller, method, transport, prefix } = call
    for (const one of route.edges)
      if (one.method === method && one.caller === caller && one.transport === transport && one.prefix === prefix)
        return one.edge
    const { service } = callee
    const name = knownMethods.has(method) ? method : '_OTHER'
    const [from, shown] = [caller ?? outside, routeText(prefix, route)]
    const key = { caller: from, callee: service, protocol: 'http', method: name, route: shown, transport } as const
    const edge = this.#add(key, { part: 'call', caller, service, protocol: 'http', method, transport })
    // Callers may use any name of a method.
    if (route.edges.length < remembered) route.edges = [...route.edges, { ...call, edge }]
    return edge
  }

  /** For a method of a typed service. The caller keeps it. */
  rpc(caller: string | undefined, callee: string, method: string, transport: Transport): Edge {
    const key = { caller: caller ?? outside, callee, protocol: 'rpc', method, route: '', transport } as const
    return this.#add(key, { part: 'call', caller, service: callee, protocol: 'rpc', method, transport })
  }

  /** The calls of a service to typed services that are not over. */
  typedInFlightOf(caller: string): number {
    return this.#table.typedInFlightOf(caller)
  }

  #add(key: EdgeKey, spans: SpanKind): Edge {
    return new Edge(this, this.#table.add(key), { spans, route: key.route, worker: this.worker })
  }
}

/** A service, as calls to it over HTTP are counted. */
interface Callee {
  readonly service: string
  readonly paths: ServicePaths<CountedRoute>
  /** Of paths without a template. */
  readonly others: CountedRoute
}

function routeIn({ paths, others }: Callee, method: string, url: string): CountedRoute {
  return paths.find(method, url) ?? others
}

/** What distinguishes the calls of one route. */
interface HttpCall {
  readonly caller: string | undefined
  readonly method: string
  readonly transport: Transport
  /** What comes before the template. Without one: the whole route. */
  readonly prefix: string
}

interface KnownEdge extends HttpCall {
  readonly edge: Edge
}

/** Where requests from outside get to a service: a route of the gateway. */
export interface MeteredRoute {
  readonly service: string
  readonly prefix: string
  /** What of the path the service does not get. */
  readonly strippedPrefix: string
}

/** Of a program that gets the requests of its own port. */
export function wholeService(service: string): MeteredRoute {
  return { service, prefix: '', strippedPrefix: '' }
}

/** `/shop` leads to the service's `/`. */
function routeText(prefix: string, { path = '' }: CountedRoute): string {
  return prefix !== '' && path === '/' ? prefix : prefix + path
}

/** An instance in this thread. */
export interface CalledInThread {
  readonly service: string
  /** What counts the calls to it. The meter writes it. */
  counted?: { readonly of: Meter; readonly callee: Callee } | undefined
}

/** For each route. A call of any further edge searches the table. */
const remembered = 200

/** The methods that OpenTelemetry's conventions distinguish. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'])

export interface CountedEdge extends CallEdge {
  /** No instance has taken the call that began: the caller gets a refused connection. */
  withdraw(): void
  /** The route by which it counts. */
  readonly route?: string
  /** With the same arguments, the workers for which `end` counts. */
  workers?(callee?: number, caller?: number): number
}

interface EdgeParts {
  readonly spans: SpanKind
  readonly route: string
  /** This one. */
  readonly worker: number
}

/** Counts the calls of one caller to one method or route of a service. */
export class Edge implements CountedEdge {
  /** Of its calls, if they are traced: one object for all of them. */
  readonly spans: SpanKind
  readonly route: string
  readonly #sampler: Sampler
  readonly #cells: EdgeCells
  /** Of most calls: this one. Who is outside has no worker. */
  readonly #caller: number
  readonly #callee: number
  #isMeasured = false

  constructor(sampler: Sampler, cells: EdgeCells, { spans, route, worker }: EdgeParts) {
    this.spans = spans
    this.route = route
    this.#sampler = sampler
    this.#cells = cells
    this.#caller = spans.caller === undefined ? noWorker : worker
    this.#callee = worker
  }

  begin(): number | undefined {
    this.#cells.begin()
    // The first call always is: the others of a busy worker may be few.
    if (this.#sampler.next() === 0 && this.#isMeasured) return undefined
    this.#isMeasured = true
    return performance.now()
  }

  end(status: number, began: number | undefined, callee = this.#callee, caller = this.#caller): void {
    this.#cells.end(status, began === undefined ? undefined : performance.now() - began, pairOf(caller, callee))
  }

  workers(callee = this.#callee, caller = this.#caller): number {
    return pairOf(caller, callee)
  }

  retried(): void {
    this.#cells.retried()
  }

  withdraw(): void {
    this.#cells.withdraw()
  }
}

/**
 * True if a closed response counts as a failed call: it never started, its status is 5xx, or it is
 * incomplete although the caller still waits. The state of the caller's connection tells which side
 * ended it.
 */
export function isFailedResponse({
  statusCode,
  headersSent,
  writableFinished,
  req,
}: Pick<ServerResponse, 'statusCode' | 'headersSent' | 'writableFinished' | 'req'>): boolean {
  if (!headersSent || statusCode >= 500) return true
  if (writableFinished) return false
  // undici takes it off a request whose body a program has passed on.
  const socket = req.socket as Socket | null
  return socket === null || (!socket.readableEnded && socket.errored === null)
}

/** The status with which a closed response counts for its edge. */
export function outcomeOf(
  response: Pick<ServerResponse, 'statusCode' | 'headersSent' | 'writableFinished' | 'req'>,
): number {
  const { statusCode, headersSent } = response
  return !headersSent || (statusCode < 500 && isFailedResponse(response)) ? noStatus : statusCode
}
