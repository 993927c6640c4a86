/** Calls in flight when the worker dies that counts them: nobody knows how long they took. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latencyOf, type Reading, windowOf } from '../../../src/observe/advice/app-window.ts'
import { edgeLines } from '../../../src/cli/commands/apps/edge-lines.ts'
import { CallTotals } from '../../../src/observe/metrics/call-totals.ts'
import { formatMetrics } from '../../../src/observe/metrics/metrics.ts'
import { findSlowParts } from '../../../src/observe/advice/slow-parts.ts'
import type { EdgeKey } from '../../../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../../../src/shared/metrics/instance-table.ts'
import { bucketOf, upperBound } from '../../../src/shared/metrics/latency-buckets.ts'
import { parseMetrics, sumOf } from '../../support/app/prometheus.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Answers `/`, holds `/hang`, and dies at `/exit`. */
const program = `
require('node:http').createServer(({ url }, response) => {
  if (url === '/exit') process.exit(7)
  if (url === '/hang') return
  setTimeout(() => response.end('ok'), 20)
}).listen(3000)`

const lost = 10

test('calls that a death has cut off count as failed, and no duration is made up for them', async () => {
  using files = new TestFolder({ 'web.cjs': program })
  // The native entrance repeats idempotent requests.
  const gateway = { entrance: 'portable' } as const
  await using app = await TestApp.start({ services: { web: { file: files.at('web.cjs'), run: 'shared' } }, gateway })
  const status = () => app.running.status()
  const get = async (path: string): Promise<unknown> => await fetch(new URL(path, app.url)).catch(() => {})
  const before = status()
  for (let call = 0; call < 5; call++) await get('/')
  const held = Array.from({ length: lost - 1 }, async () => await get('/hang'))
  await pollUntil(() => status().edges[0]?.inFlight === lost - 1)
  await get('/exit')
  await Promise.all(held)
  await app.untilReplaced(0)
  await pollUntil(() => status().edges[0]?.calls === 5 + lost)
  const after = status()

  const edge = after.edges[0]!
  assert.deepEqual([edge.calls, edge.failures, edge.inFlight], [5 + lost, lost, 0])
  assert.deepEqual(
    edge.outcomes.map((one) => [one.status, one.count, one.timed, one.buckets.at(-1)!.count]),
    [
      ['none', lost, 0, 0],
      ['200', 5, 5, 5],
    ],
  )
  const [pair] = after.calls
  assert.deepEqual([pair!.count, pair!.timed, pair!.buckets.at(-1)!.count], [5 + lost, 5, 5])
  const longest = Math.max(...edge.outcomes[1]!.buckets.map(({ le, count }) => (count < 5 ? (le ?? Infinity) : 0))) * 2
  const mean = edge.outcomes[1]!.sum / 5
  for (const p99 of [edge.p99, pair!.p99]) assert.ok(p99 <= longest, `${p99} of ${longest}`)

  const metrics = parseMetrics(formatMetrics(after))
  assert.equal(sumOf(metrics, 'busbar_edge_calls_total'), 5 + lost)
  for (const histogram of ['busbar_call_duration_seconds', 'http_server_request_duration_seconds'])
    assert.equal(sumOf(metrics, histogram, '_count'), 5)

  const hop = findSlowParts(before, after, 1).find(({ kind }) => kind === 'hop')!
  assert.deepEqual([hop.figures['calls'], Math.round(hop.figures['mean']!)], [5 + lost, Math.round(mean)])
})

test('what advice reads of a window with a death is that of the calls that have ended', () => {
  const table = new InstanceTable({ rows: 1, services: [{ name: 'web' }] })
  const totals = new CallTotals(table)
  totals.assign(0, { slot: 0 })
  const key: EdgeKey = { caller: '', callee: 'web', protocol: 'http', method: 'GET', route: '/', transport: 'local' }
  const reading = (): Reading => {
    const app = { cpuTime: 0 }
    const status = { app, workers: [], instances: [] } as unknown as Reading['status']
    return { at: 0, status, edges: structuredClone(totals.edges), machine: 0 }
  }
  const before = reading()
  const edge = table.edges(0).add(key)
  for (let call = 0; call < lost + 5; call++) edge.begin()
  for (let call = 0; call < 5; call++) edge.end(200, 20)
  totals.retire(0)
  const p99 = upperBound(bucketOf(20_000)) / 1000
  const expected = { calls: lost + 5, failures: lost, mean: 20, p50: p99, p99 }
  assert.deepEqual(latencyOf(windowOf(before, reading()).edges), expected)
})

test('an edge without a call whose duration is known shows none', () => {
  const counts = { inFlight: 0, calls: 3, failures: 3, retries: 0, callsPerSecond: 0, p50: 0, p99: 0 }
  const key = { caller: '', callee: 'web', protocol: 'http', method: 'GET', route: '/', transport: 'local' } as const
  const lines = edgeLines([{ ...key, ...counts }], { isTerminal: false } as never, 5)
  assert.match(lines.at(-1)!, / 3 +3 .* – +–$/)
})
