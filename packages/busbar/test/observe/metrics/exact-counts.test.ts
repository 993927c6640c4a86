/** What a client has counted, `/metrics` and the traces agree, whoever reads them. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { parseMetrics } from '../../support/app/prometheus.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { type Trace, TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/edges`
const openMetrics = 'application/openmetrics-text; version=1.0.0'

test('a tally of the client, /metrics and the traces have the same counts', { timeout: 120_000 }, async () => {
  await using app = await edgesApp('thread')
  const tally = new Map<string, number>()
  const paths = ['/http', '/typed', '/fault', '/unknown', '/cart/', '/cart/missing']
  const scrapes: string[] = []
  let isOver = false
  // Two scrapers read meanwhile, and change nothing.
  const scraping = [0, 1].map(async () => {
    while (!isOver) scrapes.push(await app.metrics())
  })
  await Promise.all(
    Array.from({ length: 60 }, async (_, at) => {
      const response = await fetch(new URL(paths[at % paths.length]!, app.url))
      await response.text()
      const key = `${response.status}`
      tally.set(key, (tally.get(key) ?? 0) + 1)
    }),
  )
  isOver = true
  await Promise.all(scraping)
  const expected = Object.fromEntries(tally)
  assert.deepEqual(outsideCalls(await app.metrics()), expected)
  assert.deepEqual(outsideCalls(await app.metrics()), expected)
  const traces = await app.tracesWhen((all) => all.length === 60 && all.every(isWhole))
  const firsts = Map.groupBy(traces, ({ first }) => `${first.status}`)
  assert.deepEqual(Object.fromEntries([...firsts].map(([status, all]) => [status, all.length])), expected)
  for (const one of scrapes)
    for (const [status, count] of Object.entries(outsideCalls(one))) assert.ok(count <= expected[status]!, status)
})

/** Blocks its event loop until there is a file, and says when it begins. */
const blocks = `
const { existsSync, writeFileSync } = require('node:fs')
require('node:http').createServer((_, response) => {
  writeFileSync('../begun', '')
  while (!existsSync('../end'));
  response.end('free')
}).listen(3000)`

test('a scrape is answered while the event loop of a worker is blocked', { timeout: 120_000 }, async () => {
  using files = new TestFolder({
    'busbar.config.json': { gateway: { port: 0, entry: 'web' }, services: { web: { path: './web', run: 'thread' } } },
    'web/index.js': blocks,
  })
  await using app = await TracedApp.start(await loadApp(files.path, { env: {} }))
  const blocked = fetch(app.url)
  const isBlocked = (): boolean => app.running.status().workers.some(({ state }) => state === 'blocked')
  // A worker without a processor is silent, too.
  await pollUntil(() => existsSync(files.at('begun')) && isBlocked())
  const [first, second] = await Promise.all([app.metrics(), app.metrics()])
  assert.ok(isBlocked())
  for (const one of [first, second]) assert.ok(parseMetrics(one).size > 0)
  files.write('end', '')
  assert.equal(await (await blocked).text(), 'free')
})

test(
  'OpenMetrics has a trace for a call of a bucket, and the text for Prometheus has none',
  { timeout: 120_000 },
  async () => {
    await using app = await edgesApp('thread')
    const all = new Set([
      'http_server_request_duration_seconds',
      'rpc_server_call_duration_seconds',
      'rpc_client_call_duration_seconds',
    ])
    let traces: Awaited<ReturnType<TracedApp['tracesWhen']>> = []
    let found: RegExpExecArray[] = []
    // The count and the span of a call read the clock each: a bound may be between them.
    for (let calls = 1; calls <= 10 && new Set(found.map(([, name]) => name)).size < all.size; calls++) {
      await (await fetch(new URL('/typed', app.url))).text()
      traces = await app.tracesWhen((traces) => traces.length === calls && traces.every(isWhole))
      found = exemplarsIn(await app.metrics(openMetrics))
    }
    assert.deepEqual(new Set(found.map(([, name]) => name)), all)
    for (const [line, , le, id, span, value] of found) {
      const trace = traces.find((trace) => trace.id === id)
      assert.ok(
        trace?.calls.some(({ spans }) => spans.includes(span!)),
        line,
      )
      assert.ok(le === '+Inf' || Number(value) <= Number(le), line)
    }
    assert.ok(!(await app.metrics()).includes(' # {'))
  },
)

/** The gateway's span of the first call comes last, and knows the transport. */
function isWhole({ calls }: Trace): boolean {
  return calls[0]!.transport !== null && calls[0]!.caller === null && calls.every(({ run }) => run !== null)
}

async function edgesApp(run: 'thread'): Promise<TracedApp> {
  const app = await loadApp(folder, { env: {} })
  const services = app.services.map((service) => ({ ...service, run }))
  return await TracedApp.start({ ...app, services, accelerators: acceleratorNames, traces: { sample: 1, keep: 1000 } })
}

/** By status. */
function outsideCalls(metrics: string): Record<string, number> {
  const samples = parseMetrics(metrics)
    .get('busbar_edge_calls_total')!
    .samples.filter(({ labels }) => labels['caller'] === '')
  const statuses = Map.groupBy(samples, ({ labels }) => labels['status']!)
  return Object.fromEntries(
    [...statuses].map(([status, all]) => [status, all.reduce((sum, { value }) => sum + value, 0)]),
  )
}

function exemplarsIn(text: string): RegExpExecArray[] {
  const pattern = /^(\w+)_bucket\{.*le="([^"]+)"\} \d+ # \{trace_id="(\w{32})",span_id="(\w{16})"\} (\S+) \d+\.\d{3}$/
  const lines = text.split('\n').filter((line) => line.includes(' # {'))
  return lines.map((line) => pattern.exec(line) ?? assert.fail(line))
}
