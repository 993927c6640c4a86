import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { noQueueCounts } from '../../../src/shared/metrics/queue-cells.ts'
import { formatMetrics, metrics } from '../../../src/observe/metrics/metrics.ts'
import type { Observed } from '../../../src/observe/metrics/observed-metrics.ts'
import type { AppStatus, WorkerStats } from '../../../src/observe/app-status.ts'
import { edgeStats as edge } from '../support/edge-stats.ts'
import { parseMetrics } from '../../support/app/prometheus.ts'

const worker: WorkerStats = {
  worker: 0,
  name: 'shared 0',
  kind: 'shared',
  state: 'serving',
  pid: 1,
  startedAt: 6000,
  startsIn: null,
  restarts: 2,
  lastExit: { why: 'exception', service: 'web', text: 'it threw', stack: [] },
  connections: 3,
  requests: 4,
  silentFor: 50,
  cpuTime: 1500,
  cpu: 0.5,
  eventLoopUtilization: 0.25,
  eventLoopDelay: 30,
  gcTime: 12,
  runtime: {
    delays: { last: 1, min: 0, max: 30, mean: 2, stddev: 3, p50: 4, p90: 5, p99: 6 },
    loopTime: { active: 2000, idle: 8000 },
    heap: { total: 1500, limit: 9000, external: 100 },
    spaces: [{ name: 'new_space', size: 700, used: 600, available: 100, physical: 650 }],
    gc: [{ kind: 'minor', sum: 9, counts: [1, 2, 0, 0, 0, 0, 0, 0] }],
  },
  heapUsed: 1000,
  memory: 2000,
  spare: null,
}

const dead: WorkerStats = {
  ...worker,
  worker: 1,
  name: 'odd "name"\\\n',
  state: 'waiting',
  lastExit: null,
  silentFor: null,
  cpuTime: null,
  eventLoopUtilization: null,
  eventLoopDelay: null,
  gcTime: null,
  runtime: null,
  heapUsed: null,
  memory: null,
}

const counts = { unhealthy: null, inFlight: 1, calls: 10, failures: 2, callsPerSecond: 5 }

const status: AppStatus = {
  app: {
    name: 'shop',
    root: '/shop',
    pid: process.pid,
    file: '/srv/shop/busbar.config.json',
    startedAt: 5000,
    phase: 'running',
    ready: true,
    unready: [],
    cpuTime: 3000,
    memory: 4000,
  },
  accelerators: [],
  workers: [worker, dead, { ...worker, worker: 2, name: 'billing', kind: 'process', cpuTime: 500, memory: 6000 }],
  services: [
    {
      service: 'web',
      waiting: 6,
      shed: 7,
      calls: 9,
      failures: 6,
      events: { handled: 9, failed: 2, dropped: 3, waiting: 4 },
      queue: noQueueCounts,
    },
  ],
  instances: [
    { service: 'web', instance: 0, worker: 0, state: 'serving', ...counts },
    { service: 'web', instance: 1, worker: 1, state: 'waiting', ...counts },
  ],
  remotes: [
    {
      service: 'stock',
      reachable: true,
      hosts: [
        {
          host: 'tls://10.0.0.7:7001',
          app: 'stock',
          version: '1.0.0',
          contract: null,
          state: 'linked',
          why: null,
          links: 2,
          load: 3,
          inFlight: 1,
          silentFor: 500,
        },
      ],
    },
  ],
  cluster: { name: 'shop', host: 'a1', fault: null, members: [] },
  schedule: [],
  calls: [
    {
      caller: '',
      callee: 'web',
      count: 10,
      timed: 10,
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
  edges: [
    edge({ caller: '', callee: 'web', protocol: 'http', method: 'GET', route: '/shop' }),
    edge({ caller: 'web', callee: 'cart', protocol: 'http', method: 'POST', route: '' }),
    edge({ caller: 'web', callee: 'stock', protocol: 'rpc', method: 'count', route: '' }),
  ],
  entrance: {
    connections: 1,
    accepted: 2,
    handshakes: 3,
    failedHandshakes: 4,
    requests: { http1: 5, http2: 6 },
    inFlight: 7,
    bytesReceived: 8,
    bytesSent: 9,
    refusals: [{ status: 503, reason: 'overloaded', count: 10 }],
    queueTimes: {
      buckets: [
        { le: 1, count: 4 },
        { le: null, count: 5 },
      ],
      sum: 12,
    },
    moved: 11,
    repeated: 12,
    direct: 14,
    floods: 13,
  },
  refusals: [{ status: 503, reason: 'overloaded', count: 10 }],
}

const count = { service: 'web', worker: '0', count: 3 }
const observed: Observed = {
  services: { families: [], refused: [], shown: [count], dropped: [count] },
  otlp: [{ signal: 'traces', exported: 4, dropped: 5 }],
  exemplars: () => undefined,
}

describe('the text for Prometheus', () => {
  const parsed = parseMetrics(formatMetrics(status, 'prometheus', observed))

  test('has every metric of the table, with its type, help and labels', () => {
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

  test('uses seconds and bytes', () => {
    const value = (name: string): number => parsed.get(name)!.samples[0]!.value
    assert.equal(value('busbar_start_time_seconds'), 5)
    assert.equal(value('busbar_worker_cpu_seconds_total'), 1.5)
    assert.equal(value('busbar_worker_event_loop_silence_seconds'), 0.05)
    assert.equal(value('busbar_worker_memory_bytes'), 2000)
    assert.equal(value('busbar_remote_silence_seconds'), 0.5)
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

  test('names requests and typed calls by the conventions of OpenTelemetry', () => {
    const labelsOf = (name: string): unknown[] =>
      parsed
        .get(name)!
        .samples.filter((sample) => sample.name === `${name}_count`)
        .map(({ labels, value }) => `${Object.values(labels).join('|')}: ${value}`)
    assert.deepEqual(labelsOf('http_server_request_duration_seconds').slice(0, 6), [
      'web||local|1|GET|/shop|200|: 1',
      'web||local||GET|/shop|200|: 1',
      'web||local|1|GET|/shop|503|503: 1',
      'web||local||GET|/shop|503|503: 1',
      'web||local|1|GET|/shop||_OTHER: 1',
      'web||local||GET|/shop||_OTHER: 1',
    ])
    assert.deepEqual(labelsOf('http_client_request_duration_seconds')[0], 'web|cart|local|0|POST||200|: 2')
    assert.deepEqual(labelsOf('rpc_client_call_duration_seconds')[0], 'web|stock|local|0|busbar|stock/count|200|: 2')
  })

  test('has the usual names of processes and of Node', () => {
    const valuesOf = (name: string): unknown[] =>
      parsed.get(name)!.samples.map(({ labels, value }) => [labels['kind'], value])
    assert.deepEqual(valuesOf('process_cpu_seconds_total'), [
      ['supervisor', 3],
      ['process', 0.5],
    ])
    assert.deepEqual(
      parsed.get('process_cpu_time_seconds_total')!.samples.map(({ labels }) => [labels['kind'], labels['cpu_mode']]),
      [
        ['supervisor', 'user'],
        ['process', 'user'],
        ['supervisor', 'system'],
        ['process', 'system'],
      ],
    )
    assert.deepEqual(valuesOf('process_resident_memory_bytes'), [
      ['supervisor', 4000],
      ['process', 6000],
    ])
    assert.deepEqual(valuesOf('nodejs_heap_size_used_bytes')[0], ['shared', 1000])
    assert.deepEqual(valuesOf('nodejs_eventloop_lag_max_seconds')[0], ['shared', 0.03])
    assert.equal(parsed.get('nodejs_version_info')!.samples[0]!.labels['version'], process.version)
  })

  test('omits unknown values, and escapes names', () => {
    const heaps = parsed.get('busbar_worker_heap_used_bytes')!.samples
    assert.deepEqual(
      heaps.map(({ labels }) => labels['worker']),
      ['0', '2'],
    )
    assert.equal(parsed.get('busbar_worker_up')!.samples[1]!.labels['name'], dead.name)
    assert.deepEqual(
      parsed.get('busbar_worker_last_exit_info')!.samples.map(({ labels }) => labels['why']),
      ['exception', 'exception'],
    )
  })
})

test('the text of OpenMetrics has the same samples, a family for each metric, and an end', () => {
  const text = formatMetrics(status, 'openmetrics')
  assert.ok(text.endsWith('\n# EOF\n'))
  // What this process uses changes in between.
  const comparable = (line: string): string => line.replace(/^(process_.*) \S+$/, '$1')
  const samples = (all: string): string[] =>
    all
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(comparable)
  assert.deepEqual(samples(text), samples(formatMetrics(status)))
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!] as const)
  const names = types.map(([name]) => name)
  assert.equal(new Set(names).size, names.length)
  assert.equal(types.length, metrics.length)
  // A counter's samples have a suffix that its family has not.
  for (const [name, type] of types)
    assert.equal(type !== 'counter' || metrics.some((metric) => metric.name === `${name}_total`), true, name)
})

test('docs/reference/metrics.md lists exactly the metrics of the table', () => {
  const page = readFileSync(new URL('../../../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  assert.deepEqual(
    rows,
    metrics.map(({ name, type, labels, help }) => [name, type, labels.map((label) => `\`${label}\``).join(', '), help]),
  )
})
