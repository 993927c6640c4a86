import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TraceStore } from '../../../src/observe/traces/trace-store.ts'
import { summaryOf, waterfallOf } from '../../../src/observe/traces/waterfall.ts'
import type { SpanRecord } from '../../../src/shared/traces/span.ts'
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from '../../../src/shared/traces/trace-context.ts'

const trace = newTraceId()
const id = (number: number): string => `${number}`.padStart(16, '0')

describe('a traceparent', () => {
  test('is read as W3C says', () => {
    const parsed = { trace, span: newSpanId(), isSampled: true }
    assert.deepEqual(parseTraceparent(formatTraceparent(parsed)), parsed)
    assert.equal(parseTraceparent(`00-${trace}-${id(1)}-02`)?.isSampled, false)
    assert.equal(parseTraceparent(`cc-${trace}-${id(1)}-01-later`)?.span, id(1))
  })

  test('that is not valid begins a new trace', () => {
    for (const text of [
      '',
      `ff-${trace}-${id(1)}-01`,
      `00-${'0'.repeat(32)}-${id(1)}-01`,
      `00-${trace}-${id(0)}-01`,
      `00-${trace}-${id(1)}-01-more`,
      `00-${trace.slice(1)}-${id(1)}-01`,
      `00-${'A'.repeat(32)}-${id(1)}-01`,
    ])
      assert.equal(parseTraceparent(text), undefined, text)
  })
})

test('the ids of many traces are valid, and all different', () => {
  const ids = Array.from({ length: 1000 }, newTraceId)
  assert.equal(new Set(ids).size, ids.length)
  for (const one of ids) {
    const text = formatTraceparent({ trace: one, span: newSpanId(), isSampled: false })
    assert.equal(parseTraceparent(text)?.trace, one)
  }
  // Some libraries sample by the last digits.
  assert.equal(new Set(ids.map((one) => one.slice(-14))).size, ids.length)
})

describe('the waterfall of a trace', () => {
  test('joins both sides of a call, and counts the instances that have got it', () => {
    const store = new TraceStore()
    store.add([span({ id: id(1), service: 'web', duration: 100, transport: 'local' })], [], 'a', 10)
    store.add([span({ id: id(2), parent: id(1), start: 10, duration: 50, queue: 5 })], [], 'a', 10)
    store.add([span({ id: id(3), parent: id(2), part: 'answer', start: 12, duration: 10, status: 0 })], [], 'b', 10)
    store.add([span({ id: id(4), parent: id(2), part: 'answer', start: 30, duration: 20, queue: 2 })], [], 'c', 10)
    store.add([span({ id: id(5), parent: id(4), service: 'stock', start: 35, duration: 10 })], [], 'c', 10)
    const [web, cart, stock, ...more] = waterfallOf(store.get(trace)!)
    assert.deepEqual(more, [])
    assert.deepEqual([web!.depth, web!.wire, web!.run], [0, 0, 100])
    const { depth, parent, queue, wire, run, attempts, workers } = cart!
    assert.deepEqual([depth, parent, queue, wire, run, attempts], [1, id(1), 7, 25, 18, 2])
    assert.deepEqual(workers, ['a', 'b', 'c'])
    assert.deepEqual([stock!.depth, stock!.parent, stock!.wire, stock!.run], [2, id(2), null, null])
    const { hops, failed, duration, services } = summaryOf(store.get(trace)!)
    assert.deepEqual([hops, failed, duration, services], [3, 0, 100, ['web', 'cart', 'stock']])
  })

  test('has spans that name each other as their parents, and ends', () => {
    const store = new TraceStore()
    const circle = [span({ id: id(1), parent: id(2) }), span({ id: id(2), parent: id(1) }), span({ id: id(3) })]
    store.add(circle, [], 'a', 10)
    assert.deepEqual(
      waterfallOf(store.get(trace)!).map((hop) => hop.id),
      [id(3), id(1), id(2)],
    )
  })
})

describe('the kept traces', () => {
  test('are bounded in number and in spans', () => {
    const store = new TraceStore()
    for (let number = 1; number <= 30; number++) store.add([span({ trace: `${number}`, id: id(number) })], [], 'a', 10)
    const list = store.list({ limit: 100, failed: false })
    assert.deepEqual([list.length, list[0]!.id, list.at(-1)!.id], [10, '30', '21'])
    store.add(
      Array.from({ length: 3000 }, (_, at) => span({ trace: 'large', id: id(at) })),
      [],
      'a',
      10,
    )
    assert.deepEqual([store.get('large')!.spans.length, store.get('large')!.dropped], [2000, 1000])
    for (let number = 0; number < 20; number++)
      store.add(
        Array.from({ length: 1500 }, (_, at) => span({ trace: `many ${number}`, id: id(at) })),
        [],
        'a',
        100,
      )
    const kept = store.list({ limit: 100, failed: false })
    assert.ok(kept.reduce((sum, { spans }) => sum + spans.length, 0) <= 20_000)
    assert.equal(kept[0]!.id, 'many 19')
  })

  test('are found by service and by failure', () => {
    const store = new TraceStore()
    store.add([span({ trace: 'one' })], [], 'a', 10)
    store.add([span({ trace: 'two', service: 'stock', status: 503 })], [], 'a', 10)
    const found = (filter: { service?: string; failed: boolean }): string[] =>
      store.list({ limit: 10, ...filter }).map((one) => one.id)
    assert.deepEqual(found({ failed: true }), ['two'])
    assert.deepEqual(found({ failed: false, service: 'cart' }), ['one'])
  })
})

function span(values: Partial<SpanRecord>): SpanRecord {
  return {
    part: 'call',
    trace,
    id: id(1),
    parent: undefined,
    caller: undefined,
    service: 'cart',
    protocol: 'http',
    method: 'GET',
    path: '/',
    transport: 'thread',
    start: 0,
    duration: 1,
    queue: 0,
    sent: 0,
    received: 0,
    status: 200,
    retries: 0,
    ...values,
  }
}
