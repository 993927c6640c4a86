/** The stack that was running when a worker with a blocked event loop was ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Connection } from '../../support/http/raw-connection.ts'

const program = `
import { createServer } from 'node:http'
function spinForEver() {
  for (;;) {}
}
async function handle(request, response) {
  await null
  if (request.url === '/wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (request.url === '/loop') spinForEver()
  response.end('fine')
}
createServer(handle).listen(3000)`

const timing = { stuck: 1500, watch: 100 }

for (const run of ['thread', 'process'] as const)
  test(`an endless loop is shown with its functions and lines, and the service that it belongs to (${run})`, async () => {
    using folder = new TestFolder({ 'index.mjs': program })
    const file = folder.at('index.mjs')
    await using app = await TestApp.start({ services: { web: { file, run } } }, { timing })
    using connection = await Connection.open(app.port)
    connection.send('/loop')
    const { lastExit } = await app.untilReplaced(app.running.workers.findIndex(({ kind }) => kind === run))
    assert.equal(lastExit?.why, 'stuck')
    assert.equal(lastExit.service, 'web')
    assert.deepEqual(lastExit.stack?.slice(0, 2), [`at spinForEver (${file}:4:3)`, `at handle (${file}:9:32)`])
    assert.match(lastExit.text, /^its event loop was blocked for \d+\.\d s at spinForEver \(/)
    assert.ok(
      app.log.some(({ line }) => line.includes('it blocks the event loop at spinForEver') && line.includes('handle')),
    )
    assert.deepEqual(
      app.log.filter(({ line }) => /debugger/i.test(line)),
      [],
    )
    assert.deepEqual(app.running.status().workers.find(({ kind }) => kind === run)?.lastExit?.stack, lastExit.stack)
  })

test('a thread that waits for ever is shown where it waits', async () => {
  using folder = new TestFolder({ 'index.mjs': program })
  const file = folder.at('index.mjs')
  await using app = await TestApp.start({ services: { web: { file } } }, { timing })
  using connection = await Connection.open(app.port)
  connection.send('/wait')
  const { lastExit } = await app.untilReplaced(0)
  assert.equal(lastExit?.stack?.[0], `at handle (${file}:8:40)`)
})

test('a process that does not execute JavaScript is ended without a stack', async () => {
  using folder = new TestFolder({ 'index.mjs': program })
  await using app = await TestApp.start(
    { services: { web: { file: folder.at('index.mjs'), run: 'process' } } },
    { timing },
  )
  const worker = app.running.workers.findIndex(({ kind }) => kind === 'process')
  process.kill(app.running.workers[worker]!.pid!, 'SIGSTOP')
  const { lastExit } = await app.untilReplaced(worker)
  assert.deepEqual([lastExit?.why, lastExit?.stack], ['stuck', undefined])
})

test('a loop at the top of a module is shown in the error of the start', async () => {
  using folder = new TestFolder({ 'index.mjs': 'const begin = 1\nfor (;;) {}' })
  const file = folder.at('index.mjs')
  const service = { file, run: 'thread', startTimeout: 1500 } as const
  await assert.rejects(TestApp.start({ services: { web: service } }, { timing }), (error: Error) =>
    error.message.includes(`${file}:2:1`),
  )
})
