import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { suite, test } from 'node:test'
import { compareFetch } from './support/compare-fetch.ts'
import { failure, type Side } from './support/mesh-and-tcp.ts'
import { unless } from '../../support/mesh/accelerators.ts'

suite('fetch of a service: how a call ends', () => {
  const compared = compareFetch()
  const { same } = compared

  suite('giving up', () => {
    same('before the call', (side) => failure(() => fetch(`${side.at}/json`, { signal: AbortSignal.abort() })))
    same('with a reason of its own', async (side) => {
      const reason = { my: 'reason' }
      const controller = new AbortController()
      const answer = fetch(`${side.at}/never`, { signal: controller.signal })
      controller.abort(reason)
      return answer.then(
        () => 'answered',
        (error: unknown) => error === reason,
      )
    })
    same('while waiting for the head', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      const answer = failure(() => fetch(`${side.at}/never`, { signal: controller.signal }))
      const call = await arrival(side, before)
      controller.abort()
      return [await answer, await call.over]
    })
    same('by a timeout', async (side) => {
      const { name, code } = (await fetch(`${side.at}/never`, { signal: AbortSignal.timeout(30) }).catch(
        (error: unknown) => error,
      )) as DOMException
      return [name, code]
    })
    same('while the body is read whole', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      const text = failure(() => response.text())
      setImmediate(() => controller.abort())
      return [await text, await side.seen[before]!.over, response.bodyUsed]
    })
    same('while the body is read by a reader', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      const reader = response.body!.getReader()
      const first = await reader.read()
      const second = failure(() => reader.read())
      controller.abort()
      return [first.value?.length, await second, await failure(() => reader.closed)]
    })
    same('before the body is read', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/head-then-never`, { signal: controller.signal })
      controller.abort()
      return [response.bodyUsed, await failure(() => response.text())]
    })
    same('after the body was read', async (side) => {
      const controller = new AbortController()
      const response = await fetch(`${side.at}/json`, { signal: controller.signal })
      const text = await response.text()
      controller.abort()
      return [text, response.bodyUsed]
    })
    same('by cancelling the body is seen by the program', async (side) => {
      const before = side.seen.length
      const response = await fetch(`${side.at}/endless`)
      await response.body!.cancel()
      return [
        await side.seen[before]!.over,
        response.bodyUsed,
        response.body!.locked,
        await response.body!.getReader().read(),
      ]
    })
    same('by leaving a loop over the body is seen by the program', async (side) => {
      const before = side.seen.length
      for await (const chunk of (await fetch(`${side.at}/endless`)).body!) if (chunk.length > 0) break
      return side.seen[before]!.over
    })
    same('in the middle of an upload is seen by the program', async (side) => {
      const controller = new AbortController()
      const before = side.seen.length
      // The built-in fetch keeps reading a stream after an abort, so the stream must end.
      const body = new ReadableStream({
        async pull(stream) {
          await new Promise((resolve) => setImmediate(resolve))
          if (controller.signal.aborted) stream.close()
          else stream.enqueue(Buffer.from('x'))
        },
      })
      const init = { method: 'POST', body, duplex: 'half', signal: controller.signal } as const
      const answer = failure(() => fetch(`${side.at}/echo`, init))
      const call = await arrival(side, before)
      controller.abort()
      return [await answer, await call.over]
    })
    test(
      'many calls may share one signal, which has no listener afterwards',
      { skip: unless('exchange') },
      async () => {
        const { signal } = new AbortController()
        const warnings: Error[] = []
        const warn = (warning: Error) => warnings.push(warning)
        process.on('warning', warn)
        await Promise.all(
          Array.from({ length: 40 }, async () => (await fetch(`${compared.sides.mesh.at}/chunks`, { signal })).text()),
        )
        process.off('warning', warn)
        deepStrictEqual(warnings, [])
        equal(getEventListeners(signal, 'abort').length, 0)
      },
    )
  })

  suite('failures of the program', () => {
    same('a connection cut before the head', (side) => failure(() => fetch(`${side.at}/cut-early`)))
    same('a connection cut in the body', async (side) => {
      const response = await fetch(`${side.at}/cut-late`)
      return [response.status, await failure(() => response.text()), response.bodyUsed]
    })
    same('a connection cut in a body that is read by a reader', async (side) => {
      const reader = (await fetch(`${side.at}/cut-late`)).body!.getReader()
      const first = await reader.read()
      return [Buffer.from(first.value).toString(), await failure(() => reader.read())]
    })
    test('a service without a serving instance refuses, as a closed port does', async () => {
      const refused = (await fetch('http://absent.internal/').catch((error: unknown) => error)) as TypeError & {
        cause: NodeJS.ErrnoException
      }
      equal(refused.name, 'TypeError')
      equal(refused.message, 'fetch failed')
      equal(refused.cause.code, 'ECONNREFUSED')
      ok(refused.cause.message.includes('absent'))
    })
    test('https is refused with the correct URL', async () => {
      const refused = (await fetch('https://catalog.internal/').catch((error: unknown) => error)) as TypeError & {
        cause: Error
      }
      equal(refused.message, 'fetch failed')
      ok(refused.cause.message.includes('http://catalog.internal'), refused.cause.message)
    })
  })

  suite('what stays as it was', () => {
    test('fetch looks like the built-in', () => {
      equal(fetch.name, 'fetch')
      equal(fetch.length, 1)
      const property = Object.getOwnPropertyDescriptor(globalThis, 'fetch')!
      deepStrictEqual([property.writable, property.enumerable, property.configurable], [true, true, true])
    })
    test('names of the network go to the network', async () => {
      equal((await fetch(`${compared.sides.tcp.at}/json`)).url, `${compared.sides.tcp.at}/json`)
      const failed = (await fetch('http://metadata.google.internal:8099/').catch((error: unknown) => error)) as {
        cause: { code: string }
      }
      ok(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ETIMEDOUT'].includes(failed.cause.code), failed.cause.code)
    })
  })
})

/** The next call that reaches the program. */
async function arrival(side: Side, before: number): Promise<Side['seen'][number]> {
  while (side.seen.length <= before) await new Promise((resolve) => setImmediate(resolve))
  return side.seen[before]!
}
