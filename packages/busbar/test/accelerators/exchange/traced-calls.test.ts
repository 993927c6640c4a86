import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startMesh } from '../../../src/mesh/mesh.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { currentScope, runInScope, type Scope } from '../../../src/mesh/scope.ts'
import { Tracer } from '../../../src/mesh/tracing/tracer.ts'
import { contextStoresFault, countStores } from '../../../src/node/context-stores.ts'
import type { SpanRecord } from '../../../src/shared/traces/span.ts'
import { parseTraceparent } from '../../../src/shared/traces/trace-context.ts'
import { exchanges, streams, unless } from '../../support/mesh/accelerators.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

const store = new AsyncLocalStorage<string>()
const own = store.run('own', () => AsyncLocalStorage.snapshot())

/** A program that has set a store when it listens. */
class EndpointWithStore extends TestEndpoint {
  override enter<R>(scope: Scope, callback: () => R): R {
    return own(() => runInScope(scope, callback))
  }
}

/** Services of this thread, with a tracer that records failed calls only. */
async function startTraced(...endpoints: readonly TestEndpoint[]): Promise<AsyncDisposable & { spans: SpanRecord[] }> {
  const router = new Router(endpoints.map(({ service }) => service))
  for (const endpoint of endpoints) router.add(endpoint)
  const spans: SpanRecord[] = []
  const tracer = new Tracer({ sample: 0 }, { add: (span) => void spans.push(span), addOwn: () => {} })
  const mesh = await startMesh({ router, maxHops: 16, tracer, exchanges, streams })
  return {
    spans,
    async [Symbol.asyncDispose]() {
      await mesh[Symbol.asyncDispose]()
      for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]()
    },
  }
}

const traceOf = (): string | undefined => currentScope()?.trace?.traceparent

test('this Node shows how many stores a context has, so that fewer are copied', () => {
  equal(contextStoresFault(), undefined)
  equal(
    store.run('x', () => own(() => countStores(new AsyncResource('Test')))),
    1,
  )
})

describe('calls of a trace in one thread', { skip: unless('exchange') }, () => {
  test('the program finds the context in every view of the fields, and so does who looks before it', async () => {
    const seen: IncomingMessage[] = []
    const early: unknown[] = []
    const listener: RequestListener = (request, response) => {
      seen.push(request)
      request.resume().on('end', () => response.end(request.headers.traceparent))
    }
    const look = (message: unknown): void => {
      early.push((message as { request: IncomingMessage }).request.headers['traceparent'])
    }
    await using mesh = await startTraced(new TestEndpoint('callee', listener))
    subscribe('http.server.request.start', look)
    const bodies = [undefined, 'text', new Blob(['streamed']).stream()]
    try {
      for (const body of bodies) {
        const init = body === undefined ? {} : { method: 'POST', body, duplex: 'half' as const }
        const text = await (await fetch('http://callee.internal/', init)).text()
        const { headers, headersDistinct, rawHeaders } = seen.at(-1)!
        match(text, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
        deepEqual([headers['traceparent'], headersDistinct['traceparent']], [text, [text]])
        equal(rawHeaders[rawHeaders.indexOf('traceparent') + 1], text)
        equal(rawHeaders.filter((name) => name === 'traceparent').length, 1)
        equal(early.at(-1), text)
      }
    } finally {
      unsubscribe('http.server.request.start', look)
    }
    equal(new Set(early).size, bodies.length)
    deepEqual(mesh.spans, [])
  })

  test('a context that the caller sends is continued, with its state', async () => {
    const listener: RequestListener = ({ headers, rawHeaders }, response) =>
      response.end(JSON.stringify([headers['traceparent'], headers['tracestate'], rawHeaders]))
    await using _ = await startTraced(new TestEndpoint('callee', listener))
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'1'.repeat(16)}-00`, tracestate: 'vendor=1' }
    const response = await fetch('http://callee.internal/', { headers })
    const [traceparent, tracestate, raw] = (await response.json()) as [string, string, string[]]
    equal(parseTraceparent(traceparent)?.trace, 'ab'.repeat(16))
    equal(tracestate, 'vendor=1')
    for (const name of Object.keys(headers)) equal(raw.filter((one) => one === name).length, 1, name)
  })

  for (const [what, Endpoint, expected] of [
    ['has set no store', TestEndpoint, undefined],
    ['has set a store', EndpointWithStore, 'own'],
  ] as const)
    test(`each call keeps its own trace, and its program's stores, in a program that ${what}`, async () => {
      const seen = new Map<string, unknown[]>()
      await using _ = await startTraced(
        new Endpoint('callee', (request, response) => {
          const look = (): unknown[] => [traceOf()?.slice(0, 35), currentScope()?.hops, store.getStore()]
          const before = look()
          response.write('x')
          setImmediate(() => response.end(() => seen.set(request.headers['traceparent'] as string, [before, look()])))
        }),
      )
      await store.run('of the caller', () =>
        Promise.all(Array.from({ length: 6 }, async () => await (await fetch('http://callee.internal/')).text())),
      )
      while (seen.size < 6) await nextTurn()
      for (const [traceparent, looks] of seen) {
        const one = [traceparent.slice(0, 35), 1, expected]
        deepEqual(looks, [one, one])
      }
    })

  test('failed calls that cause each other are spans of one trace, though it is not sampled', async () => {
    const second = new TestEndpoint('second', (_, response) => response.writeHead(503).end())
    const first = new TestEndpoint('first', (_, response) => {
      void fetch('http://second.internal/path?secret').then(({ status }) => response.writeHead(status).end())
    })
    await using mesh = await startTraced(first, second)
    await (await fetch('http://first.internal/')).text()
    const [inner, outer, ...more] = mesh.spans
    deepEqual(more, [])
    const { trace, parent, caller, service, path, status } = inner!
    deepEqual([trace, parent, caller], [outer!.trace, outer!.id, 'first'])
    deepEqual([service, path, status], ['second', '/path', 503])
    deepEqual([outer!.service, outer!.parent, outer!.caller], ['first', undefined, undefined])
    ok(inner!.start >= outer!.start && inner!.duration <= outer!.duration)
  })
})
