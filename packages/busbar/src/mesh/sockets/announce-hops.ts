import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http, { type ClientRequest, type RequestOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { replace } from '../../shared/replace.ts'
import { hopsHeader, nextHops } from '../hops.ts'
import type { Router } from '../router.ts'

type Names = Pick<Router, 'serviceOf'>
/** Of a call that is made now. */
type Next = () => number

const httpRequests = 'http.client.request.created'
const undiciRequests = 'undici:request:create'

/** Says in every request to a service how many calls led to it; whichever client makes it, since all announce them. */
export function announceHops(names: Names, next: Next = nextHops): Disposable {
  const onHttp = (message: unknown): void => {
    const { request } = message as { request: ClientRequest & { socketPath?: string } }
    if (!request.headersSent && !request.socketPath && names.serviceOf(request.host) !== undefined)
      request.setHeader(hopsHeader, next())
  }
  const onUndici = (message: unknown): void => {
    const { request } = message as { request: UndiciRequest }
    if (names.serviceOf(hostOf(request.origin)) !== undefined) request.addHeader(hopsHeader, String(next()))
  }
  const installed = new DisposableStack()
  subscribe(httpRequests, onHttp)
  installed.defer(() => unsubscribe(httpRequests, onHttp))
  subscribe(undiciRequests, onUndici)
  installed.defer(() => unsubscribe(undiciRequests, onUndici))
  addToLists(names, next, installed)
  return installed
}

type Request = (this: unknown, ...args: unknown[]) => ClientRequest

/** Headers that are given as a list have become text when the request is announced. */
function addToLists(names: Names, next: Next, installed: DisposableStack): void {
  installed.defer(syncBuiltinESMExports)
  const functions = http as unknown as Record<'request' | 'get', Request>
  for (const name of ['request', 'get'] as const)
    replace(installed, functions, name, (original) => {
      return function (...args) {
        return Reflect.apply(original, this, withHops(args, names, next))
      }
    })
  syncBuiltinESMExports()
}

function withHops(args: unknown[], names: Names, next: Next): unknown[] {
  const at = args.findIndex((arg) => Array.isArray((arg as RequestOptions | undefined)?.headers))
  if (at < 0) return args
  const { headers, ...options } = args[at] as RequestOptions & { headers: string[] | [string, string][] }
  const host = options.hostname ?? options.host ?? (at > 0 && URL.parse(String(args[0]))?.hostname)
  if (!host || options.socketPath || names.serviceOf(host) === undefined) return args
  const own = [hopsHeader, String(next())]
  return args.with(at, { ...options, headers: Array.isArray(headers[0]) ? [...headers, own] : [...headers, ...own] })
}

interface UndiciRequest {
  readonly origin: string | URL
  addHeader(name: string, value: string): unknown
}

/** Of `http://host:port`, without the price of parsing a URL. */
function hostOf(origin: string | URL): string {
  if (typeof origin !== 'string') return origin.hostname
  const start = origin.indexOf('//') + 2
  const port = origin.indexOf(':', start)
  if (port !== -1) return origin.slice(start, port)
  return origin.endsWith('/') ? origin.slice(start, -1) : origin.slice(start)
}
