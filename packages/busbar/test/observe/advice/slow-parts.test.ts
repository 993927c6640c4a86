import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noQueueCounts } from '../../../src/shared/metrics/queue-cells.ts'
import type { AppStatus, EdgeStats } from '../../../src/observe/app-status.ts'
import { findSlowParts } from '../../../src/observe/advice/slow-parts.ts'

type Parts = Partial<Pick<AppStatus, 'workers' | 'instances' | 'services' | 'edges'>>

test('names the service whose own code takes most, and the hop, from the calls between two readings', () => {
  const before = statusOf({ edges: [edge('', 'web', 10, 1000), edge('web', 'cart', 10, 900)] })
  const after = statusOf({
    edges: [edge('', 'web', 30, 1400), edge('web', 'cart', 30, 1000), edge('web', 'stock', 20, 240)],
  })
  const parts = findSlowParts(before, after, 5)
  assert.deepEqual(
    parts.map(({ kind, what }) => [kind, what]),
    [
      ['service', 'stock'],
      ['hop', 'web > stock GET'],
    ],
  )
  assert.match(parts[0]!.text, /60 % .* 4 calls a second of 12 ms/)
  assert.match(parts[1]!.text, /: 12 ms on average without the calls that stock makes; with them 12 ms, /)
})

test('charges a hop with its time without the calls that its callee makes, never with less than nothing', () => {
  const hopOf = (...edges: EdgeStats[]): unknown => {
    const part = findSlowParts(statusOf({}), statusOf({ edges }), 5).find(({ kind }) => kind === 'hop')
    return part && [part.what, Math.round(part.figures['own']!), part.figures['mean']]
  }
  const outside = edge('', 'web', 10, 1000)
  assert.deepEqual(hopOf(outside, edge('web', 'cart', 10, 300)), ['(outside) > web GET', 70, 100])
  // Calls at the same time last longer together than the call that makes them.
  const both = [edge('web', 'cart', 10, 900), edge('web', 'stock', 10, 950)]
  assert.deepEqual(hopOf(outside, ...both), ['web > stock GET', 95, 95])
  // Two callers of one service share what it spends in its own calls.
  const shared = [edge('', 'cart', 10, 500), edge('web', 'cart', 10, 1500), edge('cart', 'stock', 20, 1000)]
  assert.deepEqual(hopOf(...shared), ['cart > stock GET', 50, 50])
})

test('names blocked workers, calls that wait and busy loops before anything else', () => {
  const worker = { worker: 0, silentFor: 6000, eventLoopUtilization: 1, eventLoopDelay: 6000 }
  const workers = [
    { ...worker, name: 'shared 0', state: 'blocked' },
    { ...worker, worker: 1, name: 'render 0', state: 'serving', eventLoopUtilization: 0.98, eventLoopDelay: 120 },
  ] as unknown as AppStatus['workers']
  const instances = [{ service: 'web', worker: 0 }] as unknown as AppStatus['instances']
  const services = [
    {
      service: 'render',
      waiting: 3,
      shed: 0,
      calls: 0,
      failures: 0,
      events: { handled: 0, failed: 0, dropped: 0, waiting: 0 },
      queue: noQueueCounts,
    },
  ]
  const status = statusOf({ workers, instances, services })
  assert.deepEqual(
    findSlowParts(status, status, 5).map(({ text }) => text),
    [
      'worker shared 0 has been blocked for 6000 ms, with web',
      '3 calls wait for an instance of render with room: it needs more instances, or a higher concurrency',
      'the event loop of worker render 0 is busy 98 % of the time, with delays of up to 120 ms',
    ],
  )
})

test('says that calls of other apps are not on its edges', () => {
  const servicesOf = (calls: number): AppStatus['services'] =>
    [{ service: 'far', waiting: 0, calls }] as unknown as AppStatus['services']
  const before = statusOf({ services: servicesOf(100) })
  const after = statusOf({ services: servicesOf(160), edges: [edge('', 'far', 20, 100)] })
  assert.match(
    findSlowParts(before, after, 5).at(-1)!.text,
    /^40 calls of far came from elsewhere, from other apps or at a port of its own/,
  )
  // Those of an edge that have begun and are not over, or were sent again.
  const begun = statusOf({
    services: servicesOf(160),
    edges: [{ ...edge('', 'far', 20, 100), inFlight: 30, retries: 10 }],
  })
  assert.ok(findSlowParts(before, begun, 5).every(({ kind }) => kind !== 'elsewhere'))
})

test('calls that have waited, or were under way, at the first reading did not come from elsewhere', () => {
  const far = (parts: {
    waiting?: number
    calls: number
    over: number
    inFlight: number
    handled: number
  }): AppStatus =>
    statusOf({
      services: [{ service: 'far', waiting: 0, ...parts }] as unknown as AppStatus['services'],
      instances: [{ service: 'far', inFlight: parts.handled }] as unknown as AppStatus['instances'],
      edges: [{ ...edge('', 'far', parts.over, 100), inFlight: parts.inFlight }],
    })
  const elsewhere = (before: AppStatus, after: AppStatus): unknown =>
    findSlowParts(before, after, 5).find(({ kind }) => kind === 'elsewhere')?.figures['calls']
  // A queue of 40 drains; a blocked event loop takes 12.
  const full = far({ waiting: 40, calls: 1, over: 0, inFlight: 41, handled: 1 })
  const blocked = far({ calls: 1, over: 0, inFlight: 13, handled: 1 })
  assert.equal(elsewhere(full, far({ calls: 41, over: 41, inFlight: 0, handled: 0 })), undefined)
  assert.equal(elsewhere(blocked, far({ calls: 13, over: 13, inFlight: 0, handled: 0 })), undefined)
  // As many as drain come from another app meanwhile, also while others begin to wait.
  assert.equal(elsewhere(full, far({ calls: 81, over: 41, inFlight: 0, handled: 0 })), 40)
  assert.equal(elsewhere(full, far({ waiting: 9, calls: 81, over: 41, inFlight: 9, handled: 0 })), 40)
})

test('what a process has not reported yet, or takes with it, did not come from elsewhere', () => {
  const far = (calls: number, over: number, startedAt: number | null): AppStatus =>
    statusOf({
      services: [{ service: 'far', waiting: 0, calls }] as unknown as AppStatus['services'],
      workers: [{ worker: 0, kind: 'process', state: 'serving', startedAt }] as unknown as AppStatus['workers'],
      edges: [edge('web', 'far', over, 100)],
    })
  const elsewhere = (before: AppStatus, after: AppStatus): unknown =>
    findSlowParts(before, after, 5).find(({ kind }) => kind === 'elsewhere')?.figures['calls']
  assert.equal(elsewhere(far(0, 0, 1), far(100, 81, 1)), undefined)
  assert.equal(elsewhere(far(0, 0, 1), far(100, 60, 1)), 40)
  assert.equal(elsewhere(far(0, 0, 1), far(100, 60, 2)), undefined)
  assert.equal(elsewhere(far(0, 0, 1), far(100, 60, null)), undefined)
})

test('says nothing of an app without calls', () => {
  const status = statusOf({ edges: [edge('', 'web', 10, 1000)] })
  assert.deepEqual(findSlowParts(status, status, 5), [])
})

function statusOf(parts: Parts): AppStatus {
  return { workers: [], instances: [], services: [], edges: [], ...parts } as unknown as AppStatus
}

function edge(caller: string, callee: string, calls: number, sum: number): EdgeStats {
  const outcomes = [{ status: '200', count: calls, timed: calls, sum, buckets: [], workers: [] }]
  const figures = { inFlight: 0, calls, failures: 0, retries: 0, callsPerSecond: 0, p50: 1, p99: 2, outcomes }
  return { caller, callee, protocol: 'http', method: 'GET', route: '', transport: 'local', ...figures }
}
