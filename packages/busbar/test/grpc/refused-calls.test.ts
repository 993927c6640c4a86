/** Calls that the gateway refuses before their method is called. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { describe, test } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { frame } from '../../src/contract/grpc/framing.ts'
import { TracedApp } from '../observe/support/traced-app.ts'
import { parseMetrics } from '../support/app/prometheus.ts'
import { behindEntrance, pollUntil } from '../support/app/test-app.ts'
import { appFolder } from './support/things-app.ts'

const id = (text: string): Uint8Array => frame(new Uint8Array([0x0a, text.length, ...Buffer.from(text)]))

const refused: readonly [string, Uint8Array, string, Record<string, string>?][] = [
  ['a message above the limit', new Uint8Array([0, 0, 1, 0, 0, ...new Uint8Array(65_536)]), '413'],
  ['a message that is not protobuf', frame(new Uint8Array([0x0a, 0xff])), '400'],
  ['bytes that are no message', new Uint8Array([9, 0, 0, 0, 0]), '400'],
  ['no message', new Uint8Array(), '404'],
  ['two messages', Buffer.concat([id('a'), id('a')]), '404'],
  ['an encoding that is unknown', id('a'), '415', { 'grpc-encoding': 'br' }],
]

for (const run of ['shared', 'process'] as const)
  for (const traces of [undefined, { sample: 1, keep: 100 }])
    describe(`refused calls of gRPC (${run}, ${traces === undefined ? 'without' : 'with'} traces)`, () => {
      test('count for their edge with the status of HTTP', async () => {
        const app = await loadApp(appFolder, { env: {} })
        const services = app.services.map((service) => ({ ...service, run }))
        const limits = { ...app.limits, maxInputSize: 50_000 }
        const gateway = { ...app.gateway, port: 0 }
        await using traced = await TracedApp.start(behindEntrance({ ...app, services, limits, gateway, traces }))
        const session = connect(traced.url)
        session.on('error', () => {})
        const path = '/test.v1.ThingService/GetThing'
        const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc' }
        const call = async (body: Uint8Array, headers: Record<string, string> = {}): Promise<void> => {
          const stream = session.request({ ...head, ...headers })
          stream.on('error', () => {}).resume()
          stream.end(body)
          await once(stream, 'close')
        }
        const expected: Record<string, number> = {}
        for (const [, body, status, headers] of refused) {
          await call(body, headers)
          expected[status] = (expected[status] ?? 0) + 1
        }
        const leaving = new AbortController()
        session
          .request(head, { signal: leaving.signal })
          .on('error', () => {})
          .write(id('a').subarray(0, 6))
        await call(id('a'))
        // `close(code)` would end the request first.
        leaving.abort()
        // The service itself refuses it.
        await call(id(''))
        Object.assign(expected, { 200: 1, 422: 1, 499: 1 })
        session.destroy()

        const seen = (): { edges: number; inFlight: number; outcomes: Record<string, number> } => {
          const edges = traced.running.status().edges.filter(({ method }) => method === 'find')
          const inFlight = edges.reduce((sum, edge) => sum + edge.inFlight, 0)
          const outcomes = edges.flatMap((edge) => edge.outcomes.map(({ status, count }) => [status, count] as const))
          return { edges: edges.length, inFlight, outcomes: Object.fromEntries(outcomes) }
        }
        const calls = Object.values(expected).reduce((sum, count) => sum + count)
        await pollUntil(() => Object.values(seen().outcomes).reduce((sum, count) => sum + count, 0) === calls, seen)
        assert.deepEqual(seen(), { edges: 1, inFlight: 0, outcomes: expected })
        const counted = parseMetrics(await traced.metrics()).get('busbar_edge_calls_total')?.samples ?? []
        assert.equal(
          counted.reduce((sum, { value }) => sum + value, 0),
          calls,
        )
        if (traces === undefined) return
        const spans: Record<string, number> = {}
        const all = await traced.tracesWhen((found) => found.length === calls)
        for (const { calls: hops } of all)
          for (const { service, method, status } of hops) {
            assert.deepEqual([service, method], ['things', 'find'])
            spans[String(status)] = (spans[String(status)] ?? 0) + 1
          }
        assert.deepEqual(spans, expected)
      })
    })
