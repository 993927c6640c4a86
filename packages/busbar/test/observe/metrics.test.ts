import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { formatMetrics, metrics } from '../../src/observe/metrics.ts'
import type { AppStatus, WorkerFigures } from '../../src/observe/status.ts'
import { parseMetrics } from '../support/prometheus.ts'

const worker: WorkerFigures = {
  worker: 0,
  name: 'shared 0',
  kind: 'shared',
  state: 'serving',
  pid: 1,
  startsIn: null,
  restarts: 2,
  lastExit: { why: 'exception', service: 'web', text: 'it threw' },
  connections: 3,
  requests: 4,
  silentFor: 50,
  cpuTime: 1500,
  cpu: 0.5,
  eventLoopUtilization: 0.25,
  heapUsed: 1000,
  memory: 2000,
  spare: null,
}

const dead: WorkerFigures = {
  ...worker,
  worker: 1,
  name: 'odd "name"\\\n',
  state: 'waiting',
  lastExit: null,
  silentFor: null,
  cpuTime: null,
  eventLoopUtilization: null,
  heapUsed: null,
  memory: null,
}

const counts = { inFlight: 1, calls: 10, failures: 2, callsPerSecond: 5 }

const status: AppStatus = {
  app: { name: 'shop', root: '/shop', pid: 1, startedAt: 5000, ready: true, unready: [] },
  accelerators: [],
  workers: [worker, dead],
  services: [{ service: 'web', waiting: 6, shed: 7 }],
  instances: [
    { service: 'web', instance: 0, worker: 0, state: 'serving', ...counts },
    { service: 'web', instance: 1, worker: 1, state: 'waiting', ...counts },
  ],
  calls: [
    {
      caller: '',
      callee: 'web',
      count: 10,
      sum: 250,
      p50: 1,
      p99: 2,
      buckets: [
        { le: 0.016, count: 4 },
        { le: 1.024, count: 9 },
        { le: null, count: 10 },
      ],
    },
  ],
}

describe('the text for Prometheus', () => {
  const parsed = parseMetrics(formatMetrics(status))

  test('has every metric of the table, with its type, its meaning and its labels', () => {
    assert.deepEqual(
      [...parsed.keys()],
      metrics.map(({ name }) => name),
    )
    for (const { name, type, help, labels } of metrics) {
      const found = parsed.get(name)!
      assert.deepEqual([found.type, found.help], [type, help])
      assert.ok(found.samples.length > 0, name)
      for (const {
        labels: { le: _, ...own },
      } of found.samples)
        assert.deepEqual(Object.keys(own), labels)
    }
  })

  test('says seconds and bytes', () => {
    const value = (name: string): number => parsed.get(name)!.samples[0]!.value
    assert.equal(value('busbar_start_time_seconds'), 5)
    assert.equal(value('busbar_worker_cpu_seconds_total'), 1.5)
    assert.equal(value('busbar_worker_event_loop_silence_seconds'), 0.05)
    assert.equal(value('busbar_worker_memory_bytes'), 2000)
    const duration = parsed.get('busbar_call_duration_seconds')!.samples
    assert.deepEqual(
      duration.map(({ name, labels, value }) => [name.slice(28), labels['le'], value]),
      [
        ['_bucket', '0.000016', 4],
        ['_bucket', '0.001024', 9],
        ['_bucket', '+Inf', 10],
        ['_sum', undefined, 0.25],
        ['_count', undefined, 10],
      ],
    )
  })

  test('leaves out what is not known, and keeps names as they are', () => {
    const heaps = parsed.get('busbar_worker_heap_used_bytes')!.samples
    assert.deepEqual(
      heaps.map(({ labels }) => labels['worker']),
      ['0'],
    )
    assert.equal(parsed.get('busbar_worker_up')!.samples[1]!.labels['name'], dead.name)
    assert.deepEqual(
      parsed.get('busbar_worker_last_exit_info')!.samples.map(({ labels }) => labels['why']),
      ['exception'],
    )
  })
})

test('docs/reference/metrics.md has every metric, and no other', () => {
  const page = readFileSync(new URL('../../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(busbar_\w+)` \| (\w+) \| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  assert.deepEqual(
    rows,
    metrics.map(({ name, type, labels, help }) => [name, type, labels.map((label) => `\`${label}\``).join(', '), help]),
  )
})
