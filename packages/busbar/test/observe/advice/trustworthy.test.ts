/** What advice may say: moves that can be, changes that are, and failures that are more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advise } from '../../../src/observe/advice/advise.ts'
import type { ModelParts } from '../../../src/observe/advice/app-model.ts'
import { type AppWindow, type EdgeWindow, type Reading, windowOf } from '../../../src/observe/advice/app-window.ts'
import {
  changeText,
  coresChange,
  coresText,
  coresUsed,
  differenceOf,
  durationChange,
  durationText,
} from '../../../src/observe/advice/figures.ts'
import { moreFailures } from '../../../src/observe/advice/more-failures.ts'
import type { PlacedService } from '../../../src/observe/advice/placement.ts'
import { bucketCount, bucketOf } from '../../../src/shared/metrics/latency-buckets.ts'
import { costs } from '../support/placement-costs.ts'

interface Setup {
  readonly runs?: Readonly<Partial<Record<Name, PlacedService['run']>>>
  /** They have the same folder, which one thread can load once. */
  readonly together?: readonly Name[]
}

type Name = 'front' | 'leaf' | 'tool'

/** `front` calls `leaf`. Clients call `front` and the command `tool`. */
function partsOf({ runs = {}, together = [] }: Setup): ModelParts {
  const edges = [edge('', 'front', 'thread', 0.5), edge('front', 'leaf', 'thread', 0.25), edge('', 'tool', 'tcp', 0.3)]
  const placed = (name: Name): PlacedService => {
    const [run, kind] =
      name === 'tool' ? (['process', 'command'] as const) : ([runs[name] ?? 'thread', 'program'] as const)
    const fixed = name === 'tool' ? 'it is a command' : undefined
    return { name, kind, run, group: undefined, workers: 1, asked: { run, group: undefined }, fixed }
  }
  const services = new Map((['front', 'leaf', 'tool'] as const).map((name) => [name, placed(name)]))
  const workers = [...services.values()].map(({ name, run, kind }) => ({
    name,
    kind: kind === 'command' ? ('command' as const) : run,
    services: [name],
    cpu: 0.01,
    loop: null,
  }))
  const folders = new Map(together.map((name) => [name, { folder: '/app', isRepeatable: false }]))
  return {
    window: { seconds: 10, edges, workers, cpu: 0.03, machine: 0.03 },
    placement: { services, folders, sharedWorkers: 1, isRaw: false },
    costs,
    cores: 4,
    bytesOf: () => 100,
    recordsTraces: true,
  }
}

function edge(caller: string, callee: string, transport: EdgeWindow['transport'], mean: number): EdgeWindow {
  const buckets = new Float64Array(bucketCount)
  buckets[bucketOf(Math.ceil(mean * 1000))] = 1000
  const calls = { calls: 1000, timed: 1000, failures: 0, mean, buckets }
  return { caller, callee, protocol: 'http', method: 'GET', route: '', transport, ...calls }
}

test('services that no thread can load together are not advised to share one', () => {
  const sharedOf = (setup: Setup): string[] =>
    advise(partsOf(setup)).suggestions.map(({ moves }) =>
      moves
        .map(({ service, run }) => `${service} ${run}`)
        .toSorted()
        .join(),
    )
  assert.equal(sharedOf({})[0], 'front shared,leaf shared')
  assert.deepEqual(sharedOf({ together: ['front', 'leaf'] }), ['front shared'])
})

test('a service has no place where the config would not let it run, or would move another one', () => {
  const elsewhere = (runs: Setup['runs'], together: Setup['together'] = ['front', 'leaf']): string[] =>
    advise(partsOf({ ...(runs && { runs }), together })).services.map(
      (one) => `${one.service}: ${one.elsewhere.map(({ run }) => run).join()}`,
    )
  const tool = 'tool: '
  assert.deepEqual(elsewhere({}), ['front: shared,process', 'leaf: shared,process', tool])
  assert.deepEqual(elsewhere({ front: 'shared' }), ['front: thread,process', 'leaf: process', tool])
  // It starts before leaf, which would have to leave.
  assert.deepEqual(elsewhere({ leaf: 'shared' }), ['front: process', 'leaf: thread,process', tool])
  assert.deepEqual(elsewhere({ leaf: 'shared' }, []), ['front: shared,process', 'leaf: thread,process', tool])
})

test('a copy that would follow its original into the shared workers keeps it where it is', () => {
  const parts = partsOf({ runs: { front: 'shared' }, together: ['front', 'leaf'] })
  const services = new Map(parts.placement.services)
  const fixed = 'it is a copy of front'
  services.set('leaf', { ...services.get('leaf')!, asked: { run: 'shared', group: undefined }, fixed })
  const advice = advise({ ...parts, placement: { ...parts.placement, services } })
  assert.deepEqual(
    advice.services.map((one) => [one.elsewhere.length, one.fixed]),
    [
      [0, 'a service of the same folder would have to move with it'],
      [0, fixed],
      [0, 'it is a command'],
    ],
  )
})

test('only calls whose transport changes have a line', () => {
  const { suggestions } = advise(partsOf({}))
  const [first] = suggestions
  assert.deepEqual(
    first!.figures.map((line) => /^(.*): \d+ calls.*\): (\w+) .* each now; (\w+) /.exec(line)!.slice(1)),
    [
      ['(outside) > front', 'thread', 'local'],
      ['front > leaf', 'thread', 'local'],
    ],
  )
})

test('what is no change is shown as none', () => {
  assert.deepEqual(
    [durationChange(-7.86e-16), durationChange(1.24e-14), durationChange(0), durationChange(-0.0273)],
    ['0 µs', '0 µs', '0 µs', '-27.3 µs'],
  )
  assert.deepEqual([durationChange(0.176), durationChange(1.084)], ['+176 µs', '+1.08 ms'])
  assert.deepEqual(
    [coresChange(-0.000_2), coresChange(1e-17), coresChange(-0.007)],
    ['0 cores', '0 cores', '-0.007 cores'],
  )
  assert.deepEqual([coresText(-0.004), coresText(-0.01)], ['the same cores', '0.01 cores less'])
  assert.deepEqual([changeText(1e-13, 4), changeText(-0.29, 4), changeText(22, 1)], ['0', '-0.29', '+22'])
  assert.deepEqual([durationText(0.0058, 2), durationText(19.44)], ['5.8 µs', '19.4 ms'])
  // The sums of the same figures in another order.
  assert.deepEqual([differenceOf(0.1 + 0.2, 0.3), differenceOf(0.31, 0.3) > 0], [0, true])
})

test('the processor time of a worker is that of one and the same, and an empty slot used none', () => {
  type Worker = Partial<Reading['status']['workers'][number]>
  const cpuOf = (before: Worker, after: Worker): number | null => {
    const reading = (at: number, worker: Worker): Reading => {
      const workers = [{ worker: 0, name: 'web', kind: 'process', pid: 1, startedAt: 5, restarts: 0, ...worker }]
      const status = { app: { cpuTime: 0 }, workers, instances: [] } as unknown as Reading['status']
      return { at, status, edges: [], machine: 0 }
    }
    return windowOf(reading(0, before), reading(1000, after)).workers[0]!.cpu
  }
  assert.equal(cpuOf({ cpuTime: 100 }, { cpuTime: 600 }), 0.5)
  assert.equal(cpuOf({ cpuTime: 100 }, { cpuTime: 600, pid: 2, startedAt: 6, restarts: 1 }), null)
  // A thread has the process of the supervisor, and a renewed one has not died.
  assert.equal(cpuOf({ cpuTime: 100 }, { cpuTime: 600, startedAt: 6 }), null)
  const empty = { cpuTime: null, startedAt: null, pid: null }
  assert.equal(cpuOf(empty, empty), 0)
  assert.equal(cpuOf({ cpuTime: 100 }, empty), null)
})

test('the app does not use more processors than it can', () => {
  const parts = partsOf({})
  // All others leave it next to nothing, and the supervisor is not a worker.
  const { now } = advise({ ...parts, window: { ...parts.window, cpu: 0.37, machine: 4.3 } })
  assert.ok(now.cores >= now.cpu!, JSON.stringify(now))
  assert.equal(coresUsed(now.cpu!, now.cores), '0.37 of 0.37 processors')
  assert.equal(coresUsed(0.254, 0.25), '0.25 of 0.25 processors')
  assert.equal(coresUsed(0.91, 2), '0.91 of 2.00 processors')
})

/** Calls and failures of each route. */
function counted(routes: Readonly<Record<string, readonly [number, number]>>): AppWindow {
  const edges = Object.entries(routes).map(([route, [calls, failures]]) => ({
    ...edge('', 'front', 'thread', 1),
    route,
    calls,
    failures,
  }))
  return { seconds: 5, edges, workers: [], cpu: null, machine: 0 }
}

test('a route that always fails is no reason to move back, whatever its share is', () => {
  for (const [before, after] of [
    [43, 45],
    [40, 80],
    [1, 3000],
  ] as const)
    assert.equal(
      moreFailures(
        counted({ '/': [177, 0], '/err': [before, before] }),
        counted({ '/': [181, 0], '/err': [after, after] }),
      ),
      undefined,
    )
})

test('failures are more if chance does not explain them', () => {
  const more = (before: readonly [number, number], after: readonly [number, number]): boolean =>
    moreFailures(counted({ '/': before }), counted({ '/': after })) !== undefined
  assert.ok(!more([220, 0], [220, 0]) && !more([220, 0], [220, 1]) && !more([220, 43], [220, 45]))
  assert.ok(!more([10_000, 1000], [10_000, 1040]) && !more([1e6, 100], [1e6, 200]))
  assert.ok(more([220, 0], [220, 5]) && more([220, 43], [220, 70]) && more([4, 0], [4, 4]))
  assert.ok(more([10_000, 1000], [10_000, 1200]))
  // Fewer are not more, and a new route has nothing to be compared with.
  assert.ok(!more([220, 70], [220, 43]))
  assert.equal(moreFailures(counted({ '/': [100, 0] }), counted({ '/new': [100, 100] })), undefined)
  // Other transports are the same route.
  const unix = counted({ '/': [220, 70] })
  const moved = { ...unix, edges: unix.edges.map((one) => ({ ...one, transport: 'local' as const })) }
  const found = moreFailures(counted({ '/': [440, 43] }), moved)!
  assert.ok(Math.abs(found.share - 70 / 220) < 1e-9 && Math.abs(found.expected - 43 / 440) < 1e-9)
})
