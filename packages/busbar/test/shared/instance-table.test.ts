import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { InstanceTable, type InstancesShape } from '../../src/shared/metrics/instance-table.ts'
import { type EdgeKey, type EdgeTable, others, otherMethods, outside } from '../../src/shared/metrics/edge-table.ts'
import { calleeOf, callerOf, noWorker, pairOf, workerOf } from '../../src/shared/metrics/worker-pair.ts'
import { bucketOf } from '../../src/shared/metrics/latency-buckets.ts'

const fromWeb: EdgeKey = {
  caller: 'web',
  callee: 'cart',
  protocol: 'http',
  method: 'GET',
  route: '/cart',
  transport: 'thread',
}

const shape: InstancesShape = { rows: 3, services: [{ name: 'web' }, { name: 'cart' }] }

test('others see what a worker writes about a service, and nothing of other services or rows', () => {
  const written = new InstanceTable(shape)
  const read = new InstanceTable(shape, written.memory)
  const cart = written.at(1, 'cart')
  cart.state = 'serving'
  cart.countStart()
  cart.countStart()
  cart.countEnd(true)
  cart.countShed()
  cart.addWaiting(1)
  const seen = read.at(1, 'cart')
  assert.deepEqual(
    [seen.state, seen.inFlight, seen.calls, seen.failures, seen.shed, seen.waiting],
    ['serving', 1, 2, 1, 1, 1],
  )
  for (const [row, service] of [
    [0, 'cart'],
    [1, 'web'],
    [2, 'cart'],
  ] as const) {
    const other = read.at(row, service)
    assert.deepEqual([other.state, other.inFlight, other.calls, other.waiting], ['absent', 0, 0, 0])
  }
  written.clear(1)
  assert.deepEqual([seen.state, seen.calls], ['absent', 0])
})

test('a block is readable while the thread that writes it is blocked', async () => {
  const table = new InstanceTable(shape)
  const url = JSON.stringify(new URL('../../src/shared/metrics/instance-table.ts', import.meta.url))
  const code = `import(${url}).then(({ InstanceTable }) => {
    const { parentPort, workerData: { shape, memory } } = require('node:worker_threads')
    const table = new InstanceTable(shape, memory)
    table.at(2, 'web').countStart()
    table.edges(2).add(${JSON.stringify(fromWeb)}).end(200, 1.5)
    parentPort.postMessage('written')
    for (;;);
  })`
  const worker = new Worker(code, { eval: true, workerData: { shape, memory: table.memory } })
  await once(worker, 'message')
  assert.equal(table.at(2, 'web').calls, 1)
  const edges = table.edges(2)
  assert.deepEqual([edges.edges, edges.keyOf(0), edges.outcomeOf(0).buckets[bucketOf(1500)]], [1, fromWeb, 1])
  await worker.terminate()
})

test('calls are kept by edge and status; a measured call stands for those before it', () => {
  const edges = new InstanceTable(shape).edges(0)
  const web = edges.add(fromWeb)
  web.end(200, 0.25)
  for (let call = 0; call < 7; call++) web.end(200, undefined)
  web.end(200, 0.25)
  edges.add({ ...fromWeb, caller: outside, callee: 'web', protocol: 'rpc' }).end(503, 2000)
  assert.deepEqual(read(edges), [
    { ...fromWeb, status: 200, count: 9, sum: 2, measured: 9 },
    { ...fromWeb, caller: outside, callee: 'web', protocol: 'rpc', status: 503, count: 1, sum: 2000, measured: 1 },
  ])
})

test('no call is lost beyond the limits: methods, then edges and statuses are counted together', () => {
  const services = Array.from({ length: 20 }, (_, index) => ({ name: `s${index}` }))
  const edges = new InstanceTable({ rows: 1, services }).edges(0)
  let calls = 0
  for (const caller of services)
    for (const callee of services)
      for (const method of ['a', 'b']) {
        const edge = edges.add({ ...fromWeb, caller: caller.name, callee: callee.name, method })
        for (const status of [200, 201, 404, 409, 500, 503]) {
          edge.begin()
          edge.end(status, 1)
          calls++
        }
      }
  const seen = read(edges)
  assert.ok(edges.edges <= 128 && edges.outcomes <= 512)
  const keys = Array.from({ length: edges.edges }, (_, at) => edges.keyOf(at))
  assert.ok(keys.some(({ callee, method }) => callee !== others && method === otherMethods))
  assert.ok(seen.some(({ callee }) => callee === others))
  assert.ok(seen.some(({ status }) => status === 4))
  const sumOf = (some: Outcome[]): number => some.reduce((sum, { count }) => sum + count, 0)
  assert.equal(sumOf(seen), calls)
  // Of each six calls, two failed.
  assert.equal(sumOf(seen.filter(({ status }) => status === 5 || status >= 500)), calls / 3)
})

test('beyond the limit, workers are counted together, and statuses are still told apart', () => {
  const edges = new InstanceTable(shape).edges(0)
  const edge = edges.add(fromWeb)
  for (let callee = 1; callee <= 400; callee++)
    for (const status of [200, 500]) {
      edge.begin()
      edge.end(status, 1, pairOf(7, callee))
    }
  for (const callee of [1, 400]) edge.end(404, 1, pairOf(7, callee))
  const all = Array.from({ length: edges.outcomes }, (_, at) => edges.outcomeOf(at))
  const countOf = (status: number, some = all): number =>
    some.filter((one) => one.status === status).reduce((sum, { count }) => sum + count, 0)
  assert.deepEqual([countOf(200), countOf(500), countOf(404)], [400, 400, 2])
  assert.equal(edges.outcomes, 256 + 3)
  const together = all.filter(({ pair }) => pair === noWorker)
  assert.deepEqual([countOf(200, together), countOf(500, together), countOf(404, together)], [272, 272, 2])
  const [first] = all
  assert.deepEqual([callerOf(first!.pair), calleeOf(first!.pair)], [7, 1])
})

test('slots beyond those that fit into a pair have no number', () => {
  assert.deepEqual([workerOf(undefined), workerOf(0), workerOf(1022), workerOf(1023)], [noWorker, 1, 1023, noWorker])
  const pair = pairOf(workerOf(1022), workerOf(5))
  assert.deepEqual([callerOf(pair), calleeOf(pair)], [1023, 6])
})

test('a service of another app keeps its name', () => {
  const edges = new InstanceTable(shape).edges(0)
  const remote: EdgeKey = { ...fromWeb, callee: 'ledger', method: 'book', route: '', protocol: 'rpc', transport: 'tls' }
  edges.add(remote)
  edges.add({ ...remote, callee: 'archive' })
  assert.deepEqual([edges.keyOf(0), edges.keyOf(1).callee], [remote, 'archive'])
})

test('a long route is cut at a whole character', () => {
  const edges = new InstanceTable(shape).edges(0)
  edges.add({ ...fromWeb, route: `/${'ü'.repeat(100)}` })
  // 164 bytes, of which the method takes four with its space.
  assert.equal(edges.keyOf(0).route, `/${'ü'.repeat(79)}`)
})

test('a copied block reads like the original', () => {
  const process = new InstanceTable({ ...shape, rows: 1 })
  process.at(0, 'cart').countStart()
  process.edges(0).add(fromWeb).end(200, 3)
  const kept = new InstanceTable(shape)
  kept.block(2).set(process.usedBlock(0))
  assert.equal(kept.at(2, 'cart').calls, 1)
  assert.deepEqual(read(kept.edges(2)), [{ ...fromWeb, status: 200, count: 1, sum: 3, measured: 1 }])
})

type Outcome = EdgeKey & { status: number; count: number; sum: number; measured: number }

function read(table: EdgeTable): Outcome[] {
  return Array.from({ length: table.outcomes }, (_, at) => {
    const { edge, status, count, sum, buckets } = table.outcomeOf(at)
    return { ...table.keyOf(edge), status, count, sum, measured: buckets.reduce((all, one) => all + one, 0) }
  })
}
