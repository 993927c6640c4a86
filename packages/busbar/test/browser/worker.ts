/** A service worker that answers the calls of the page. */
import * as z from 'zod'
import { fetchHandler } from '../../src/contract/fetch-entry.ts'
import { fn, service, stream } from '../../src/contract/index.ts'

/** The used part: these sources are checked with Node's types, which do not have it. */
interface FetchEvent {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}
interface WaitEvent {
  waitUntil(done: Promise<unknown>): void
}
declare const self: {
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
  addEventListener(type: 'install' | 'activate', listener: (event: WaitEvent) => void): void
  skipWaiting(): Promise<void>
  readonly clients: { claim(): Promise<void> }
}

const sums = service('sums', {
  add: fn({ input: z.object({ a: z.int(), b: z.int() }), output: z.int() }),
  count: stream({ input: z.object({ to: z.int() }), output: z.int() }),
})

const handler = fetchHandler(
  sums.implement({
    add: ({ a, b }) => a + b,
    async *count({ to }) {
      for (let at = 1; at <= to; at++) yield at
    },
  }),
  { prefix: '/api' },
)

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()))
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
self.addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname.startsWith('/api/')) event.respondWith(handler(event.request))
})
