/** The supervisor's decisions, each by itself. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { Backlog } from '../../src/supervisor/accept/backlog.ts'
import { pickWorker } from '../../src/supervisor/accept/balance.ts'
import { canRestartInto, planApp } from '../../src/supervisor/plan.ts'
import { RestartPolicy } from '../../src/supervisor/restarts.ts'
import { backlogLimit, defaultTiming } from '../../src/supervisor/timing.ts'
import { appOf } from '../support/app.ts'

const candidate = (connections: number, age = 0) => ({ connections, age: () => age })

test('the one with the fewest connections is picked, whatever its place', () => {
  const [few, more, most] = [candidate(1), candidate(2), candidate(3)]
  for (const threads of [
    [few, more, most],
    [more, few, most],
    [most, more, few],
  ])
    for (let turn = 0; turn < 3; turn++) assert.equal(pickWorker(threads, 0, 100), few)
})

test('equals take turns', () => {
  const threads = [candidate(1), candidate(1), candidate(1)]
  const picked = new Set([1, 2, 3].map(() => pickWorker(threads, 0, 100)))
  assert.equal(picked.size, 3)
})

test('one with a stale heartbeat is picked only when all are stale', () => {
  const [stale, fresh] = [candidate(0, 100), candidate(50, 99)]
  for (let turn = 0; turn < 2; turn++) {
    assert.equal(pickWorker([stale, fresh], 0, 100), fresh)
    assert.equal(pickWorker([stale, candidate(1, 500)], 0, 100), stale)
  }
  assert.equal(pickWorker([], 0, 100), undefined)
})

test('restarts come at once, then after waits that double up to a cap, for ever', () => {
  const policy = new RestartPolicy({ backoff: 100, backoffMax: 300, stable: 1000 })
  assert.equal(policy.failed(500), 0)
  for (const [index, full] of [100, 200, ...Array<number>(50).fill(300)].entries()) {
    const wait = policy.failed(index === 0 ? 0 : 999)
    assert.ok(wait >= full * 0.8 && wait <= full, `${wait} of ${full}`)
  }
  assert.equal(policy.failures, 53)
})

test('what held for long, or was asked for, begins anew', () => {
  const policy = new RestartPolicy({ ...defaultTiming, stable: 1000 })
  assert.deepEqual([policy.failed(0), policy.failed(1000)], [0, 0])
  assert.notEqual(policy.failed(999), 0)
  policy.forget()
  assert.equal(policy.failed(0), 0)
})

test('by default restarts are at most 30 s apart', () => {
  const policy = new RestartPolicy(defaultTiming)
  const waits = Array.from({ length: 100 }, () => policy.failed(0))
  assert.ok(Math.max(...waits) <= 30_000)
  assert.ok(waits.at(-1)! >= 24_000)
})

test('waiting connections are settled in order, and those that are not go on waiting', () => {
  const backlog = new Backlog(60_000, () => assert.fail('none is refused'))
  const sockets = [new Socket(), new Socket(), new Socket()]
  for (const socket of sockets) backlog.add('gateway', socket)
  const given: Socket[] = []
  backlog.review((_, socket) => given.length < 2 && given.push(socket) > 0)
  assert.deepEqual(given, sockets.slice(0, 2))
  backlog.close()
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false, true],
  )
})

test('a connection beyond the limit is refused at once', () => {
  const refused: Socket[] = []
  const backlog = new Backlog(60_000, (_, socket) => refused.push(socket))
  for (let count = 0; count < backlogLimit; count++) backlog.add('gateway', new Socket())
  const last = new Socket()
  backlog.add('gateway', last)
  assert.deepEqual(refused, [last])
  backlog.close()
})

test('each waiting connection is refused when its own time is over', async () => {
  const refused: Socket[] = []
  const both = Promise.withResolvers<void>()
  const backlog = new Backlog(30, (_, socket) => {
    if (refused.push(socket) === 2) both.resolve()
  })
  const [first, second] = [new Socket(), new Socket()]
  backlog.add('gateway', first)
  await new Promise((resolve) => setTimeout(resolve, 15))
  backlog.add('gateway', second)
  await both.promise
  assert.deepEqual(refused, [first, second])
})

test('a plan names the ports, the waves of needs and the folder of a lone program', () => {
  const expose = { host: '127.0.0.1', port: 3101 }
  const app = appOf({
    services: {
      stock: '/app/stock/index.js',
      catalog: { file: '/app/catalog/index.js', needs: ['stock'], expose: [expose, { ...expose, port: 3102 }] },
      web: { file: '/app/web/index.js', needs: ['stock', 'catalog'] },
      mail: '/app/mail/index.js',
    },
  })
  assert.deepEqual(planApp(app), {
    places: [
      {
        place: 0,
        name: 'shared 0',
        kind: 'shared',
        hosts: ['stock', 'catalog', 'web', 'mail'].map((name) => ({ name, typed: false, index: 0 })),
        memory: undefined,
        spare: false,
      },
    ],
    accept: 'balanced',
    listeners: [
      { id: 'gateway', host: '127.0.0.1', port: 0, serves: { kind: 'gateway' } },
      { id: 'expose:catalog', ...expose, serves: { kind: 'service', service: 'catalog' } },
      { id: 'expose:catalog:2', ...expose, port: 3102, serves: { kind: 'service', service: 'catalog' } },
    ],
    waves: [['stock', 'mail'], ['catalog'], ['web']],
    folder: undefined,
  })
  assert.equal(planApp(appOf({ services: { web: '/app/web/index.js' } })).folder, '/app/web')
})

test('workers can be taken over by those of an app that differs in its services only', () => {
  const app = appOf({ services: { web: '/app/web/index.js' } })
  const other = appOf({ services: { web: { file: '/app/web/index.js', env: { MODE: 'new' } } } })
  assert.equal(canRestartInto(app, other), true)
  assert.equal(canRestartInto(app, appOf({ services: { web: '/app/web/index.js' }, workers: 2 })), false)
  assert.equal(canRestartInto(app, appOf({ services: { web: '/x/index.js' } })), false)
  assert.equal(canRestartInto(app, appOf({ services: { web: '/app/web/index.js' }, gateway: { port: 1 } })), false)
})
