import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import type { App, Service } from '../../../src/config/app.ts'
import { formatMetrics } from '../../../src/observe/metrics/metrics.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { parseMetrics, sumOf } from '../../support/app/prometheus.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { wantedEntrance } from '../../support/app/wanted-entrance.ts'

const folder = `${import.meta.dirname}/../programs/edges`

const placements: Record<string, Service['run']> = {
  'in one thread': 'shared',
  'a thread each': 'thread',
  'a process each': 'process',
}

/** What the calls of `/http` and `/typed` of web are, wherever the services run. */
const expected = [
  ' > cart http GET /cart 200: 1',
  ' > cart http GET /cart 404: 1',
  ' > web http GET / 200: 2',
  ' > web http GET / 404: 1',
  ' > web http GET / 500: 1',
  'web > cart http GET  200: 4',
  'web > cart http GET  404: 1',
  'web > cart http GET  500: 1',
  'web > cart http POST  200: 1',
  'web > cart http POST  none: 1',
  'web > stock rpc broken  500: 1',
  'web > stock rpc count  200: 4',
  'web > stock rpc count  410: 1',
  'web > stock rpc count  422: 1',
  'web > stock rpc slow  504: 1',
  'web > stock rpc ticks  200: 2',
]

for (const [where, run] of Object.entries(placements))
  for (const accelerators of [acceleratorNames, []])
    test(`every call counts once for its edge, ${where}, ${withOr(accelerators)}`, async () => {
      await using app = await TestApp.startLoaded(await placed(run, { accelerators }))
      await callAll(app)
      await pollUntil(
        () => seen(app).join('\n') === expected.join('\n'),
        () => seen(app),
      )
      assert.ok(app.running.status().edges.every(({ inFlight }) => inFlight === 0))
    })

const upgrades = `${import.meta.dirname}/../programs/upgrades`
const answers = ['101: 1', '403: 1', 'none: 1']

for (const [where, run] of Object.entries(placements))
  for (const by of ["the program's own server", 'the gateway'])
    test(`an upgrade to ${by} counts with the status that the program answers, ${where}`, async () => {
      const services = {
        front: { file: `${upgrades}/front.mjs`, run },
        back: { file: `${upgrades}/back.mjs`, run },
      }
      const gateway = { entry: 'front', ...(by !== 'the gateway' && { raw: true }) }
      await using app = await TestApp.start({ services, gateway })
      await allUpgrades(app, 'front', ['front > back http GET '])
    })

test('an upgrade to a command counts with its route', async () => {
  const args = [`${upgrades}/back.mjs`]
  const entry = { file: process.execPath, args } as unknown as Service['entry']
  const back = { file: args[0]!, run: 'process', kind: 'command', path: upgrades, entry } as const
  await using app = await TestApp.start({ services: { back }, gateway: { entry: 'back' } })
  await allUpgrades(app, 'back', [])
})

/** `further`: the edges of the calls that the service makes for each. */
async function allUpgrades(app: TestApp, entry: string, further: readonly string[]): Promise<void> {
  for (const path of ['/accept', '/refuse', '/close']) await upgrade(app, path)
  const edges = [` > ${entry} http GET /`, ...further]
  const wanted = edges.flatMap((edge) => answers.map((one) => `${edge} ${one}`))
  await pollUntil(
    () => seen(app).join('\n') === wanted.join('\n'),
    () => seen(app),
  )
  assert.ok(app.running.status().edges.every(({ inFlight }) => inFlight === 0))
}

describe('the counts of an edge', () => {
  test('are the same in the status and in each metric, and every call has a duration', async () => {
    await using app = await TestApp.startLoaded(await placed('shared'))
    await callAll(app)
    await pollUntil(
      () => seen(app).join() === expected.join(),
      () => seen(app),
    )
    const status = app.running.status()
    const metrics = parseMetrics(formatMetrics(status))
    assert.equal(sumOf(metrics, 'busbar_edge_calls_total'), 24)
    assert.equal(sumOf(metrics, 'http_server_request_duration_seconds', '_count'), 14)
    assert.equal(sumOf(metrics, 'http_client_request_duration_seconds', '_count'), 8)
    assert.equal(sumOf(metrics, 'rpc_server_call_duration_seconds', '_count'), 10)
    assert.equal(sumOf(metrics, 'rpc_client_call_duration_seconds', '_count'), 10)
    assert.equal(sumOf(metrics, 'busbar_call_duration_seconds', '_count'), 24)
    for (const { outcomes } of status.edges)
      for (const { count, buckets } of outcomes) assert.equal(buckets.at(-1)!.count, count)
  })

  for (const run of ['thread', 'process'] as const)
    test(`stay when the worker dies that has counted them (${run})`, async () => {
      const app_ = await placed(run)
      await using app = await TestApp.startLoaded(app_)
      const get = async (path: string): Promise<unknown> => await fetch(new URL(path, app.url)).catch(() => {})
      await get('/cart/')
      await get('/http')
      const before = (): number => count(app, 'web', 'cart')
      await pollUntil(() => before() === 8, before)
      const worker = app.running.status().instances.find(({ service }) => service === 'cart')!.worker
      await get('/cart/exit')
      await app.untilReplaced(worker)
      await get('/cart/')
      const after = (): number => count(app, '', 'cart')
      await pollUntil(() => after() === 3, after)
      assert.equal(count(app, 'web', 'cart'), 8)
    })

  test('name the transport', async () => {
    const app_ = await placed('process')
    const services = app_.services.map((one): Service => ({ ...one, run: one.name === 'cart' ? 'process' : 'shared' }))
    await using app = await TestApp.startLoaded({ ...app_, services })
    await callAll(app)
    await pollUntil(
      () => seen(app).join() === expected.join(),
      () => seen(app),
    )
    const transports = app.running
      .status()
      .edges.filter(({ method }) => method === 'GET' || method === 'count')
      .map(({ caller, callee, transport }) => `${caller} > ${callee} ${transport}`)
    assert.deepEqual(transports.sort(), [' > cart unix', ' > web local', 'web > cart unix', 'web > stock local'])
  })
})

function withOr(accelerators: readonly string[]): string {
  return `${accelerators.length === 0 ? 'without' : 'with'} accelerators`
}

async function placed(run: Service['run'], changes: Partial<App> = {}): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  const gateway = { ...app.gateway, entrance: wantedEntrance }
  return { ...app, gateway, ...changes, services: app.services.map((service) => ({ ...service, run })) }
}

async function callAll(app: TestApp): Promise<void> {
  for (const path of ['/http', '/typed', '/fault', '/unknown', '/cart/', '/cart/missing']) {
    const response = await fetch(new URL(path, app.url))
    await response.text()
  }
}

/** As `expected` has them. */
async function upgrade({ port }: TestApp, path: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.once('data', () => socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nhost: front\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`)
  await once(socket, 'close')
}

function seen(app: TestApp): string[] {
  const counts = new Map<string, number>()
  for (const { caller, callee, protocol, method, route, outcomes } of app.running.status().edges)
    for (const { status, count } of outcomes) {
      const key = `${caller} > ${callee} ${protocol} ${method} ${route} ${status}`
      counts.set(key, (counts.get(key) ?? 0) + count)
    }
  return [...counts].map(([key, count]) => `${key}: ${count}`).sort()
}

function count(app: TestApp, from: string, to: string): number {
  return app.running
    .status()
    .edges.filter(({ caller, callee }) => caller === from && callee === to)
    .reduce((sum, { calls }) => sum + calls, 0)
}
