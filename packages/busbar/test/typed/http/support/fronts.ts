import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import * as z from 'zod'
import { client } from '../../../../src/contract/client-entry.ts'
import { fn, service, stream, type, type Implementation } from '../../../../src/contract/index.ts'
import { fetchHandler } from '../../../../src/contract/fetch-entry.ts'
import { startHost } from '../../../../src/contract/host/typed-host.ts'
import { typedListener } from '../../../../src/gateway/typed/request-listener.ts'

export const shop = service('shop', {
  put: fn({ input: z.object({ id: z.int(), list: z.array(z.int()).optional() }), output: type<unknown>() }),
  any: fn({ input: z.any(), output: type<unknown>() }),
  product: fn({ input: z.object({ id: z.int() }), output: type<unknown>(), http: 'GET /products/{id}' }),
  top: fn({ output: type<string>(), http: 'GET /products/top' }),
  list: fn({ input: z.object({ from: z.int().default(1) }), output: type<unknown>(), http: 'GET /products' }),
  sold: fn({ output: type<unknown>() }),
  hang: fn({ output: type<unknown>() }),
  late: stream({ output: type<number>() }),
  ticks: stream({ output: z.int() }),
})

/** The servers under test. */
export interface Front {
  readonly listener: RequestListener
  stop(): Promise<void>
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
export const maxInputSize = 1_000_000
export const cors = ['https://page.example']

export const fronts: Record<string, (implementation: Implementation) => Promise<Front>> = {
  'a server of Node': async (implementation) => {
    const host = await startHost(implementation, { name: 'shop', log: quiet, clone: false, maxInFlight: 100, client })
    const stop = async (): Promise<void> => {
      assert.equal(host.inFlight, 0)
      await host.stop(0)
    }
    return { listener: typedListener(host, { maxInputSize, cors }), stop }
  },
  'a fetch handler': async (implementation) => {
    const handler = fetchHandler(implementation, { log: quiet, maxInputSize, cors })
    const listener = getRequestListener(handler) as RequestListener
    return { listener, stop: async () => await handler[Symbol.asyncDispose]() }
  },
}
