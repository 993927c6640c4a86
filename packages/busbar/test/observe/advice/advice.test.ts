import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advise } from '../../../src/observe/advice/advise.ts'
import type { ModelParts } from '../../../src/observe/advice/app-model.ts'
import type { AppWindow, EdgeWindow, WorkerWindow } from '../../../src/observe/advice/app-window.ts'
import { type CostedCalls, costOfCall } from '../../../src/observe/advice/placement-costs.ts'
import type { PlacedService } from '../../../src/observe/advice/placement.ts'
import { slowDelay } from '../../../src/observe/advice/slow-delay.ts'
import { bucketCount, bucketOf } from '../../../src/shared/metrics/latency-buckets.ts'
import { costs, table } from '../support/placement-costs.ts'

interface Setup {
  /** Milliseconds of own work of each call. */
  readonly own: Readonly<Record<'web' | 'cart' | 'stock', number>>
  readonly rate?: number
  readonly fixed?: string
}

/** `web` calls `cart` and `stock` one after the other. Each runs in a thread of its own. */
function partsOf({ own, rate = 100, fixed }: Setup): ModelParts {
  const seconds = 10
  const calls = rate * seconds
  const hop = table.thread
  const durations = { cart: own.cart + hop.latency, stock: own.stock + hop.latency, web: 0 }
  durations.web = own.web + durations.cart + durations.stock
  const edges = [
    edge('', 'web', calls, durations.web, 'local'),
    edge('web', 'cart', calls, durations.cart, 'thread'),
    edge('web', 'stock', calls, durations.stock, 'thread'),
  ]
  const used = { web: own.web + hop.caller * 2, cart: own.cart + hop.callee, stock: own.stock + hop.callee }
  const names = ['web', 'cart', 'stock'] as const
  const window: AppWindow = {
    seconds,
    edges,
    workers: names.map((name) => ({
      name,
      kind: 'thread',
      services: [name],
      cpu: (used[name] * rate) / 1000,
      loop: null,
    })),
    cpu: null,
    machine: 0,
  }
  const place = { run: 'thread', group: undefined, workers: 1, kind: 'program' } as const
  const asked = { run: place.run, group: place.group }
  const services = new Map(names.map((name): [string, PlacedService] => [name, { ...place, name, fixed, asked }]))
  const placement = { services, folders: new Map(), sharedWorkers: 1, isRaw: true }
  return { window, placement, costs, cores: 4, bytesOf: () => 100, recordsTraces: true }
}

function edge(caller: string, callee: string, calls: number, mean: number, transport: 'local' | 'thread'): EdgeWindow {
  const buckets = new Float64Array(bucketCount)
  buckets[bucketOf(Math.ceil(mean * 1000))] = calls
  return {
    caller,
    callee,
    protocol: 'http',
    method: 'GET',
    route: '',
    transport,
    calls,
    timed: calls,
    failures: 0,
    mean,
    buckets,
  }
}

test('services whose calls cost more than their own work are put together, and the figures say why', () => {
  const { suggestions, services, unknown } = advise(partsOf({ own: { web: 0.1, cart: 0.05, stock: 0.05 } }))
  const [first] = suggestions
  assert.deepEqual(
    new Set(first!.moves.map(({ service, run }) => `${service} ${run}`)),
    new Set(['web shared', 'cart shared', 'stock shared']),
  )
  assert.match(first!.text, /^put .* together \(run: shared\): mean -0\.3\d* ms, p99 -.* ms, 0\.01 cores less/)
  assert.equal(first!.figures.length, 2)
  assert.match(first!.figures.join(), /web > cart: 100 calls a second .* thread 200 µs .* local 30 µs/)
  assert.match(first!.cautions.join(), /share globals/)
  assert.deepEqual(unknown, [])
  // Alone in a shared worker, a service is as far from the others as in its thread.
  const cart = services.find(({ service }) => service === 'cart')!
  assert.ok(Math.abs(cart.cpu! - 0.005) < 1e-9)
  const elsewhere = Object.fromEntries(cart.elsewhere.map(({ run, change }) => [run, change.cpu]))
  assert.ok(elsewhere['process']! > 0.006 && Math.abs(elsewhere['shared']!) < 1e-9, JSON.stringify(elsewhere))
})

test('calls that are on their way at the same time share the cost of a wake-up', () => {
  const costOf = (parts: Partial<CostedCalls>): number => {
    const calls = { protocol: 'http', transport: 'thread', bytes: 0, rate: 100, together: 1, ...parts } as const
    const { caller, callee } = costOfCall(costs, calls)
    return caller + callee
  }
  assert.equal(costOf({}), 0.08)
  // 10,000 a second of 0.2 ms each: two at a time.
  const two = costOf({ rate: 10_000 })
  assert.ok(two > 0.04 && two < 0.06, `${two}`)
  assert.equal(costOf({ together: 2 }), two)
  for (const many of [{ rate: 20_000 }, { rate: 1e6 }, { together: 4 }, { together: 50 }])
    assert.equal(costOf(many), 0.04)
})

test('of calls to one service that a request makes at the same time, it waits for one', () => {
  const parts = partsOf({ own: { web: 0.1, cart: 1, stock: 0 } })
  const [outside, cart] = parts.window.edges
  const edges = [
    { ...outside!, mean: 1.5 },
    { ...cart!, calls: cart!.calls * 4 },
  ]
  const { services } = advise({ ...parts, window: { ...parts.window, edges } })
  const web = services.find(({ service }) => service === 'web')!
  // 0.18 ms of processor time of each request, of which four calls together took 0.08 ms.
  assert.ok(Math.abs(web.cpu! - 0.01) < 1e-3, `${web.cpu!}`)
})

test('services that need more than one processor together stay apart', () => {
  const { suggestions, now } = advise(partsOf({ own: { web: 6, cart: 7, stock: 7 } }))
  assert.ok(now.utilization! > 0.6)
  assert.deepEqual(suggestions, [])
})

test('without the processor time of a worker there is no advice, and no figure that rests on it', () => {
  const parts = partsOf({ own: { web: 0.1, cart: 0.05, stock: 0.05 } })
  const replaced = (one: WorkerWindow): WorkerWindow => (one.services[0] === 'cart' ? { ...one, cpu: null } : one)
  const window = { ...parts.window, workers: parts.window.workers.map(replaced) }
  const { now, suggestions, services, unknown } = advise({ ...parts, window })
  assert.deepEqual([now.cpu, now.utilization, now.busiest, suggestions], [null, null, null, []])
  assert.deepEqual(
    services.map(({ service, cpu, elsewhere }) => [service, cpu === null, elsewhere]),
    [
      ['web', false, []],
      ['cart', true, []],
      ['stock', false, []],
    ],
  )
  assert.ok(services.every(({ cpu }) => cpu === null || cpu > 0))
  assert.match(unknown.join(), /The processor time of worker .* is not known/)
  // That of the app is known, if all of its workers are threads of one process.
  assert.equal(advise({ ...parts, window: { ...window, cpu: 0.3 } }).now.cpu, 0.3)
})

test('what is fixed stays, and says why', () => {
  const { suggestions, services } = advise(
    partsOf({ own: { web: 0.1, cart: 0.05, stock: 0.05 }, fixed: 'it is a command' }),
  )
  assert.deepEqual(suggestions, [])
  assert.deepEqual(
    services.map(({ fixed, elsewhere }) => [fixed, elsewhere.length]),
    Array.from({ length: 3 }, () => ['it is a command', 0]),
  )
})

test('of few calls, and of costs measured on a busy machine, the advice says that it does not know', () => {
  const parts = partsOf({ own: { web: 0.1, cart: 0.05, stock: 0.05 }, rate: 2 })
  const { suggestions, unknown } = advise({ ...parts, costs: { ...costs, others: 1.5 }, bytesOf: () => undefined })
  assert.deepEqual(suggestions, [])
  assert.match(unknown.join('\n'), /Only 20 calls .*too few/s)
  assert.match(unknown.join('\n'), /Other processes used 1\.5 processors/)
  assert.match(unknown.join('\n'), /bytes of calls are not known/)
})

test('the advice says why it does not know the bytes of calls', () => {
  const reasonOf = (rate: number, recordsTraces: boolean): string | undefined => {
    const parts = partsOf({ own: { web: 0.1, cart: 0.05, stock: 0.05 }, rate })
    const edges = rate === 0 ? [] : parts.window.edges
    const window = { ...parts.window, edges }
    const { unknown } = advise({ ...parts, window, recordsTraces, bytesOf: () => undefined })
    return unknown.map((line) => /^The bytes of calls are not known, because (.*)\.$/.exec(line)?.[1]).find(Boolean)
  }
  assert.equal(reasonOf(100, false), 'the app records no traces: calls count as small ones')
  assert.equal(reasonOf(100, true), 'none of them is in a recorded trace: calls count as small ones')
  assert.equal(reasonOf(0, true), 'there were no calls')
})

test('why-slow names the hop that waits longest, from traces', () => {
  const span = {
    trace: 'a',
    protocol: 'http',
    method: 'GET',
    path: '/',
    sent: 0,
    received: 0,
    status: 200,
    retries: 0,
    worker: '0',
  }
  const call = {
    ...span,
    id: '1',
    parent: undefined,
    caller: undefined,
    service: 'web',
    part: 'call',
    transport: 'local',
    start: 0,
    duration: 100,
    queue: 0,
  } as const
  const hop = {
    ...call,
    id: '2',
    parent: '1',
    caller: 'web',
    service: 'cart',
    transport: 'thread',
    duration: 60,
    queue: 40,
  } as const
  const answer = { ...hop, id: '3', parent: '2', part: 'answer', duration: 15, queue: 0 } as const
  const spans = [call, hop, answer].map((one) => ({ ...one, protocol: 'http' as const }))
  const [part] = slowDelay([{ id: 'a', spans, own: [], dropped: 0 }])
  assert.equal(part!.what, 'web > cart GET (thread)')
  assert.deepEqual(part!.figures, { calls: 1, queue: 40, wire: 5, mean: 60 })
  assert.match(part!.text, /1 call of .* waits 40 ms and is under way for 5 ms, of 60 ms/)
})
