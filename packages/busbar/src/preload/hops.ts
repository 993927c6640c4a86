import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { hopsHeader } from '../mesh/hops.ts'
import type { Access } from './access.ts'

/** How many calls led to what runs now. */
export interface Hops {
  current(): number
}

/**
 * Says in every request to a service how many calls led to it, and takes the number out of requests that come: a program sees,
 * and passes on, just what its caller wrote.
 */
export function countHops(access: Access): Hops {
  const storage = new AsyncLocalStorage<number>()
  const hops: Hops = { current: () => storage.getStore() ?? access.hops }
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage }
    storage.enterWith(takeHops(request) ?? access.hops)
  })
  subscribe('http.client.request.created', (message) => {
    const { request } = message as { request: ClientRequest }
    // Headers that were given as a list are under way already: the number of the connection counts for them.
    if (access.serviceOf(request.host) !== undefined && !request.headersSent)
      request.setHeader(hopsHeader, hops.current() + 1)
  })
  subscribe('undici:request:create', (message) => {
    const { request } = message as { request: UndiciRequest }
    if (access.serviceOf(new URL(request.origin).hostname) !== undefined)
      request.addHeader(hopsHeader, String(hops.current() + 1))
  })
  return hops
}

interface UndiciRequest {
  readonly origin: string | URL
  addHeader(name: string, value: string): unknown
}

function takeHops(request: IncomingMessage): number | undefined {
  const raw = request.rawHeaders
  const at = raw.findLastIndex((name, index) => index % 2 === 0 && name.toLowerCase() === hopsHeader)
  if (at < 0) return undefined
  const hops = Number.parseInt(raw[at + 1]!, 10) || undefined
  // Read before the list changes: Node makes them of it once.
  delete request.headers[hopsHeader]
  delete request.headersDistinct[hopsHeader]
  for (let index = raw.length - 2; index >= 0; index -= 2)
    if (raw[index]!.toLowerCase() === hopsHeader) raw.splice(index, 2)
  return hops
}
