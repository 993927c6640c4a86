import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { startMesh } from '../../src/mesh/mesh.ts'
import { Router } from '../../src/mesh/routing/router.ts'
import { currentScope } from '../../src/mesh/scope.ts'
import { exchanges, streams } from '../support/mesh/accelerators.ts'
import { clients, textOf } from '../support/http/clients.ts'
import { TestEndpoint } from '../support/mesh/test-endpoint.ts'

/** The complete mesh of a thread, as a worker starts it. */
async function withMesh(
  services: Record<string, RequestListener>,
  use: () => Promise<void>,
  maxHops = 8,
): Promise<void> {
  const router = new Router(Object.keys(services))
  await using endpoints = new AsyncDisposableStack()
  for (const [service, program] of Object.entries(services))
    router.add(endpoints.use(new TestEndpoint(service, program)))
  await using _mesh = await startMesh({ router, maxHops, exchanges, streams })
  await use()
  await endpoints.disposeAsync()
  // Clients that share connections between tests see in the next turns that theirs ended.
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

async function ask(client: string, url: string): Promise<{ status: number; text: string }> {
  await using caller = clients[client]!(new URL(url).origin)
  const { status, body } = await caller.send({ url })
  return { status, text: await textOf(body) }
}

const tellHops: RequestListener = (_request, response) => void response.end(String(currentScope()?.hops))

const pairs = [
  ['fetch', 'node:http'],
  ['node:http', 'fetch'],
  ['undici 8 fetch', 'got'],
  ['axios', 'undici 7 own global dispatcher'],
  ['undici 6 own global dispatcher', 'undici 8 Pool'],
] as const

describe('the mesh of a thread', () => {
  for (const name of Object.keys(clients))
    test(`is reached by ${name}`, async () => {
      await withMesh({ catalog: tellHops }, async () => {
        assert.deepEqual(await ask(name, 'http://catalog.internal/'), { status: 200, text: '1' })
      })
    })

  for (const [first, second] of pairs) {
    test(`counts a chain of calls by ${first}, then by ${second}`, async () => {
      const shop: RequestListener = (_request, response) => {
        void ask(second, 'http://catalog.internal/').then(({ text }) => response.end(text))
      }
      await withMesh({ shop, catalog: tellHops }, async () => {
        assert.equal((await ask(first, 'http://shop.internal/')).text, '2')
      })
    })

    test(`ends an endless chain of calls by ${first} and ${second} in turns`, async () => {
      const passing = (client: string, to: string): RequestListener => {
        return (_request, response) => {
          void ask(client, to).then(({ status, text }) => response.writeHead(status).end(text))
        }
      }
      const services = {
        shop: passing(first, 'http://catalog.internal/'),
        catalog: passing(second, 'http://shop.internal/'),
      }
      await withMesh(services, async () => {
        const { status, text } = await ask(first, 'http://shop.internal/')
        assert.equal(status, 508)
        assert.equal((JSON.parse(text) as { code: string }).code, 'HOP_LIMIT')
      })
    })
  }

  test('returns every client to the network when it ends', async () => {
    const { fetch } = globalThis
    await withMesh({ catalog: tellHops }, async () => {})
    assert.equal(globalThis.fetch, fetch)
    await assert.rejects(globalThis.fetch('http://catalog.internal/'))
  })
})
