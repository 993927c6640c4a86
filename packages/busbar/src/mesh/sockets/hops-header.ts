/**
 * The header that carries a request's hop count over connections. It is accepted only on
 * connections of this mesh, and removed before the program sees the request.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { replaceProperty } from '../../shared/process/replace-property.ts'
import { taskTrace } from '../../shared/traces/task-trace.ts'
import type { Router } from '../routing/router.ts'
import type { Trace } from '../../contract/context.ts'
import { currentScope, nextHops } from '../scope.ts'
import type { RequestToTrace, RequestTracing } from '../tracing/client-requests.ts'
import { parentField, readTrace, removeTrace, stateField } from '../tracing/trace-headers.ts'
import type { TracedCall } from '../tracing/traced-call.ts'

export const hopsHeader = 'busbar-hops'

type Names = Pick<Router, 'serviceOf'>
/** Returns the hop count of a call that is made now. */
type Next = () => number

const httpRequests = 'http.client.request.created'
const undiciRequests = 'undici:request:create'

/**
 * Adds the hop count to every request to a service. All clients publish their requests on these
 * channels.
 */
export function addHopsHeaders(names: Names, next: Next = nextHops, tracing?: RequestTracing): Disposable {
  const onHttp = (message: unknown): void => {
    const { request } = message as { request: ClientRequest & { socketPath?: string } }
    if (request.headersSent || request.socketPath) return
    const service = names.serviceOf(request.host)
    if (service === undefined) return
    const { method, path } = request
    const isFollowable = !request.hasHeader('upgrade') && method !== 'CONNECT'
    const given = traceOf(request)
    const { call, trace } = contextOf(tracing, { service, method, path }, given, isFollowable)
    request.setHeader(hopsHeader, valueOf(next(), call))
    if (trace === undefined) return
    if (given !== undefined) request.removeHeader(stateField)
    for (const [name, value] of fieldsOf(trace)) request.setHeader(name, value)
    if (call !== undefined) tracing!.follow(request, call)
  }
  const onUndici = (message: unknown): void => {
    const { request } = message as { request: UndiciRequest }
    const service = names.serviceOf(hostOf(request.origin))
    if (service === undefined) return
    const { method, path, headers, upgrade } = request
    const isFollowable = !upgrade && method !== 'CONNECT'
    const given = readTrace(headers)
    const { call, trace } = contextOf(tracing, { service, method, path }, given, isFollowable)
    request.addHeader(hopsHeader, valueOf(next(), call))
    if (trace === undefined) return
    if (given !== undefined) removeTrace(headers)
    for (const [name, value] of fieldsOf(trace)) request.addHeader(name, value)
    if (call !== undefined) tracing!.follow(request, call)
    onOwnTrace(request, (own) => {
      const again = contextOf(tracing, { service, method, path }, own, isFollowable)
      if (again.call !== undefined) tracing!.follow(request, again.call)
      return again.trace ?? own
    })
  }
  const installed = new DisposableStack()
  subscribe(httpRequests, onHttp)
  installed.defer(() => unsubscribe(httpRequests, onHttp))
  subscribe(undiciRequests, onUndici)
  installed.defer(() => unsubscribe(undiciRequests, onUndici))
  addToLists(names, next, tracing, installed)
  return installed
}

/**
 * Removes the hop count from a request and returns it. A program sees, and passes on, only what its
 * caller wrote. The last header counts: ours follows one that a caller has copied.
 */
export function takeHopsHeader(request: IncomingMessage): Hops | undefined {
  const { rawHeaders } = request
  const last = rawHeaders.findLastIndex((name, at) => at % 2 === 0 && isHopsHeader(name))
  if (last < 0) return undefined
  const value = rawHeaders[last + 1]!
  const hops = Number.parseInt(value, 10) || undefined
  // Node derives both objects from the list on first access, so access them before changing it.
  delete request.headers[hopsHeader]
  delete request.headersDistinct[hopsHeader]
  for (let at = last; at >= 0; at -= 2) if (isHopsHeader(rawHeaders[at]!)) rawHeaders.splice(at, 2)
  return hops === undefined ? undefined : { hops, isTraced: value.endsWith(traced) }
}

export interface Hops {
  readonly hops: number
  /** The caller records the call itself. */
  readonly isTraced: boolean
}

const traced = ';traced'

function valueOf(hops: number, call: TracedCall | undefined): string {
  return call === undefined ? String(hops) : `${hops}${traced}`
}

/** `given`: the context that the program has set itself. */
function contextOf(
  tracing: RequestTracing | undefined,
  request: RequestToTrace,
  given: Trace | undefined,
  isFollowable: boolean,
): Context {
  if (tracing !== undefined && isFollowable) {
    const call = tracing.begin(request, given)
    return { call, trace: call }
  }
  // An upgrade has no end that a client publishes: only the instance records it.
  if (given !== undefined) return { call: undefined, trace: undefined }
  return { call: undefined, trace: tracing === undefined ? taskTrace() : currentScope()?.trace }
}

interface Context {
  readonly call: TracedCall | undefined
  /** To be sent in place of what was given. */
  readonly trace: Trace | undefined
}

/**
 * A program may add its own context later, when the request is published to it: so does
 * OpenTelemetry's instrumentation. It replaces ours. `replace` returns what is sent.
 */
function onOwnTrace(request: UndiciRequest, replace: (own: Trace) => Trace): void {
  const addHeader = request.addHeader.bind(request)
  request.addHeader = (name, value) => {
    if (name.toLowerCase() !== parentField) return addHeader(name, value)
    removeTrace(request.headers)
    return addHeader(name, replace({ traceparent: value }).traceparent)
  }
}

function traceOf(request: ClientRequest): Trace | undefined {
  const traceparent = request.getHeader(parentField)
  if (traceparent === undefined) return undefined
  const tracestate = request.getHeader(stateField)
  return { traceparent: String(traceparent), ...(tracestate !== undefined && { tracestate: String(tracestate) }) }
}

function fieldsOf({ traceparent, tracestate }: Trace): [string, string][] {
  const fields: [string, string][] = [[parentField, traceparent]]
  return tracestate === undefined ? fields : [...fields, [stateField, tracestate]]
}

function isHopsHeader(name: string): boolean {
  return name.length === hopsHeader.length && name.toLowerCase() === hopsHeader
}

type Request = (this: unknown, ...args: unknown[]) => ClientRequest

/**
 * Adds the headers to requests whose headers are a list. Node has made text of a list before it
 * publishes the request, so it is too late then.
 */
function addToLists(names: Names, next: Next, tracing: RequestTracing | undefined, installed: DisposableStack): void {
  installed.defer(syncBuiltinESMExports)
  const functions = http as unknown as Record<'request' | 'get', Request>
  for (const name of ['request', 'get'] as const)
    replaceProperty(installed, functions, name, (original) => {
      return function (...args) {
        const { given, call } = withHops(args, names, next, tracing)
        const request = Reflect.apply(original, this, given)
        if (call !== undefined) tracing!.follow(request, call)
        return request
      }
    })
  syncBuiltinESMExports()
}

function withHops(args: unknown[], names: Names, next: Next, tracing: RequestTracing | undefined): WithHops {
  const at = args.findIndex((arg) => Array.isArray((arg as RequestOptions | undefined)?.headers))
  if (at < 0) return { given: args, call: undefined }
  const { headers, ...options } = args[at] as RequestOptions & { headers: string[] | [string, string][] }
  const url = at > 0 ? URL.parse(String(args[0])) : null
  const host = options.hostname ?? options.host ?? url?.hostname
  const service = host && !options.socketPath ? names.serviceOf(host) : undefined
  if (service === undefined) return { given: args, call: undefined }
  const method = options.method ?? 'GET'
  const path = options.path ?? (url === null ? '/' : url.pathname + url.search)
  const fields = headers.flat().map(String)
  const isFollowable =
    method !== 'CONNECT' && !fields.some((name, n) => n % 2 === 0 && name.toLowerCase() === 'upgrade')
  const given = readTrace(fields)
  const { call, trace } = contextOf(tracing, { service, method, path }, given, isFollowable)
  const left = given === undefined || trace === undefined ? headers : withoutTrace(headers.flat())
  const own = [[hopsHeader, valueOf(next(), call)], ...(trace === undefined ? [] : fieldsOf(trace))]
  const all = Array.isArray(left[0]) ? [...left, ...own] : [...left, ...own.flat()]
  return { given: args.with(at, { ...options, headers: all }), call }
}

function withoutTrace(fields: string[]): string[] {
  removeTrace(fields)
  return fields
}

interface WithHops {
  readonly given: unknown[]
  readonly call: TracedCall | undefined
}

interface UndiciRequest {
  readonly origin: string | URL
  readonly method: string
  readonly path: string
  readonly upgrade: unknown
  /** Name, value, name, value… */
  readonly headers: string[]
  addHeader: (name: string, value: string) => unknown
}

/** The host of `http://host:port`. Parsing a URL is slower. */
function hostOf(origin: string | URL): string {
  if (typeof origin !== 'string') return origin.hostname
  const start = origin.indexOf('//') + 2
  const port = origin.indexOf(':', start)
  if (port !== -1) return origin.slice(start, port)
  return origin.endsWith('/') ? origin.slice(start, -1) : origin.slice(start)
}
