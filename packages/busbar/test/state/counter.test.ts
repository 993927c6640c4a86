import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shared } from '../../src/state/shared.ts'
import { CodeThread } from '../support/app/code-thread.ts'

test('a counter is the sum of all threads, including those that have ended', async () => {
  const counter = shared.counter('sum')
  counter.add()
  for (const round of [1, 2, 3]) {
    await using one = new CodeThread()
    await using other = new CodeThread()
    const count = "for (let at = 0; at < 1000; at++) shared.counter('sum').add(2)"
    await Promise.all([one.run(count), other.run(count)])
    assert.equal(await one.run("return shared.counter('sum').value"), 1 + round * 4000)
  }
  assert.equal(counter.value, 12_001)
})

test('a counter counts beyond 32 bits, in small steps and in large ones', () => {
  const counter = shared.counter('large')
  let expected = 0
  for (const by of [2 ** 30 - 1, 1, 2 ** 30, 2 ** 31, 0, 2 ** 40 + 3, 2 ** 30 - 4, 1, 1]) {
    counter.add(by)
    expected += by
    assert.equal(counter.value, expected)
  }
})

test('a counter never decreases while other threads carry', async () => {
  const counter = shared.counter('monotonic')
  await using one = new CodeThread()
  await using other = new CodeThread()
  const count = "for (let at = 0; at < 300_000; at++) shared.counter('monotonic').add(2 ** 30 - 7)"
  const counting = Promise.all([one.run(count), other.run(count)])
  let isCounting = true
  void counting.finally(() => (isCounting = false))
  for (let last = 0; isCounting;) {
    for (let at = 0; at < 1000; at++) {
      const now = counter.value
      assert.ok(now >= last, `${now} after ${last}`)
      last = now
    }
    await new Promise(setImmediate)
  }
  await counting
  assert.equal(counter.value, 600_000 * (2 ** 30 - 7))
})

for (const by of [-1, 0.5, Number.NaN, Infinity, 2 ** 53, '1' as unknown as number])
  test(`a counter refuses to add ${typeof by} ${by}`, () => {
    const counter = shared.counter('refuses')
    assert.throws(() => counter.add(by), { code: 'SHARED_INVALID' })
    assert.equal(counter.value, 0)
  })

test('an atomic is one number in all threads', async () => {
  const atomic = shared.atomic('number')
  atomic.store(5)
  await using thread = new CodeThread()
  assert.equal(await thread.run("return shared.atomic('number').add(-7)"), 5)
  assert.equal(atomic.load(), -2)
  assert.equal(atomic.compareExchange(-2, 9), -2)
  assert.equal(await thread.run("return shared.atomic('number').compareExchange(-2, 1)"), 9)
  assert.equal(await thread.run("return shared.atomic('number').load()"), 9)
})

test('each kind has its own names', () => {
  shared.atomic('same').store(3)
  assert.equal(shared.counter('same').value, 0)
  assert.notEqual(shared.mutex('same').tryLock(), undefined)
})

test('names that differ only in an unpaired surrogate are different', async () => {
  const names = ['\uD800', '\uD801', '\uDC00', '\uFFFD', 'a\uD800', '\uD800a', '\u{1F600}']
  for (const [index, name] of names.entries()) shared.counter(name).add(index + 1)
  await using other = new CodeThread()
  const read = `return ${JSON.stringify(names)}.map((name) => shared.counter(name).value)`
  assert.deepEqual(await other.run(read), [1, 2, 3, 4, 5, 6, 7])
  assert.throws(() => shared.counter('\uD800'.repeat(34)), { code: 'SHARED_INVALID' })
})
