import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { NatsConnection } from '../../src/shared/cluster/connection.ts'
import { type ServerWatchOptions, watchServer } from '../../src/shared/cluster/server-watch.ts'

/** A connection whose server answers no ping. Returns what its timer does in the next seconds. */
function watched(t: TestContext, options: ServerWatchOptions = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const connection = { inBytes: 0, pings: [] as (() => void)[], isClosed: false }
  const watch = watchServer(
    {
      stats: () => ({ inBytes: connection.inBytes }),
      flush: () => new Promise<void>((resolve) => connection.pings.push(resolve)),
      close: async () => void (connection.isClosed = true),
    } as unknown as NatsConnection,
    options,
  )
  t.after(() => watch[Symbol.dispose]())
  const pass = async (seconds: number): Promise<boolean> => {
    t.mock.timers.tick(seconds * 1_000)
    await Promise.resolve()
    return connection.isClosed
  }
  return { connection, pass }
}

test('a server counts as gone when it has not answered two pings', async (t) => {
  const { connection, pass } = watched(t)
  assert.equal(await pass(4), false)
  assert.equal(await pass(4), false)
  connection.pings[0]!()
  await pass(0)
  assert.equal(await pass(4), false)
  assert.equal(await pass(4), false)
  assert.equal(await pass(4), true)
})

test('a server that sends messages is there: its answer may be behind them', async (t) => {
  const { connection, pass } = watched(t)
  for (let time = 0; time < 5; time++) {
    connection.inBytes += 1_000
    assert.equal(await pass(4), false)
  }
  await pass(4)
  assert.equal(await pass(4), true)
})

test('a server may answer later if much was sent before the ping', async (t) => {
  let transitTime = 8_000
  const { pass } = watched(t, { transitTime: () => transitTime })
  for (let time = 0; time < 4; time++) assert.equal(await pass(4), false)
  transitTime = 0
  assert.equal(await pass(4), true)
})

test('a server is there while bytes of a message arrive, however long it takes', async (t) => {
  const socket = { bytesRead: 0, bytesWritten: 0, writableLength: 0 }
  const { pass } = watched(t, { socket })
  for (let time = 0; time < 10; time++) {
    socket.bytesRead += 100
    assert.equal(await pass(4), false)
  }
  await pass(4)
  assert.equal(await pass(4), true)
})

test('a server is there while it reads what has waited for it; what the system takes says nothing', async (t) => {
  const socket = { bytesRead: 0, bytesWritten: 1_000_000, writableLength: 900_000 }
  const { pass } = watched(t, { socket })
  for (let time = 0; time < 9; time++) {
    assert.equal(await pass(4), false)
    socket.writableLength -= 100_000
  }
  // It has left, and pings are all that follows.
  for (let time = 0; time < 2; time++) {
    socket.bytesWritten += 6
    assert.equal(await pass(4), false)
  }
  socket.bytesWritten += 6
  assert.equal(await pass(4), true)
})
