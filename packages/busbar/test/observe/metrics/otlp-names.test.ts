import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { metrics } from '../../../src/observe/metrics/metrics.ts'
import { attributeNames } from '../../../src/observe/otlp/metric-attributes.ts'
import { toResourceMetrics } from '../../../src/observe/otlp/otlp-metrics.ts'

test('docs/reference/metrics.md lists the names and attributes over OTLP', () => {
  const page = readFileSync(new URL('../../../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| `([\w.]+)` \| `(.+)` \| (\w+) \|$/gm)].map(([, ...cells]) => cells)
  assert.deepEqual(
    rows,
    metrics.flatMap(({ name, type, convention }) =>
      convention ? [[name, convention.name, convention.unit, convention.isSum ? 'updowncounter' : type]] : [],
    ),
  )
  const attributes = [...page.matchAll(/^\| `(\w+)` \| `([\w.]+)` \|$/gm)].map(([, ...cells]) => cells)
  assert.deepEqual(attributes, Object.entries(attributeNames))
  const labels = new Set(metrics.filter(({ convention }) => convention).flatMap((metric) => metric.labels))
  assert.deepEqual(new Set(Object.keys(attributeNames)), labels)
})

test('every name of Node and of the conventions has a name over OTLP, or is an alias', () => {
  for (const { name, convention } of metrics) assert.equal(convention === undefined, name.startsWith('busbar_'), name)
})

test('a count that begins anew with its worker has the start of the worker, any other that of the app', () => {
  const samples = [{ labels: { worker: '0' }, value: 1 }]
  const readings = metrics.filter(({ type }) => type === 'counter').map((metric) => ({ metric, samples }))
  const parts = { attributes: {}, startedAt: 5000, now: 9000, workers: [{ worker: 0, startedAt: 7000 }] }
  const [scope] = toResourceMetrics(readings, [], parts).scopeMetrics
  const anew = scope!.metrics
    .filter(({ dataPoints: [point] }) => point!.startTime[0] === 7)
    .map(({ descriptor }) => descriptor.name)
  assert.deepEqual(anew, ['busbar_worker_cpu_seconds_total', 'process.cpu.time', 'nodejs.eventloop.time'])
})
