import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { announceHops } from '../mesh/sockets/announce-hops.ts'
import { takeHops } from '../mesh/sockets/hops-header.ts'
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
  announceHops(access, () => hops.current() + 1)
  return hops
}
