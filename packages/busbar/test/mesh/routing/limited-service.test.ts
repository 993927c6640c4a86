import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import { ConcurrencyGate } from '../../../src/mesh/routing/limits/concurrency-gate.ts'
import { LimitedService } from '../../../src/mesh/routing/limits/limited-service.ts'
import { noLoads } from '../../../src/mesh/routing/balance/loads.ts'
import type { Admission } from '../../../src/mesh/routing/endpoint.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { CallTotals } from '../../../src/observe/metrics/call-totals.ts'
import { threadsNow } from '../../../src/shared/metrics/worker-cells.ts'
import { InstanceCells } from '../../../src/shared/metrics/instance-cells.ts'
import { InstanceTable } from '../../../src/shared/metrics/instance-table.ts'
import { TestInstance } from '../../support/mesh/test-instance.ts'

/** Rows 0 and 1 are instances, 2 and 3 callers. */
function appOf(queue = 10): { table: InstanceTable; instances: TestInstance[]; callers: Router[] } {
  const table = new InstanceTable({ rows: 4, services: [{ name: 'render', concurrency: 1 }] })
  const instances = [new TestInstance('render', 0), new TestInstance('render', 1)]
  const callers = [2, 3].map((row) => {
    const limited = new LimitedService({ service: 'render', table, row, queue, inThreads: true })
    const router = new Router(['render'], noLoads, new Map([['render', limited]]))
    for (const instance of instances) router.addRemote(instance)
    return router
  })
  return { table, instances, callers }
}

interface Call {
  readonly admission: Admission
  readonly index: () => number
  readonly entered: void | Promise<void>
}

function call(router: Router, deadline?: number, signal?: AbortSignal): Call {
  const endpoint = router.find('render')
  assert.ok(endpoint?.at === 'link' && endpoint.admission !== undefined)
  const { admission } = endpoint
  return { admission, index: () => endpoint.index, entered: admission.enter(deadline, signal) }
}

describe('a service with a concurrency limit', () => {
  test('gets as many calls as its instances accept, spread over them, and the rest wait', async () => {
    const { table, callers } = appOf()
    const [first, second, third] = [call(callers[0]!), call(callers[1]!), call(callers[0]!)]
    assert.deepEqual([first.entered, second.entered], [undefined, undefined])
    assert.deepEqual(new Set([first.index(), second.index()]), new Set([0, 1]))
    assert.ok(third.entered instanceof Promise)
    assert.equal(table.at(2, 'render').waiting, 1)
    second.admission.leave()
    await third.entered
    assert.equal(third.index(), second.index())
    assert.equal(table.at(2, 'render').waiting, 0)
  })

  test('calls of one worker are admitted in order of arrival, also behind those of another', async () => {
    const { callers } = appOf()
    const inside = [call(callers[0]!), call(callers[0]!)]
    const order: number[] = []
    const waiting = [0, 1, 0, 1].map((caller, at) => {
      const one = call(callers[caller]!)
      return Promise.resolve(one.entered).then(() => {
        order.push(at)
        one.admission.leave()
      })
    })
    for (const one of inside) one.admission.leave()
    await Promise.all(waiting)
    assert.deepEqual([order.indexOf(0) < order.indexOf(2), order.indexOf(1) < order.indexOf(3)], [true, true])
  })

  test('a call is refused at once when the queue of all workers together is full', () => {
    const { table, callers } = appOf(2)
    call(callers[0]!)
    call(callers[1]!)
    const waiting = [call(callers[0]!), call(callers[1]!)]
    assert.throws(
      () => call(callers[0]!),
      (error) => {
        assert.ok(BusbarError.is(error, 'RESOURCE_EXHAUSTED'))
        assert.deepEqual(error.data, { retryAfter: 1 })
        return true
      },
    )
    assert.equal(table.at(2, 'render').shed, 1)
    for (const { entered } of waiting) void Promise.resolve(entered).catch(() => {})
  })

  test('a call waits until its deadline, or until its caller gives up', async () => {
    const { table, callers } = appOf()
    const inside = [call(callers[0]!), call(callers[0]!)]
    await assert.rejects(Promise.resolve(call(callers[0]!, 1).entered), { code: 'DEADLINE_EXCEEDED' })
    const gone = new AbortController()
    const given = call(callers[0]!, undefined, gone.signal)
    gone.abort(new Error('gave up'))
    await assert.rejects(Promise.resolve(given.entered), { message: 'gave up' })
    assert.equal(table.at(2, 'render').waiting, 0)
    // A caller that is gone is not admitted.
    for (const one of inside) one.admission.leave()
    assert.deepEqual([table.slots('render')!.taken(0), table.slots('render')!.taken(1)], [0, 0])
  })

  test('an abandoned slot is free once the instance knows, and until then shows since when', async () => {
    const { table, callers } = appOf()
    const slots = table.slots('render')!
    const [given] = [call(callers[0]!), call(callers[0]!)]
    const waiting = call(callers[1]!)
    given.admission.leave(true)
    assert.deepEqual([slots.taken(0), slots.taken(1)], [1, 1])
    const row = given.index()
    assert.ok(slots.overdue(row, threadsNow() + 1000) >= 1000)
    assert.equal(slots.overdue(1 - row, threadsNow() + 1000), 0)
    table.freeAbandoned(1 - row)
    assert.equal(slots.taken(row), 1)
    table.freeAbandoned(row)
    await waiting.entered
    assert.equal(waiting.index(), row)
    assert.equal(slots.overdue(row, threadsNow() + 1000), 0)
  })

  test('a slot abandoned on a dead worker stays taken until another worker serves there', () => {
    const { table, callers } = appOf()
    const totals = new CallTotals(table)
    const slots = table.slots('render')!
    const one = call(callers[0]!)
    one.admission.leave(true)
    totals.retire(one.index())
    assert.equal(slots.taken(one.index()), 1)
    totals.assign(one.index(), { slot: 0 })
    assert.equal(slots.taken(one.index()), 1)
    table.freeAbandoned(one.index())
    assert.equal(slots.taken(one.index()), 0)
  })

  test('the slots of a dead caller are freed for waiting calls', async () => {
    const { table, callers } = appOf()
    call(callers[0]!)
    call(callers[0]!)
    const waiting = call(callers[1]!)
    table.clear(2)
    await waiting.entered
  })

  test('a waiting call goes to an instance that was added meanwhile, and not to one that left', async () => {
    const { callers, instances } = appOf()
    const [router] = callers
    const inside = [call(router!), call(router!)]
    const [first, second] = [call(router!), call(router!)]
    instances[0]!.state = 'draining'
    for (const one of inside) one.admission.leave()
    await first.entered
    assert.equal(first.index(), 1)
    router!.addRemote(new TestInstance('render', 2))
    first.admission.leave()
    await second.entered
    assert.notEqual(second.index(), 0)
  })

  test('a waiting call is refused when the last instance leaves, like any other call', async () => {
    const { table, callers, instances } = appOf()
    call(callers[0]!)
    call(callers[0]!)
    const waiting = call(callers[0]!)
    for (const instance of instances) callers[0]!.removeRemote(instance)
    await assert.rejects(Promise.resolve(waiting.entered), { code: 'SERVICE_UNAVAILABLE' })
    assert.equal(table.at(2, 'render').waiting, 0)
  })

  test('a retry goes to another instance', async () => {
    const { callers } = appOf()
    const [router] = callers
    const endpoint = router!.find('render')
    assert.ok(endpoint?.at === 'link')
    await endpoint.admission!.enter(undefined, undefined)
    const other = router!.find('render', { not: endpoint })
    assert.ok(other?.at === 'link')
    await other.admission!.enter(undefined, undefined)
    assert.notEqual(other.index, endpoint.index)
  })
})

describe('a concurrency gate', () => {
  test('admits calls up to the limit, queues some, and refuses the rest', async () => {
    const cells = new InstanceCells()
    const gate = new ConcurrencyGate({ service: 'render', concurrency: 2, queue: 1, cells })
    const { signal } = new AbortController()
    await Promise.all([gate.enter(undefined, signal), gate.enter(undefined, signal)])
    const waiting = gate.enter(undefined, signal)
    assert.equal(cells.waiting, 1)
    await assert.rejects(gate.enter(undefined, signal), { code: 'RESOURCE_EXHAUSTED' })
    assert.equal(cells.shed, 1)
    gate.leave()
    await waiting
    assert.equal(cells.waiting, 0)
  })
})
