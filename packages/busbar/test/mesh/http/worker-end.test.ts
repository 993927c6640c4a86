import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { describe, test } from 'node:test'
import { request as undiciRequest } from 'undici'
import type { RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { unless } from '../../support/mesh/accelerators.ts'
import { RemoteInstances } from '../../support/mesh/remote-instances.ts'
import { open } from '../../support/mesh/test-call.ts'

const url = 'http://callee.internal/'

const died = { code: 'WORKER_DIED', message: 'worker 2 ended' } as const

/** Resolves when the only instance has taken the call, which it does not answer. */
async function taken<Answer>(
  app: RemoteInstances,
  call: () => Promise<Answer>,
): Promise<{ answer: Promise<Answer>; endpoint: RemoteEndpoint }> {
  const asked = Promise.withResolvers<void>()
  const endpoint = await app.add(() => asked.resolve())
  await app.mesh()
  const answer = call()
  await asked.promise
  return { answer, endpoint }
}

describe('the worker of a service dies', { skip: unless('exchange', 'stream') }, () => {
  const calls: Record<string, () => Promise<unknown>> = {
    fetch: () => fetch(url, { method: 'POST', body: 'x' }),
    'undici.request': () => undiciRequest(url, { method: 'POST', body: 'x' }),
    'node:http': () => once(get(url), 'response'),
  }

  for (const [client, call] of Object.entries(calls))
    test(`during a call: ${client} fails at once, as over a broken connection`, async () => {
      await using app = new RemoteInstances()
      const { answer, endpoint } = await taken(app, call)
      endpoint.link.close(died)
      await assert.rejects(answer, (error: NodeJS.ErrnoException) => {
        const codes = [error, error.cause].map((one) => (one as NodeJS.ErrnoException | undefined)?.code)
        return codes.some((code) => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET')
      })
    })

  test('or stops: what its caller gets never says that the request has not begun', async () => {
    for (const call of Object.values(calls)) {
      await using app = new RemoteInstances()
      const { answer, endpoint } = await taken(app, call)
      endpoint.link.close({ code: 'SERVICE_UNAVAILABLE', message: 'worker 2 has stopped' })
      const codes: unknown[] = []
      await assert.rejects(answer, (error: NodeJS.ErrnoException) => {
        for (let one: unknown = error; one instanceof Error; one = one.cause) codes.push(Reflect.get(one, 'code'))
        return true
      })
      assert.ok(codes.includes('UND_ERR_SOCKET') || codes.includes('ECONNRESET'), codes.join())
      assert.ok(!codes.includes('SERVICE_UNAVAILABLE') && !codes.includes('ECONNREFUSED'), codes.join())
    }
  })

  test('during a response: the caller gets what arrived, then the error', async () => {
    await using app = new RemoteInstances()
    const endpoint = await app.add((_, response) => void response.write('half'))
    const call = open(endpoint)
    await once(call, 'chunk')
    endpoint.link.close(died)
    await assert.rejects(call.answer(), { code: 'WORKER_DIED' })
    assert.deepEqual(call.chunks, ['half'])
  })

  test('and an idempotent request is retried on another instance', async () => {
    await using app = new RemoteInstances()
    const { answer, endpoint: first } = await taken(app, () => fetch(url, { method: 'PUT', body: 'x' }))
    await app.add((request, response) => void request.pipe(response))
    first.link.close(died)
    assert.equal(await (await answer).text(), 'x')
  })

  test('and no other request is retried: it may have been carried out', async () => {
    await using app = new RemoteInstances()
    const { answer, endpoint: first } = await taken(app, () => fetch(url, { method: 'POST', body: 'x' }))
    await app.add(() => assert.fail('called'))
    first.link.close(died)
    await assert.rejects(answer)
  })

  test('before it has started: any request is retried on another instance', async () => {
    await using app = new RemoteInstances()
    await app.add((_, response) => void response.end('never'))
    const first = app.endpoints[0]!
    await app.mesh()
    // It accepts no new calls, and the drain frame is still in transit.
    const draining = new Proxy(first, { get: (target, key) => (key === 'link' ? refusing : Reflect.get(target, key)) })
    app.router.removeRemote(first)
    app.router.addRemote(draining)
    await app.add((_, response) => void response.end('elsewhere'))
    const texts = await Promise.all(
      Array.from({ length: 4 }, async () => (await fetch(url, { method: 'POST', body: 'x' })).text()),
    )
    assert.deepEqual(new Set(texts), new Set(['elsewhere']))
  })
})

const refusing = {
  state: 'open',
  inFlight: 0,
  open(
    _head: unknown,
    _payload: unknown,
    _ended: unknown,
    handler: { onError(error: object, notStarted: boolean): void },
  ) {
    setImmediate(() => handler.onError({ code: 'SERVICE_UNAVAILABLE', message: 'is stopping' }, true))
    return { cancel() {}, consumed() {} }
  },
}
