import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { BusbarError } from '../../../src/contract/errors.ts'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Connection, openMany } from '../../support/http/raw-connection.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`

test('keep-alive connections spread over the workers with a difference of at most one', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 3 })
  using connections = await openMany(app.port, 20)
  const counts = await perThread(connections)
  assert.equal(counts.length, 3)
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
  const known = app.running.workers.map(({ connections }) => connections)
  assert.deepEqual(known.toSorted(ascending), counts.toSorted(ascending))
})

test('a new connection goes to the worker whose connections have closed', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 2 })
  using connections = await openMany(app.port, 8)
  const threads = await threadsOf(connections)
  const left = connections.filter((_, index) => threads[index] === threads[0])
  for (const connection of left) connection[Symbol.dispose]()
  await pollUntil(() => app.running.workers.reduce((sum, { connections }) => sum + connections, 0) === 4)
  using later = await openMany(app.port, 4)
  assert.deepEqual(await threadsOf(later), Array(4).fill(threads[0]))
})

test('successive short connections are spread in turns', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 2 })
  const seen = new Set<number | undefined>()
  for (let count = 0; count < 10; count++) {
    using connection = await Connection.open(app.port)
    seen.add(await connection.thread())
    connection.socket.end()
    await once(connection.socket, 'close')
  }
  assert.equal(seen.size, 2)
})

test('100 simultaneous connections to blocking handlers are all answered', async () => {
  await using app = await TestApp.start({ services: { any }, workers: 2 })
  using connections = await openMany(app.port, 100)
  for (const connection of connections) connection.send('/busy?ms=4')
  const answers = await Promise.all(connections.map((connection) => connection.answer()))
  assert.ok(answers.every((answer) => answer?.status === 200))
})

test('a client that has half-closed its connection still gets its response', async () => {
  await using app = await TestApp.start({ services: { any } })
  using connection = await Connection.open(app.port)
  connection.socket.end('GET /later?ms=50 HTTP/1.1\r\nHost: test\r\n\r\n')
  assert.equal((await connection.answer())?.status, 200)
})

test('a busy worker gets no new connection while another is free', async () => {
  using folder = new TestFolder({})
  await using app = await TestApp.start({ services: { any }, workers: 2 }, { timing: { stale: 1000 } })
  using blocking = await Connection.open(app.port)
  const blocked = await blocking.thread()
  blocking.send(`/busy?until=${folder.at('enough')}`)
  // A missing heartbeat is no event: the test waits until it is long overdue.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  using later = await openMany(app.port, 4)
  const threads = await threadsOf(later)
  assert.ok(!threads.includes(blocked), `${threads.join()} without ${blocked}`)
  writeFileSync(folder.at('enough'), '')
  assert.equal((await blocking.answer())?.status, 200)
})

test('an exposed service answers on its own port', async () => {
  const expose = { host: '127.0.0.1', port: 0 }
  await using app = await TestApp.start({ services: { any, other: { file: any, expose: [expose] } } })
  assert.deepEqual(
    app.running.addresses.map(({ id }) => id),
    ['gateway', 'expose:other'],
  )
  const answer = await fetch(app.running.addresses[1]!.url, { headers: { connection: 'close' } })
  assert.equal(answer.status, 200)
  await answer.text()
})

test('a port in use fails the start and names the config key', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  await assert.rejects(
    TestApp.start({ services: { any }, gateway: { port } }),
    (error) =>
      BusbarError.is(error, 'PORT_IN_USE') &&
      error.message.includes(String(port)) &&
      (error.hint ?? '').includes('gateway.port'),
  )
  taken.close()
  await once(taken, 'close')
})

async function threadsOf(connections: readonly Connection[]): Promise<(number | undefined)[]> {
  return await Promise.all(connections.map((connection) => connection.thread()))
}

async function perThread(connections: readonly Connection[]): Promise<number[]> {
  const threads = await threadsOf(connections)
  return [...Map.groupBy(threads, (thread) => thread).values()].map((group) => group.length)
}

function ascending(a: number, b: number): number {
  return a - b
}
