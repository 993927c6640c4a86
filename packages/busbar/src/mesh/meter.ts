import type { ServerResponse } from 'node:http'
// The global of the same name is an accessor, which takes a sixth of the time of a reading.
import { performance } from 'node:perf_hooks'
import type { CallEdge } from '../contract/call/call-edge.ts'
import type { EdgeCells } from '../shared/metrics/edge-cells.ts'
import { type EdgeKey, type EdgeTable, noStatus, outside, type Transport } from '../shared/metrics/edge-table.ts'
import { Sampler } from '../shared/metrics/sampler.ts'
import { stripPrefix } from '../shared/strip-prefix.ts'
import type { SpanKind } from '../shared/traces/span.ts'
import type { PathTemplate, PathTemplates } from '../shared/path-templates/path-templates.ts'

/** Counts the calls of this worker, and measures how long they take. */
export class Meter extends Sampler {
  readonly #table: EdgeTable
  readonly #templates: PathTemplates | undefined
  /**
   * The edges of HTTP, by template, or by the callee of paths without one. There are few, and a
   * call makes no text to find its own.
   */
  readonly #http = new Map<PathTemplate | string, KnownEdge[]>()

  constructor(table: EdgeTable, templates?: PathTemplates) {
    super()
    this.#table = table
    this.#templates = templates
  }

  /**
   * Always the same for the same call over HTTP. `caller`: a service, or undefined for code outside
   * any. `url`: as the callee gets it.
   */
  http(caller: string | undefined, callee: string, method: string, transport: Transport, url: string): Edge {
    return this.#edgeOf({ caller, method, transport, prefix: '' }, callee, this.#templates?.find(callee, method, url))
  }

  /** Of a request from outside. `url`: as the client sent it. */
  arriving({ service, prefix, strippedPrefix }: MeteredRoute, method: string, transport: Transport, url: string): Edge {
    const template =
      this.#templates?.has(service) === true
        ? this.#templates.find(service, method, stripPrefix(url, strippedPrefix))
        : undefined
    const shown = template === undefined ? prefix || '/' : strippedPrefix
    return this.#edgeOf({ caller: undefined, method, transport, prefix: shown }, service, template)
  }

  #edgeOf(call: HttpCall, callee: string, template: PathTemplate | undefined): Edge {
    const { caller, method, transport, prefix } = call
    const edges = this.#http.get(template ?? callee) ?? []
    for (const one of edges)
      if (one.method === method && one.caller === caller && one.transport === transport && one.prefix === prefix)
        return one.edge
    const name = knownMethods.has(method) ? method : '_OTHER'
    const route = template === undefined ? prefix : routeOf(prefix, template)
    const key = { caller: caller ?? outside, callee, protocol: 'http', method: name, route, transport } as const
    const edge = this.#add(key, { part: 'call', caller, service: callee, protocol: 'http', method, transport })
    // Callers may use any name of a method.
    if (edges.length < remembered) this.#http.set(template ?? callee, [...edges, { ...call, edge }])
    return edge
  }

  /**
   * Of a call over HTTP to an instance in this thread, which remembers the edges: to find them by
   * the service's name cost 0.8 % of a fan-out to four services (`bench/edges.ts`).
   */
  inThread(callee: CalledInThread, caller: string | undefined, method: string, url: string): Edge {
    const template = this.#templates?.find(callee.service, method, url)
    const call = { caller, method, transport: 'local', prefix: '' } as const
    if (template !== undefined) return this.#edgeOf(call, callee.service, template)
    const known = callee.edges?.of === this ? callee.edges.all : []
    for (const one of known) if (one.method === method && one.caller === caller) return one.edge
    const edge = this.#edgeOf(call, callee.service, undefined)
    if (known.length < remembered) callee.edges = { of: this, all: [...known, { caller, method, edge }] }
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
    return new Edge(this, this.#table.add(key), spans)
  }
}

interface KnownCaller {
  readonly caller: string | undefined
  readonly method: string
  readonly edge: Edge
}

/** What distinguishes the calls to one template, or to one service without. */
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
function routeOf(prefix: string, { path }: PathTemplate): string {
  return prefix !== '' && path === '/' ? prefix : prefix + path
}

/** An instance in this thread. */
export interface CalledInThread {
  readonly service: string
  /** The edges of the calls to it. The meter writes it. */
  edges?: { readonly of: Meter; readonly all: readonly KnownCaller[] } | undefined
}

/** For each callee. A call of any further edge searches the table. */
const remembered = 200

/** The methods that OpenTelemetry's conventions distinguish. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'])

export interface CountedEdge extends CallEdge {
  /** No instance has taken the call that began: the caller gets a refused connection. */
  withdraw(): void
}

/** Counts the calls of one caller to one method or route of a service. */
export class Edge implements CountedEdge {
  /** Of its calls, if they are traced: one object for all of them. */
  readonly spans: SpanKind
  readonly #sampler: Sampler
  readonly #cells: EdgeCells
  #isMeasured = false

  constructor(sampler: Sampler, cells: EdgeCells, spans: SpanKind) {
    this.spans = spans
    this.#sampler = sampler
    this.#cells = cells
  }

  begin(): number | undefined {
    this.#cells.begin()
    // The first call always is: the others of a busy worker may be few.
    if (this.#sampler.next() === 0 && this.#isMeasured) return undefined
    this.#isMeasured = true
    return performance.now()
  }

  end(status: number, began: number | undefined): void {
    this.#cells.end(status, began === undefined ? undefined : performance.now() - began)
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
  return !req.socket.readableEnded && req.socket.errored === null
}

/** The status with which a closed response counts for its edge. */
export function outcomeOf(
  response: Pick<ServerResponse, 'statusCode' | 'headersSent' | 'writableFinished' | 'req'>,
): number {
  const { statusCode, headersSent } = response
  return !headersSent || (statusCode < 500 && isFailedResponse(response)) ? noStatus : statusCode
}
