import { equal } from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import type { UndiciDispatcher } from '../copies.ts'
import { hash, whole } from '../program.ts'
import { comparableHeaders, failure, neutral } from '../mesh-and-tcp.ts'
import { Collector, headOf, keepGlobalDispatchers, ownDispatcher, type Bench } from './bench.ts'

/** `stream`, `pipeline`, `fetch` and dispatchers. */
export function testFunctions(bench: Bench): void {
  const { same } = bench
  suite('the other functions', () => {
    same('stream', async ({ undici, side, extra }) => {
      const sink = new Collector()
      const heads: unknown[] = []
      const result = (await undici.stream(`${side.at}/large`, { ...extra, method: 'GET', opaque: 1 }, (head) => {
        heads.push(head.statusCode, head.opaque, comparableHeaders(Object.entries(head.headers)))
        return sink
      })) as object
      return [heads, hash(sink.bytes), Object.keys(result)]
    })
    same('stream into a slow sink', async ({ undici, side, extra }) => {
      const sink = new Collector(1)
      await undici.stream(`${side.at}/large?size=1000000`, { ...extra, method: 'GET' }, () => sink)
      return hash(sink.bytes)
    })
    same('pipeline', async ({ undici, side, extra }) => {
      const duplex = undici.pipeline(`${side.at}/mirror`, { ...extra, method: 'POST' }, ({ body }) => body)
      const text = whole(duplex as unknown as Readable)
      duplex.write('one,')
      duplex.end('two')
      return String(await text)
    })
    same('fetch', async ({ undici, side, extra }) => {
      const response = await undici.fetch(`${side.at}/redirect?code=307`, { ...extra, method: 'POST', body: 'x' })
      const { method, headers, text } = (await response.json()) as { method: string; headers: string[]; text: string }
      return [response.redirected, neutral(side, response.url), method, headers, text]
    })
    same('fetch of what is coded, aborted, cut', async ({ undici, side, extra }) => {
      const coded = await (await undici.fetch(`${side.at}/coded`, extra)).text()
      const aborted = await failure(() =>
        undici.fetch(`${side.at}/never`, { ...extra, signal: AbortSignal.timeout(20) }),
      )
      return [coded.length, aborted, await failure(() => undici.fetch(`${side.at}/cut-early`, extra))]
    })
    same(
      'request by the global dispatcher',
      async (caller) => {
        const { undici, side, extra } = caller
        const dispatcher = (extra as { dispatcher?: UndiciDispatcher }).dispatcher ?? undici.getGlobalDispatcher()
        const answer = await dispatcher.request({ origin: side.at, path: '/json', method: 'GET' })
        return [headOf(answer), await answer.body.json()]
      },
      ownDispatcher,
    )
    same(
      'request by a composed dispatcher',
      async (caller) => {
        const { undici, side, extra } = caller
        const base = (extra as { dispatcher?: UndiciDispatcher }).dispatcher ?? undici.getGlobalDispatcher()
        const dispatcher = base.compose(undici.interceptors.retry())
        const answer = await dispatcher.request({ origin: side.at, path: '/json', method: 'GET' })
        return [headOf(answer), await answer.body.json()]
      },
      ownDispatcher,
    )
    test('an ES module gets the same as a CommonJS one', async () => {
      const { all, request } = await bench.folder.import()
      equal(request, bench.late.request)
      equal(all.request, bench.late.request)
      equal(bench.late.request.length, bench.early.request.length)
    })
    test("a global dispatcher of the program's own gets all of its calls", async () => {
      for (const undici of [bench.early, bench.late]) {
        using _ = keepGlobalDispatchers()
        const mock = new undici.MockAgent()
        mock.disableNetConnect()
        mock.get(bench.sides.mesh.at).intercept({ path: '/json', method: 'GET' }).reply(200, 'mocked')
        undici.setGlobalDispatcher(mock)
        equal(await (await undici.request(`${bench.sides.mesh.at}/json`)).body.text(), 'mocked')
        await mock.close()
      }
    })
  })
}
