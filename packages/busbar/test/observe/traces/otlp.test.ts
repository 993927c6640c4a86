import assert from 'node:assert/strict'
import { test as anyTest } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import type { App } from '../../../src/config/app.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { isInstalled } from '../../support/is-installed.ts'
import { GrpcCollector } from '../support/grpc-collector.ts'
import { OtlpReceiver, type ReceivedPoint } from '../support/otlp-receiver.ts'

const folder = `${import.meta.dirname}/../programs/traces`
const programs = `${import.meta.dirname}/../programs/metrics`

/** Optional packages, which an installation may leave out. */
const skip = ['proto', 'grpc'].every((protocol) => isInstalled(`@opentelemetry/exporter-trace-otlp-${protocol}`))
  ? false
  : 'the exporters are not installed'
const test = (name: string, run: () => Promise<void>): void => void anyTest(name, { skip, timeout: 120_000 }, run)

/** `SPAN_KIND_SERVER` of the protocol. */
const serverKind = 2

/** The app of the tests of traces, which exports to `receiver`. */
async function tracesApp(otlp: App['otlp'], run: 'shared' | 'thread' | 'process'): Promise<TestApp> {
  const app = await loadApp(folder)
  const services = app.services.map((service) => ({ ...service, run }))
  return await TestApp.startLoaded({
    ...app,
    services,
    otlp,
    traces: { sample: 1, keep: 10 },
    accelerators: acceleratorNames,
  })
}

test('spans of services are exported with their library, parent and failure', async () => {
  await using receiver = await OtlpReceiver.open()
  const id = newTraceId()
  {
    const otlp = await otlpOf({ url: receiver.url, metrics: false })
    const app = await loadApp(`${import.meta.dirname}/../programs/spans`)
    await using running = await TestApp.startLoaded({ ...app, otlp, accelerators: acceleratorNames })
    const headers = { traceparent: `00-${id}-1234567890123456-01` }
    await (await fetch(new URL('/fetch', running.url), { headers })).text()
  }
  const spans = receiver.spans.filter(({ trace }) => trace === id)
  const named = (name: string): (typeof spans)[number] => spans.find((span) => span.name === name)!
  assert.deepEqual([named('work').service, named('work').attributes], ['web', { path: '/fetch' }])
  assert.equal(named('inner').parent, named('work').id)
  assert.equal(named('inner').failed, true)
  // The call of another service lies in the span.
  assert.ok(spans.some(({ parent, attributes }) => parent === named('work').id && 'http.request.method' in attributes))
})

/** As the config is after loading. */
async function otlpOf(config: Record<string, unknown>): Promise<App['otlp'] & object> {
  using files = new TestFolder()
  files.write('web/index.js', 'require("http").createServer().listen(0)')
  files.write('busbar.config.json', JSON.stringify({ otlp: config, services: { web: './web' } }))
  return (await loadApp(files.path)).otlp!
}

for (const protocol of ['http/protobuf', 'grpc'] as const)
  test(`the process of a span is the one that has made it, as a number (${protocol})`, async () => {
    await using receiver = await OtlpReceiver.open()
    await using collector = await GrpcCollector.open(receiver)
    const url = protocol === 'grpc' ? collector.url : receiver.url
    const otlp = await otlpOf({ url, protocol, interval: 100 })
    let pid: number | null
    {
      await using app = await tracesApp(otlp, 'process')
      await (await fetch(new URL('/fetch', app.url))).text()
      pid = app.running.status().workers.find(({ name }) => name === 'back')!.pid
      await receiver.until(() => receiver.points('busbar_ready')[0])
    }
    const pids = (name: string): unknown[] => [
      ...new Set(
        receiver.spans.filter(({ service }) => service === name).map(({ resource }) => resource['process.pid']),
      ),
    ]
    assert.deepEqual(pids('back'), [pid])
    assert.equal(typeof pid, 'number')
    assert.notEqual(pid, process.pid)
  })

for (const protocol of ['http/protobuf', 'grpc'] as const)
  test(`metrics have the names, units and attributes of the semantic conventions (${protocol})`, async () => {
    await using receiver = await OtlpReceiver.open()
    await using collector = await GrpcCollector.open(receiver)
    const url = protocol === 'grpc' ? collector.url : receiver.url
    await using app = await tracesApp(await otlpOf({ url, protocol, interval: 100, traces: false }), 'shared')
    await (await fetch(new URL('/fetch', app.url))).text()
    const point = async (name: string): Promise<ReceivedPoint> => await receiver.until(() => receiver.points(name)[0])
    const server = await point('http.server.request.duration')
    assert.deepEqual([server.type, server.unit], ['histogram', 's'])
    const { labels } = await receiver.until(() =>
      receiver.points('http.server.request.duration').find((one) => !('busbar.caller' in one.labels)),
    )
    assert.equal(labels['http.request.method'], 'GET')
    assert.equal(labels['http.response.status_code'], 200)
    assert.equal(labels['busbar.service'], 'front')
    assert.equal(typeof labels['http.route'], 'string')
    assert.ok(!('error.type' in labels))
    const cpu = await point('process.cpu.time')
    assert.deepEqual([cpu.type, cpu.unit, cpu.isMonotonic], ['sum', 's', true])
    const heap = await point('v8js.memory.heap.used')
    assert.deepEqual([heap.type, heap.unit, heap.isMonotonic], ['sum', 'By', false])
    const loop = await point('nodejs.eventloop.utilization')
    assert.deepEqual([loop.type, loop.unit], ['gauge', '1'])
    const aliases = [...receiver.names].filter((name) => /^(?:http|rpc|nodejs|process|v8js)_/.test(name as string))
    assert.deepEqual(aliases, [])
  })

for (const run of ['shared', 'thread'] as const)
  test(`spans are exported with their parents, by service (${run})`, async () => {
    await using receiver = await OtlpReceiver.open()
    const id = newTraceId()
    {
      const otlp = await otlpOf({
        url: `${receiver.url}/`,
        headers: { authorization: 'Bearer very-secret' },
        metrics: false,
      })
      await using app = await tracesApp(otlp, run)
      const headers = { traceparent: `00-${id}-1234567890123456-01` }
      await (await fetch(new URL('/fetch', app.url), { headers })).text()
    }
    // The end has exported them, without a wait for the interval.
    const spans = receiver.spans.filter(({ trace }) => trace === id)
    const first = spans.find(({ parent }) => parent === '1234567890123456')!
    // The service in another thread has a span of its own.
    assert.equal(first.service, run === 'thread' ? 'traces' : 'front')
    assert.equal(first.kind, serverKind)
    const served = spans.filter(({ service, kind }) => service === 'front' && kind === serverKind)
    assert.equal(served.length, 1)
    assert.equal(first.attributes['http.request.method'], 'GET')
    assert.equal(first.attributes['url.path'], '/fetch')
    assert.equal(first.attributes['http.response.status_code'], 200)
    const back = spans.findLast(({ service }) => service === 'back')!
    const byId = new Map(spans.map((span) => [span.id, span]))
    let root = back
    while (byId.has(root.parent)) root = byId.get(root.parent)!
    assert.equal(root.id, first.id)
    assert.deepEqual(new Set(receiver.requests.map(({ path }) => path)), new Set(['/v1/traces']))
    assert.ok(receiver.requests.every(({ headers }) => headers.authorization === 'Bearer very-secret'))
  })

test('metrics of Busbar and of services are exported at each interval', async () => {
  await using receiver = await OtlpReceiver.open()
  const otlp = await otlpOf({ url: receiver.url, interval: 100 })
  await using app = await TestApp.start({
    services: { web: { file: `${programs}/prom/index.cjs`, env: { NAME: 'a' } } },
    otlp,
  })
  await (await fetch(app.url)).text()
  const orders = await receiver.until(() => receiver.points('orders_a_total').find(({ point }) => point['value'] === 2))
  assert.equal(orders.type, 'sum')
  assert.equal(orders.service, 'test')
  assert.deepEqual(orders.labels, { service: 'web', worker: '0', kind: 'big', exported_service: 'theirs' })
  const took = await receiver.until(() => receiver.points('took_a_seconds').find(({ point }) => point['count'] === 2))
  assert.deepEqual(took.point['bounds'], [0.1, 1])
  assert.deepEqual(took.point['counts'], [0, 1, 1])
  assert.equal(took.point['sum'], 5.5)
  const calls = await receiver.until(() =>
    receiver.points('busbar_calls_total').find(({ point }) => point['value'] === 1),
  )
  assert.deepEqual(calls.labels, { service: 'web', instance: '0', worker: '0' })
  const exported = await receiver.until(() =>
    receiver.points('busbar_otlp_exported_total').find(({ point }) => (point['value'] as number) > 0),
  )
  assert.deepEqual(exported.labels, { signal: 'metrics' })
})

test('spans and metrics are exported over gRPC, with the headers of the config', async () => {
  await using receiver = await OtlpReceiver.open()
  await using collector = await GrpcCollector.open(receiver)
  const headers = { authorization: 'Bearer very-secret' }
  {
    const otlp = await otlpOf({ url: collector.url, protocol: 'grpc', headers, interval: 100 })
    await using app = await tracesApp(otlp, 'shared')
    await (await fetch(new URL('/fetch', app.url))).text()
    await receiver.until(() =>
      receiver.points('busbar_calls_total').find(({ point }) => (point['value'] as number) > 0),
    )
  }
  assert.deepEqual(new Set(receiver.spans.map(({ service }) => service)), new Set(['front', 'back']))
  assert.ok(receiver.requests.every((request) => request.headers.authorization === headers.authorization))
})

test('a collector that refuses is reported once, and what it refuses is counted', async () => {
  await using receiver = await OtlpReceiver.open()
  receiver.status = 400
  const otlp = await otlpOf({ url: receiver.url, interval: 100, headers: { 'x-key': 'very-secret' } })
  await using app = await TestApp.start({
    services: { web: `${programs}/otel/index.mjs` },
    otlp,
  })
  await app.untilLogged('OTLP: metrics cannot be exported')
  await receiver.until(() => (receiver.requests.length > 3 ? true : undefined))
  receiver.status = 200
  await app.untilLogged('OTLP: metrics are exported again')
  const dropped = await receiver.until(() =>
    receiver.points('busbar_otlp_dropped_total').findLast(({ point }) => (point['value'] as number) > 0),
  )
  assert.deepEqual(dropped.labels, { signal: 'metrics' })
  assert.equal(app.log.filter(({ line }) => line.includes('cannot be exported')).length, 1)
  assert.ok(app.log.every(({ line }) => !line.includes('very-secret')))
})

test('spans for which the queue has no room are reported once, and when there is room again', async () => {
  await using receiver = await OtlpReceiver.open()
  receiver.status = undefined
  using _ = withEnvironment({
    OTEL_BSP_MAX_QUEUE_SIZE: '2',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
  })
  await using app = await tracesApp(await otlpOf({ url: receiver.url, metrics: false }), 'shared')
  for (let n = 0; n < 4; n++) await (await fetch(new URL('/fetch', app.url))).text()
  await app.untilLogged('OTLP: traces are dropped')
  receiver.status = 200
  await app.untilLogged('OTLP: the queue of traces has room again')
  assert.equal(app.log.filter(({ line }) => line.includes('traces are dropped')).length, 1)
})

test('a collector that does not answer delays the end by no more than a limit', async () => {
  await using receiver = await OtlpReceiver.open()
  receiver.status = undefined
  // The exporter ends what hangs after its own time-out.
  using _ = withEnvironment({ OTEL_EXPORTER_OTLP_TIMEOUT: '2500' })
  const otlp = await otlpOf({ url: receiver.url, interval: 100 })
  const app = await TestApp.start({ services: { web: `${programs}/otel/index.mjs` }, otlp })
  await receiver.until(() => receiver.requests[0])
  await app.running.stop()
  assert.ok(app.log.some(({ line }) => /OTLP: \d+ points of metrics are lost/.test(line)))
})

test('what the config leaves out comes from the standard variables', async () => {
  await using receiver = await OtlpReceiver.open()
  using _ = withEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=from-environment',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    OTEL_SERVICE_NAME: 'renamed',
  })
  await using app = await TestApp.start({
    services: { web: `${programs}/otel/index.mjs` },
    otlp: await otlpOf({ traces: false }),
  })
  await (await fetch(app.url)).text()
  const point = await receiver.until(() => receiver.points('orders_placed_total')[0])
  assert.equal(point.service, 'renamed')
  const { headers } = receiver.requests[0]!
  assert.deepEqual([headers['x-key'], headers['content-encoding']], ['from-environment', 'gzip'])
})

function withEnvironment(values: Readonly<Record<string, string>>): Disposable {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, values)
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    },
  }
}
