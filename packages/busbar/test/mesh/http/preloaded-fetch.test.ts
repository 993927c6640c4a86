import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { startMesh } from '../../../src/mesh/mesh.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { exchanges, streams } from '../../support/mesh/accelerators.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

const program = () => createServer((request, response) => response.end(String(request.headers['x-wrapped'])))

test('a `fetch` that was wrapped before the mesh started gets the calls to services', async () => {
  const { fetch } = globalThis
  globalThis.fetch = (...args) => {
    const request = new Request(...args)
    request.headers.set('x-wrapped', 'yes')
    return fetch(request)
  }
  try {
    const router = new Router(['catalog'])
    await using endpoint = new TestEndpoint('catalog', program())
    router.add(endpoint)
    await using _mesh = await startMesh({ router, maxHops: 5, exchanges, streams })
    assert.equal(await (await globalThis.fetch('http://catalog.internal/')).text(), 'yes')
  } finally {
    globalThis.fetch = fetch
  }
})
