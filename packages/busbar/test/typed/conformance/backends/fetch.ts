import { client } from '../../../../src/contract/client-entry.ts'
import { fetchHandler } from '../../../../src/contract/fetch-entry.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'

/** Passes request and response objects, without a server. */
export const fetched: Backend = {
  name: 'a fetch handler',
  aliases: false,
  async start({ implementation, log }) {
    const handler = fetchHandler(implementation, { log, maxInputSize: 16 * 1024 * 1024, prefix: '/api' })
    const fetch: typeof globalThis.fetch = (input, init) => handler(new Request(input, init))
    return {
      probe: client(probe, 'http://probe.example/api', { fetch }),
      stop: async () => await handler[Symbol.asyncDispose](),
    }
  },
}
