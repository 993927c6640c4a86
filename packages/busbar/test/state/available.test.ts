import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createSegment } from '../../src/shared/state/layout.ts'
import { Threads } from '../../src/shared/state/threads.ts'
import { shared } from '../../src/state/shared.ts'

const sources = JSON.stringify(new URL('../../src/state/shared.ts', import.meta.url))
const segment = JSON.stringify(new URL('../../src/shared/state/segment.ts', import.meta.url))

for (const name of ['', 'x'.repeat(101), 'ü'.repeat(51), undefined as unknown as string])
  test(`a name of ${name?.length} characters is refused`, () => {
    assert.throws(() => shared.counter(name), { code: 'SHARED_INVALID', hint: 'a name is a text of 1 to 100 bytes' })
  })

test('a name may have 100 bytes of any kind', () => {
  for (const name of ['ü'.repeat(50), '\0', 'constructor', '__proto__', 'x'.repeat(100)]) {
    shared.counter(name).add()
    assert.equal(shared.counter(name).value, 1)
  }
})

test('a thread that is started before there is something to share says so, and what to do', async () => {
  const { code, message, hint } = (await answerOf(`
    const { Worker } = require('node:worker_threads')
    const worker = new Worker(${JSON.stringify(tell("shared.counter('early')"))}, { eval: true })
    worker.on('message', (error) => console.log(JSON.stringify(error)))`)) as Record<string, string>
  assert.equal(code, 'SHARED_UNAVAILABLE')
  assert.match(message!, /^shared.counter\("early"\) is not to be had here: thread 1 was started before 'busbar'/)
  assert.match(hint!, /import 'busbar' in the main thread/)
})

test('threads of threads share, though the one between has never heard of it', async () => {
  const inner = tell("shared.counter('deep').add()")
  const middle = `new (require('node:worker_threads').Worker)(${JSON.stringify(inner)}, { eval: true })`
  const answer = await answerOf(`
    import(${sources}).then(({ shared }) => {
      const { Worker } = require('node:worker_threads')
      new Worker(${JSON.stringify(middle)}, { eval: true }).on('exit', () => console.log(shared.counter('deep').value))
    })`)
  assert.equal(answer, 1)
})

for (const use of ["shared.counter('a')", "shared.atomic('a')", "shared.mutex('a')", "await shared.once('a', () => 1)"])
  test(`where a worker is a process, ${use} names the placement that helps; so it does in its threads`, async () => {
    const refuse = `import(${segment}).then(({ refuseShared }) => {
      refuseShared("service 'cart' runs as a process (run: 'process')")`
    const thread = `new (require('node:worker_threads').Worker)(${JSON.stringify(tell(use))}, { eval: true })
      .on('message', (error) => console.log(JSON.stringify(error)))`
    for (const where of [tell(use, 'console.log(JSON.stringify(error))'), thread]) {
      const error = (await answerOf(`${refuse}\n${where} })`)) as Record<string, string>
      assert.equal(error['code'], 'SHARED_UNAVAILABLE')
      assert.match(error['message']!, /is not to be had here: service 'cart' runs as a process \(run: 'process'\)$/)
      assert.match(error['hint']!, /`run: 'shared'` or `run: 'thread'`/)
    }
  })

for (const [kind, count] of [
  ['mutex', 1024],
  ['atomic', 1024],
  ['counter', 512],
] as const)
  test(`there is room for ${count} names (${kind}), and an error that says so after them`, async () => {
    const error = (await answerOf(`
      import(${sources}).then(({ shared }) => {
        for (let at = 0; at < ${count}; at++) shared.${kind}('name ' + at)
        ${kind === 'counter' ? "for (let at = 0; at < 512; at++) shared.counter('name ' + at).add()" : ''}
        try { shared.${kind}('one more') }
        catch ({ code, message }) { console.log(JSON.stringify({ code, message })) }
      })`)) as Record<string, string>
    assert.equal(error['code'], 'SHARED_FULL')
    assert.match(
      error['message']!,
      /there is no room for shared.\w+\("one more"\): there are \d+ (names|counters) already/,
    )
  })

test('there is room for 128 threads, and for as many others when they have ended', () => {
  const threads = new Threads(createSegment())
  const joined = Array.from({ length: 128 }, (_, threadId) => threads.join(threadId + 1)!)
  assert.equal(new Set(joined).size, 128)
  assert.equal(threads.join(129), undefined)
  threads.buryThread(7)
  assert.deepEqual([threads.isAlive(joined[6]!), threads.isAlive(joined[7]!)], [false, true])
  const successor = threads.join(130)!
  assert.deepEqual([threads.isAlive(joined[6]!), threads.isAlive(successor)], [false, true])
  assert.equal(threads.join(131), undefined)
})

/** Code that posts what `use` throws. */
function tell(use: string, post = "require('node:worker_threads').parentPort.postMessage(error)"): string {
  return `import(${sources}).then(async ({ shared }) => {
    try { ${use} }
    catch ({ code, message, hint }) { const error = { code, message, hint }; ${post} }
  })`
}

/** What a program prints, as JSON. */
async function answerOf(code: string): Promise<unknown> {
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout)) as unknown
}
