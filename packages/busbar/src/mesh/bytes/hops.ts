import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { hopsHeader, nextHops } from '../hops.ts'
import type { Router } from '../router.ts'

const httpRequests = 'http.client.request.created'
const undiciRequests = 'undici:request:create'

/** Says in every request to a service how many calls led to it; whichever client makes it, since all announce them. */
export function announceHops(router: Router): Disposable {
  const onHttp = (message: unknown): void => {
    const { request } = message as { request: ClientRequest & { socketPath?: string } }
    if (!request.socketPath && router.serviceOf(request.host) !== undefined) addToHttp(request)
  }
  const onUndici = (message: unknown): void => {
    const { request } = message as { request: UndiciRequest }
    if (router.serviceOf(hostOf(request.origin)) !== undefined) request.addHeader(hopsHeader, String(nextHops()))
  }
  subscribe(httpRequests, onHttp)
  subscribe(undiciRequests, onUndici)
  return {
    [Symbol.dispose]() {
      unsubscribe(httpRequests, onHttp)
      unsubscribe(undiciRequests, onUndici)
    },
  }
}

/**
 * The number in a request that came through the mesh, which is taken out of it: a program sees, and passes on, just what
 * its caller wrote. The last one counts, since ours comes behind those of a caller that copies headers.
 */
export function takeHops(request: IncomingMessage): number | undefined {
  const raw = request.rawHeaders
  const before = raw.length
  let hops: number | undefined
  for (let at = raw.length - 2; at >= 0; at -= 2) {
    if (raw[at]!.length !== hopsHeader.length || raw[at]!.toLowerCase() !== hopsHeader) continue
    hops ??= Number.parseInt(raw[at + 1]!, 10) || undefined
    raw.splice(at, 2)
  }
  // `headers` is built from these when first read, which has not happened yet; this tells it the new length.
  if (raw.length !== before) (request as IncomingMessage & MessageInternals)._addHeaderLines(raw, raw.length)
  return hops
}

interface UndiciRequest {
  readonly origin: string | URL
  addHeader(name: string, value: string): unknown
}

interface MessageInternals {
  _addHeaderLines(raw: string[], length: number): void
}

/** Headers given as a list are rendered as soon as the request is made; ours then goes in before the empty line. */
function addToHttp(request: ClientRequest): void {
  const rendered = request as unknown as { _header: string | null }
  if (rendered._header === null) request.setHeader(hopsHeader, nextHops())
  else rendered._header = `${rendered._header.slice(0, -2)}${hopsHeader}: ${nextHops()}\r\n\r\n`
}

/** Of `http://host:port`, without the price of parsing a URL. */
function hostOf(origin: string | URL): string {
  if (typeof origin !== 'string') return origin.hostname
  const start = origin.indexOf('//') + 2
  const port = origin.indexOf(':', start)
  if (port !== -1) return origin.slice(start, port)
  return origin.endsWith('/') ? origin.slice(start, -1) : origin.slice(start)
}
