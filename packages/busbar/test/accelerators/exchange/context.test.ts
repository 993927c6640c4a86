import { deepEqual, equal, rejects } from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { currentScope } from '../../../src/mesh/scope.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { open, requestOf, send, TestCall } from '../../support/mesh/test-call.ts'
import { exchanges, unless } from '../../support/mesh/accelerators.ts'

const store = new AsyncLocalStorage<string>()

/** Records the caller's store whenever the handler is called. */
class ObservedCall extends TestCall {
  readonly seen: string[] = []

  override emit(event: string, ...values: unknown[]): boolean {
    this.seen.push(`${event}: ${store.getStore()}, ${currentScope()?.service}`)
    return super.emit(event, ...values)
  }
}

function openObserved(endpoint: TestEndpoint, parts: Parameters<typeof requestOf>[0] = {}): ObservedCall {
  const call = new ObservedCall()
  call.exchange = exchanges!.open(endpoint, requestOf(parts), { service: 'callee', hops: 3 }, call)
  return call
}

describe('async context', { skip: unless('exchange') }, () => {
  test('the program sees its own scope and nothing of the caller, in every callback', async () => {
    const seen: string[] = []
    const look = (where: string): void => {
      seen.push(`${where}: ${store.getStore()}, ${currentScope()?.service} ${currentScope()?.hops}`)
    }
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      look('request')
      request.on('data', () => look('data'))
      request.on('end', () => {
        look('end')
        response.write('x'.repeat(200_000), () => look('written'))
        response.on('drain', () => {
          look('drain')
          response.end(() => look('ended'))
        })
      })
      response.on('finish', () => look('finish'))
      response.on('close', () => look('close'))
    })
    endpoint.server.on('connection', () => look('connection'))
    const call = store.run('of the caller', () => openObserved(endpoint, { method: 'POST', streamed: true }))
    call.reading = false
    store.run('of the caller', () => call.exchange!.write('x'))
    call.exchange!.end()
    const answer = call.answer()
    await once(call, 'chunk')
    call.reading = true
    store.run('of the caller', () => call.exchange!.resume())
    await answer
    while (!seen.some((line) => line.startsWith('close'))) await nextTurn()
    const events = ['connection', 'request', 'data', 'end', 'drain', 'written', 'ended', 'finish', 'close']
    deepEqual(
      seen,
      events.map((event) => `${event}: undefined, callee 3`),
    )
  })

  test('the handler is always called in the context of the call', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) =>
      store.run('of the program', () => {
        response.write('x')
        setImmediate(() => response.end('y'))
      }),
    )
    const call = store.run('of the caller', () => openObserved(endpoint))
    await call.answer()
    deepEqual(
      call.seen,
      ['head', 'chunk', 'chunk', 'answer'].map((event) => `${event}: of the caller, undefined`),
    )
  })

  test('two callers in one turn have separate contexts', async () => {
    await using endpoint = new TestEndpoint('callee', (_, response) => response.end('x'))
    const calls = ['one', 'two'].map((name) => store.run(name, () => openObserved(endpoint)))
    await Promise.all(calls.map((call) => call.answer()))
    deepEqual(
      calls.map(({ seen }) => seen.at(-1)),
      ['answer: one, undefined', 'answer: two, undefined'],
    )
  })

  test('a store that the program has entered is set when its write completes', async () => {
    const seen: (string | undefined)[] = []
    await using endpoint = new TestEndpoint('callee', (_, response) =>
      store.run('transaction', () => {
        response.write('x'.repeat(200_000), () => seen.push(store.getStore()))
        response.end(() => seen.push(store.getStore()))
      }),
    )
    await send(endpoint)
    while (seen.length < 2) await nextTurn()
    deepEqual(seen, ['transaction', 'transaction'])
  })
})

describe('exceptions', { skip: unless('exchange') }, () => {
  test('what the program throws is uncaught in its own context, and other calls continue', async () => {
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      if (request.url === '/throws') throw new Error('thrown')
      response.end('fine')
    })
    const { caught, result } = await recordUncaught(async () => {
      const failing = open(endpoint, { path: '/throws' })
      const failed = rejects(failing.answer(), { code: 'CALL_ABORTED' })
      const answer = await send(endpoint)
      failing.exchange!.abort()
      await failed
      return answer.body
    })
    equal(result, 'fine')
    deepEqual(caught, ['thrown in callee'])
  })

  test('what the handler throws is uncaught in its own context, and ends its call', async () => {
    let closed = false
    await using endpoint = new TestEndpoint('callee', (request, response) => {
      if (request.url === '/fine') return response.end('fine')
      response.on('close', () => (closed = true))
      return response.write('x')
    })
    const { caught } = await recordUncaught(async () => {
      const call = store.run('of the caller', () => openObserved(endpoint))
      call.on('head', () => {
        throw new Error('thrown')
      })
      const failed = rejects(call.answer(), { message: 'thrown' })
      equal((await send(endpoint, { path: '/fine' })).body, 'fine')
      await failed
      while (!closed) await nextTurn()
    })
    deepEqual(caught, ['thrown in undefined, of the caller'])
  })
})

/** Records uncaught exceptions: their message, the current service and the caller's store. */
async function recordUncaught<Result>(run: () => Promise<Result>): Promise<{ caught: string[]; result: Result }> {
  const caught: string[] = []
  process.setUncaughtExceptionCaptureCallback((error) => {
    const { message } = error
    const storeNow = store.getStore()
    caught.push(`${message} in ${currentScope()?.service}${storeNow === undefined ? '' : `, ${storeNow}`}`)
  })
  try {
    return { result: await run(), caught }
  } finally {
    process.setUncaughtExceptionCaptureCallback(null)
  }
}
