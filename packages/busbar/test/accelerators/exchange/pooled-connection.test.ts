/** Successive requests on a connection of the pool do not affect each other. */
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { startMesh } from '../../../src/mesh/mesh.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { exchanges, streams, unless } from '../../support/mesh/accelerators.ts'

interface Seen {
  readonly port: number | undefined
  readonly url: string
  readonly headers: readonly string[]
  readonly trailers: NodeJS.Dict<string>
  readonly rawTrailers: readonly string[]
  readonly length: number
}

const large = 'x'.repeat(256 * 1024)

const firstBodies: Readonly<Record<string, () => RequestInit>> = {
  'a streamed body': () => ({ body: new Blob(['streamed']).stream(), duplex: 'half' }),
  'a large body': () => ({ body: large }),
  'a small body': () => ({ body: 'small' }),
}

describe('the next request on a connection after', { skip: unless('exchange') }, () => {
  for (const [name, first] of Object.entries(firstBodies))
    for (const [next, init] of Object.entries({ GET: {}, POST: { method: 'POST', body: 'next' } }))
      test(`${name} is the same as a ${next} alone`, async () => {
        const seen: Seen[] = []
        const router = new Router(['catalog'])
        await using endpoint = new TestEndpoint('catalog', (request, response) => void note(seen, request, response))
        router.add(endpoint)
        await using _mesh = await startMesh({ router, maxHops: 8, exchanges, streams })
        const ask = async (more: RequestInit): Promise<void> => {
          const response = await fetch('http://catalog.internal/', more)
          await response.text()
        }
        await ask(init)
        await ask({ method: 'POST', ...first() })
        await ask(init)
        const [alone, before, behind] = seen
        assert.equal(behind?.port, before?.port)
        assert.deepEqual(behind, alone)
        assert.deepEqual(before?.rawTrailers, [])
      })
})

async function note(seen: Seen[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { length } = await text(request)
  const { url = '', rawHeaders: headers, trailers, rawTrailers } = request
  seen.push({ port: request.socket.remotePort, url, headers, trailers: { ...trailers }, rawTrailers, length })
  response.end()
}
