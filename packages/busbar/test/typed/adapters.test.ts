import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import * as z from 'zod'
import { client } from '../../src/contract/client-entry.ts'
import { fn, service } from '../../src/contract/index.ts'
import { fastifyPlugin, nodeListener } from '../../src/gateway/typed/adapters/index.ts'

/** Express has no types of its own. */
interface ExpressApp extends RequestListener {
  use(path: string, handler: RequestListener): void
  get(path: string, handler: (req: unknown, res: { send(text: string): void }) => void): void
}
const express = createRequire(import.meta.url)('express') as () => ExpressApp

const sums = service('sums', {
  add: fn({ input: z.object({ a: z.int(), b: z.int() }), output: z.int() }),
  half: fn({ input: z.object({ of: z.number() }), output: z.number(), http: 'GET /half/{of}' }),
})
let stopped = 0
const implementation = sums.implement({
  add: ({ a, b }) => a + b,
  half: ({ of }) => of / 2,
  [Symbol.asyncDispose]: async () => void stopped++,
})

async function check(url: string): Promise<void> {
  const calls = client(sums, url)
  assert.equal(await calls.add({ a: 1, b: 2 }), 3)
  assert.equal(await calls.half({ of: 5 }), 2.5)
  await assert.rejects(calls.add({ a: 'x' } as never), { code: 'INPUT_INVALID' })
}

async function withServer(listener: RequestListener, run: (url: string) => Promise<void>): Promise<void> {
  const server: Server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

describe('a typed service in a program that is there already', () => {
  it('is a listener of node:http, which ends with it', async () => {
    const before = stopped
    {
      await using listener = nodeListener(implementation)
      await withServer(listener, check)
    }
    assert.equal(stopped, before + 1)
  })

  it('is a handler of Express, below its path', async () => {
    await using listener = nodeListener(implementation)
    const app = express()
    app.use('/api', listener)
    app.get('/own', (_req, res) => res.send('own'))
    await withServer(app, async (url) => {
      await check(`${url}/api`)
      assert.equal(await (await fetch(`${url}/own`)).text(), 'own')
    })
  })

  it('is a plug-in of Fastify, below its prefix', async () => {
    const before = stopped
    const app = Fastify()
    await app.register(fastifyPlugin(implementation), { prefix: '/api' })
    app.get('/own', async () => 'own')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    await check(`${url}/api`)
    assert.equal(await (await fetch(`${url}/own`)).text(), 'own')
    await app.close()
    assert.equal(stopped, before + 1)
  })
})
