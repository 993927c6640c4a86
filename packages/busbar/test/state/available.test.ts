import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createSegment } from '../../src/shared/state/layout.ts'
import { ThreadTable } from '../../src/shared/state/thread-table.ts'
import { shared } from '../../src/state/shared.ts'

const sources = JSON.stringify(new URL('../../src/state/shared.ts', import.meta.url))
const segment = JSON.stringify(new URL('../../src/shared/state/segment.ts', import.meta.url))

for (const name of ['', 'x'.repeat(101), 'ü'.repeat(51), undefined as unknown as string])
  test(`a name of ${name?.length} characters is refused`, () => {
    assert.throws(() => shared.counter(name), { code: 'SHARED_INVALID', hint: 'A name is a string of 1 to 100 bytes.' })
  })

test('a name may have any 100 bytes', () => {
  for (const name of ['ü'.repeat(50), '\0', 'constructor', '__proto__', 'x'.repeat(100)]) {
    shared.counter(name).add()
    assert.equal(shared.counter(name).value, 1)
  }
})

test('a thread that is started before the shared memory exists gets an error that says what to do', async () => {
  const { code, message, hint } = (await runProgram(`
    const { Worker } = require('node:worker_threads')
    const worker = new Worker(${JSON.stringify(reportError("shared.counter('early')"))}, { eval: true })
    worker.on('message', (error) => console.log(JSON.stringify(error)))`)) as Record<string, string>
  assert.equal(code, 'SHARED_UNAVAILABLE')
  assert.match(
    message!,
    /^shared.counter\("early"\) is not available here: thread 1 was started before its parent thread had loaded 'busbar'/,
  )
  assert.match(hint!, /import 'busbar' in the main thread/)
})

test('threads of threads share, even if the one between has not loaded the package', async () => {
  const inner = reportError("shared.counter('deep').add()")
  const middle = `new (require('node:worker_threads').Worker)(${JSON.stringify(inner)}, { eval: true })`
  const answer = await runProgram(`
    import(${sources}).then(({ shared }) => {
      const { Worker } = require('node:worker_threads')
      new Worker(${JSON.stringify(middle)}, { eval: true }).on('exit', () => console.log(shared.counter('deep').value))
    })`)
  assert.equal(answer, 1)
})

for (const use of ["shared.counter('a')", "shared.atomic('a')", "shared.mutex('a')", "await shared.once('a', () => 1)"])
  test(`in a worker process and its threads, ${use} fails and names a placement that works`, async () => {
    const refuse = `import(${segment}).then(({ refuseShared }) => {
      refuseShared("service 'cart' runs as a process (run: 'process')")`
    const thread = `new (require('node:worker_threads').Worker)(${JSON.stringify(reportError(use))}, { eval: true })
      .on('message', (error) => console.log(JSON.stringify(error)))`
    for (const where of [reportError(use, 'console.log(JSON.stringify(error))'), thread]) {
      const error = (await runProgram(`${refuse}\n${where} })`)) as Record<string, string>
      assert.equal(error['code'], 'SHARED_UNAVAILABLE')
      assert.match(error['message']!, /is not available here: service 'cart' runs as a process \(run: 'process'\)$/)
      assert.match(error['hint']!, /`run: 'shared'` or `run: 'thread'`/)
    }
  })

for (const [kind, count] of [
  ['mutex', 1024],
  ['atomic', 1024],
  ['counter', 512],
] as const)
  test(`there is room for ${count} names (${kind}), and an error after them`, async () => {
    const error = (await runProgram(`
      import(${sources}).then(({ shared }) => {
        for (let at = 0; at < ${count}; at++) shared.${kind}('name ' + at)
        ${kind === 'counter' ? "for (let at = 0; at < 512; at++) shared.counter('name ' + at).add()" : ''}
        try { shared.${kind}('one more') }
        catch ({ code, message }) { console.log(JSON.stringify({ code, message })) }
      })`)) as Record<string, string>
    assert.equal(error['code'], 'SHARED_FULL')
    assert.match(
      error['message']!,
      /there is no room for shared.\w+\("one more"\): the limit of \d+ (names|counters) is reached/,
    )
  })

test('there is room for 128 threads, and for as many more when they have ended', () => {
  const threads = new ThreadTable(createSegment())
  const joined = Array.from({ length: 128 }, (_, threadId) => threads.join(threadId + 1)!)
  assert.equal(new Set(joined).size, 128)
  assert.equal(threads.join(129), undefined)
  threads.removeThread(7)
  assert.deepEqual([threads.isAlive(joined[6]!), threads.isAlive(joined[7]!)], [false, true])
  const successor = threads.join(130)!
  assert.deepEqual([threads.isAlive(joined[6]!), threads.isAlive(successor)], [false, true])
  assert.equal(threads.join(131), undefined)
})

/** Code that reports what `use` throws. */
function reportError(use: string, post = "require('node:worker_threads').parentPort.postMessage(error)"): string {
  return `import(${sources}).then(async ({ shared }) => {
    try { ${use} }
    catch ({ code, message, hint }) { const error = { code, message, hint }; ${post} }
  })`
}

/** Runs code in a new process and parses the JSON that it prints. */
async function runProgram(code: string): Promise<unknown> {
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout)) as unknown
}
