import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { Connection, openMany } from '../support/http/raw-connection.ts'

const any = `${import.meta.dirname}/programs/any.js`
const skip = process.platform === 'win32' && 'no FIFO'
const signals = `${import.meta.dirname}/programs/signals.js`

test('a stop finishes in-flight requests, closes idle connections and frees the port', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 2 })
  using connections = await openMany(app.port, 4)
  await Promise.all(connections.map((connection) => connection.thread()))
  const [busy, ...idle] = connections
  busy!.send('/later?ms=300')
  await app.untilLogged('begins /later')
  const stopped = app.running.stop()
  assert.equal((await busy!.answer())?.status, 200)
  await Promise.all(idle.map(async (connection) => assert.equal(await connection.answer(), undefined)))
  await stopped
  await assert.rejects(once(connect(app.port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  assert.deepEqual(await app.running.ended, { why: 'stopped' })
  assert.ok(app.running.workers.every(({ state }) => state === 'stopped'))
})

for (const path of ['/never', '/loop', '/wait']) {
  test(`a stop ends within its limit although ${path} is in flight`, async () => {
    await using app = await TestApp.start({ services: { any }, stopTimeout: 400 })
    using stuck = await Connection.open(app.port)
    assert.ok((await stuck.thread()) !== undefined)
    stuck.send(path)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await app.running.stop()
    assert.equal(await stuck.answer(), undefined)
  })
}

test('a thread that hangs in a system call is left behind, and counted as hung', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-hung-'))
  const fifo = join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  await using app = await TestApp.start({ services: { any }, stopTimeout: 400 })
  using stuck = await Connection.open(app.port)
  assert.ok((await stuck.thread()) !== undefined)
  stuck.send(`/read?file=${fifo}`)
  // Blocks until the program has opened the FIFO for reading.
  const writer = await open(fifo, 'w')
  await app.running.stop()
  assert.equal(app.running.hung, 1)
  await writer.close()
  assert.equal(await stuck.answer(), undefined)
  await pollUntil(() => app.running.hung === 0)
  await rm(folder, { recursive: true })
})

test(
  'a thread that ends after it was left behind, before the stop is over, does not count as hung',
  { skip },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-late-'))
    const fifo = join(folder, 'fifo')
    execFileSync('mkfifo', [fifo])
    await using app = await TestApp.start({ services: { any }, stopTimeout: 400 }, { timing: { terminate: 60_000 } })
    using late = await Connection.open(app.port)
    assert.ok((await late.thread()) !== undefined)
    late.send(`/read?file=${fifo}`)
    const writer = await open(fifo, 'w')
    const stopping = app.running.stop()
    await pollUntil(() => app.running.hung === 1)
    await writer.close()
    await stopping
    assert.equal(app.running.hung, 0)
    await rm(folder, { recursive: true })
  },
)

test('services stop after those that need them, and their signal handlers run', async () => {
  await using app = await TestApp.start({
    services: {
      base: { file: signals, env: { NAME: 'base' } },
      middle: { file: signals, env: { NAME: 'middle' }, needs: ['base'] },
      top: { file: signals, env: { NAME: 'top' }, needs: ['middle'] },
    },
  })
  const before = app.log.length
  await app.running.stop()
  const said = app.log.filter(({ stream }) => stream === 'stdout').map(({ line }) => line)
  assert.deepEqual(said, [
    'base starts',
    'middle starts',
    'top starts',
    'top stops',
    'top exits',
    'middle stops',
    'middle exits',
    'base stops',
    'base exits',
  ])
  assert.ok(before >= 3)
})

test('a second stop returns the promise of the first', async () => {
  await using app = await TestApp.start({ services: { any } })
  assert.equal(app.running.stop(), app.running.stop())
})

test('an aborted start closes everything that had started', async () => {
  const controller = new AbortController()
  const starting = TestApp.start(
    { services: { any }, workers: 2 },
    {
      signal: controller.signal,
      on: (event) => {
        if (event.type === 'worker' && event.worker.state === 'serving') controller.abort(new Error('not any more'))
      },
    },
  )
  await assert.rejects(starting, { message: 'not any more' })
})

test('a single program has its folder as working directory while it runs', async () => {
  const before = process.cwd()
  {
    await using app = await TestApp.start({ services: { any } })
    using connection = await Connection.open(app.port)
    connection.send('/')
    const answer = await connection.answer()
    assert.equal((JSON.parse(answer!.body) as { cwd: string }).cwd, `${import.meta.dirname}/programs`)
    assert.equal(process.cwd(), `${import.meta.dirname}/programs`)
  }
  assert.equal(process.cwd(), before)
})
