import { equal } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { describe, failure } from '../mesh-and-tcp.ts'
import { allWays, ownDispatcher, request, type Bench } from './bench.ts'

/** How calls fail, and how callers give them up. */
export function testFailures(bench: Bench): void {
  const { same } = bench
  suite('request: what fails', () => {
    const wrong: Record<string, object> = {
      'a header with a line break': { headers: { a: 'b\nc' } },
      'a name that is none': { headers: { 'a b': 'c' } },
      'an uneven list': { headers: ['a'] },
      'an object for a header': { headers: { a: {} } },
      'a wrong length': { method: 'POST', body: 'four', headers: { 'content-length': '5' } },
      'a length that is none': { headers: { 'content-length': 'x' } },
      'transfer-encoding': { headers: { 'transfer-encoding': 'chunked' } },
      expect: { headers: { expect: '100-continue' } },
      'a method that is none': { method: 'A B' },
      CONNECT: { method: 'CONNECT' },
      'a body that is none': { method: 'POST', body: 5 },
      'a query beside one in the path': { path: '/a?b', query: { c: 1 } },
      'a timeout that is none': { headersTimeout: -1 },
      'a signal that is none': { signal: 'x' },
      'a callback that is none': { onInfo: 5 },
      'a high water mark that is none': { highWaterMark: -1 },
      'an agent': { agent: {} },
      throwOnError: { throwOnError: true, path: '/status?code=404' },
      redirections: { maxRedirections: 2, path: '/redirect' },
    }
    for (const [name, options] of Object.entries(wrong))
      same(
        name,
        async (caller) => {
          try {
            const answer = await request(caller, '/json', options)
            return [answer.statusCode, await answer.body.text()]
          } catch (error) {
            return describe(error)
          }
        },
        name === 'throwOnError' || name === 'redirections' ? ownDispatcher : allWays,
      )
    same('a stream that fails', async (caller) => {
      const body = new Readable({
        read() {
          this.destroy(new RangeError('no more'))
        },
      })
      return failure(() => request(caller, '/echo', { method: 'POST', body }))
    })
    same('an iterable that throws in the middle', async (caller) => {
      async function* chunks() {
        yield 'one'
        await new Promise((resolve) => setImmediate(resolve))
        throw new RangeError('no more')
      }
      return failure(() => request(caller, '/echo', { method: 'POST', body: chunks() }))
    })
    same('a stream that is longer than it said', (caller) =>
      failure(() =>
        request(caller, '/echo', {
          method: 'POST',
          body: Readable.from([Buffer.from('four')]),
          headers: { 'content-length': '2' },
        }),
      ),
    )
    same('a stream that is shorter than it said', (caller) =>
      failure(() =>
        request(caller, '/echo', {
          method: 'POST',
          body: Readable.from([Buffer.from('four')]),
          headers: { 'content-length': '9' },
        }),
      ),
    )
    same('a connection cut before the head', async (caller) => {
      const failed = (await request(caller, '/cut-early').catch((error: unknown) => error)) as Error
      return [
        describe(failed, 0),
        failed instanceof caller.undici.errors['SocketError']!,
        failed instanceof caller.undici.errors['UndiciError']!,
      ]
    })
    same('a connection cut in the body', async (caller) => {
      const { body, statusCode } = await request(caller, '/cut-late')
      const failed = await body.text().catch((error: unknown) => error)
      return [statusCode, describe(failed, 0), failed instanceof caller.undici.errors['SocketError']!]
    })
    same('a connection cut in a body that is listened to', async (caller) => {
      const { body } = await request(caller, '/cut-late')
      let text = ''
      body.on('data', (chunk: Buffer) => (text += String(chunk)))
      const [error] = await once(body, 'error', {}).catch((error: unknown) => [error])
      return [text, describe(error, 0), body.destroyed]
    })
    same('no head in time', async (caller) => {
      const before = caller.side.seen.length
      const failed = (await request(caller, '/never', { headersTimeout: 50 }).catch((error: unknown) => error)) as Error
      return [
        describe(failed),
        failed instanceof caller.undici.errors['HeadersTimeoutError']!,
        await caller.side.seen[before]!.over,
      ]
    })
    same('no body in time', async (caller) => {
      const before = caller.side.seen.length
      const { body } = await request(caller, '/head-then-never', { bodyTimeout: 50 })
      const failed = (await body.text().catch((error: unknown) => error)) as Error
      return [
        describe(failed),
        failed instanceof caller.undici.errors['BodyTimeoutError']!,
        await caller.side.seen[before]!.over,
      ]
    })
    test('a service without a serving instance refuses, as a closed port does', async () => {
      for (const copy of [bench.early, bench.late]) {
        const refused = (await copy
          .request('http://absent.internal/')
          .catch((error: unknown) => error)) as NodeJS.ErrnoException
        equal(refused.code, 'ECONNREFUSED')
      }
    })
  })

  suite('request: giving up', () => {
    same('before the call', (caller) => failure(() => request(caller, '/json', { signal: AbortSignal.abort() })))
    same('while waiting, with a reason', async (caller) => {
      const controller = new AbortController()
      const reason = new RangeError('enough')
      const before = caller.side.seen.length
      const answer = request(caller, '/never', { signal: controller.signal }).catch(
        (error: unknown) => error === reason,
      )
      while (caller.side.seen.length <= before) await new Promise((resolve) => setImmediate(resolve))
      controller.abort(reason)
      return [await answer, await caller.side.seen[before]!.over]
    })
    same('by an emitter', async (caller) => {
      const signal = new EventEmitter()
      const answer = failure(() => request(caller, '/never', { signal }))
      setTimeout(() => signal.emit('abort'), 20)
      return answer
    })
    same('while the body is read', async (caller) => {
      const controller = new AbortController()
      const before = caller.side.seen.length
      const { body } = await request(caller, '/head-then-never', { signal: controller.signal })
      const text = failure(() => body.text())
      setImmediate(() => controller.abort())
      return [await text, await caller.side.seen[before]!.over]
    })
    same('before the body is read', async (caller) => {
      const controller = new AbortController()
      const { body } = await request(caller, '/head-then-never', { signal: controller.signal })
      controller.abort()
      return [body.destroyed, await failure(() => body.text())]
    })
    same('after the body was read', async (caller) => {
      const controller = new AbortController()
      const { body } = await request(caller, '/json', { signal: controller.signal })
      const read = await body.json()
      controller.abort()
      return [read, body.bodyUsed]
    })
  })
}
