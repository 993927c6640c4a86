import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { describe, test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import type { Admission, RemoteEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import { currentScope } from '../../../src/mesh/scope.ts'
import { open, requestOf, send, TestCall } from '../../support/mesh/test-call.ts'
import { exchanges, unless } from '../../support/mesh/accelerators.ts'
import { maxHops, RemoteInstances } from '../../support/mesh/remote-instances.ts'

describe('a service with a concurrency limit', { skip: unless('exchange', 'stream') }, () => {
  /** Admits one call at a time. */
  class One implements Admission {
    readonly waiting: (() => void)[] = []
    inside = 0

    enter(_deadline: number | undefined, signal: AbortSignal | undefined): void | Promise<void> {
      if (this.inside === 0) return void this.inside++
      if (this.waiting.length === 2) throw new BusbarError('RESOURCE_EXHAUSTED', { message: 'full' })
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const admit = (): void => {
        this.inside++
        resolve()
      }
      this.waiting.push(admit)
      signal?.addEventListener('abort', () => {
        this.waiting.splice(this.waiting.indexOf(admit), 1)
        reject(signal.reason as Error)
      })
      return promise
    }

    leave(): void {
      this.inside--
      this.waiting.shift()?.()
    }
  }

  async function limited(app: RemoteInstances, program: RequestListener): Promise<[RemoteEndpoint, One]> {
    const admission = new One()
    return [Object.assign(await app.add(program), { admission }), admission]
  }

  test('gets as many requests as its limit allows; the others wait, with their bodies', async () => {
    await using app = new RemoteInstances()
    let atOnce = 0
    const [endpoint, admission] = await limited(app, (request, response) => {
      assert.equal(++atOnce, 1)
      request.on('end', () => atOnce--)
      request.pipe(response)
    })
    const streamed = Array.from({ length: 3 }, () => open(endpoint, { method: 'POST', streamed: true }))
    for (const [index, call] of streamed.entries()) {
      call.exchange!.write(`call `)
      call.exchange!.write(`${index}`)
      call.exchange!.end()
    }
    const answers = await Promise.all(streamed.map((call) => call.answer()))
    assert.deepEqual(
      answers.map(({ body }) => body),
      ['call 0', 'call 1', 'call 2'],
    )
    assert.equal(admission.inside, 0)
  })

  test('refuses requests beyond the queue, and removes those whose caller gave up', async () => {
    await using app = new RemoteInstances()
    const [endpoint, admission] = await limited(app, () => {})
    const calls = Array.from({ length: 3 }, () => open(endpoint))
    const { status, headers, body } = await send(endpoint)
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.equal((JSON.parse(body) as { code: string }).code, 'RESOURCE_EXHAUSTED')
    const endings = calls.map((call) => assert.rejects(call.answer(), { code: 'CALL_ABORTED' }))
    for (const call of calls.toReversed()) call.exchange!.abort()
    await Promise.all(endings)
    assert.equal(admission.inside, 0)
    assert.equal(admission.waiting.length, 0)
  })
})

describe('what a call to another worker inherits', { skip: unless('exchange', 'stream') }, () => {
  test('a chain of calls is counted across workers, and stopped with 508', async () => {
    await using app = new RemoteInstances()
    let called = 0
    await app.add((_, response) => {
      called++
      void fetch('http://callee.internal/').then(({ status }) => response.writeHead(status).end())
    })
    await app.mesh()
    assert.equal((await fetch('http://callee.internal/')).status, 508)
    assert.equal(called, maxHops)
  })

  test('the program sees nothing of its caller’s async context, and the caller keeps it', async () => {
    const stores = new AsyncLocalStorage<string>()
    await using app = new RemoteInstances()
    const endpoint = await app.add((request, response) => {
      request.on('end', () => response.end(`${stores.getStore()} ${JSON.stringify(currentScope())}`))
      request.resume()
    })
    const seen: unknown[] = []
    const { body } = await stores.run('the caller’s', async () => {
      const call = open(endpoint, { method: 'POST', streamed: true })
      call.on('head', () => seen.push(stores.getStore()))
      call.on('chunk', () => seen.push(stores.getStore()))
      call.exchange!.end()
      return call.answer()
    })
    assert.equal(body, 'undefined {"service":"callee","hops":1}')
    assert.deepEqual(seen, ['the caller’s', 'the caller’s'])
  })
})

describe('a response from another worker', { skip: unless('exchange', 'stream') }, () => {
  test('waits for its reader, in bounded memory', async () => {
    await using app = new RemoteInstances()
    const piece = Buffer.alloc(64 * 1024)
    let written = 0
    const whole = 32 * 1024 * 1024
    const endpoint = await app.add((_, response) => {
      const write = (): void => {
        while (written < whole) {
          written += piece.length
          if (!response.write(piece)) return void response.once('drain', write)
        }
        response.end()
      }
      write()
    })
    const call = open(endpoint)
    call.reading = false
    await once(call, 'chunk')
    // More than can be written within a second.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    assert.ok(written < 3 * 1024 * 1024, `${written} bytes`)
    call.reading = true
    call.exchange!.resume()
    assert.equal((await call.answer()).body.length, whole)
  })

  test('that violates the protocol fails the call', async () => {
    await using app = new RemoteInstances()
    const endpoint = await app.add(() => {})
    for (const value of [undefined, null, 5, ['200', '', ''], [200, '', 3], [200, '', '', 7]]) {
      const link = { state: 'open', inFlight: 0, open: replying(value) }
      const call = new TestCall()
      exchanges!.open({ ...endpoint, link } as never, requestOf(), { service: 'callee', hops: 1 }, call)
      await assert.rejects(call.answer(), { code: 'INTERNAL' })
    }
  })

  test('is refused to a request that violates the protocol', async () => {
    await using app = new RemoteInstances()
    const endpoint = await app.add(() => assert.fail('called'))
    const head = { service: 'callee', kind: 'http', method: 'GET', hops: 1 } as const
    const rest = { caller: undefined, timeLeft: undefined, trace: undefined, metadata: undefined }
    for (const payload of [undefined, 7, [], ['/', 5, null], ['/', '', 5], ['/', '', null, 5]]) {
      const { promise, resolve } = Promise.withResolvers<{ code: string }>()
      endpoint.link.open({ ...head, ...rest }, payload, true, { onError: resolve })
      assert.equal((await promise).code, 'INTERNAL')
    }
  })
})

function replying(value: unknown) {
  return (
    _head: unknown,
    _payload: unknown,
    _ended: unknown,
    handler: { onReply(value: unknown, last: boolean): void },
  ) => {
    setImmediate(() => handler.onReply(value, true))
    return { cancel() {}, consumed() {} }
  }
}
