import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { NatsConnection } from '../../src/shared/cluster/connection.ts'
import { watchServer } from '../../src/shared/cluster/server-watch.ts'

/** A connection whose server answers no ping. Returns what its timer does in the next seconds. */
function watched(t: TestContext, transitTime?: () => number) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const connection = { inBytes: 0, pings: [] as (() => void)[], isClosed: false }
  const watch = watchServer(
    {
      stats: () => ({ inBytes: connection.inBytes }),
      flush: () => new Promise<void>((resolve) => connection.pings.push(resolve)),
      close: async () => void (connection.isClosed = true),
    } as unknown as NatsConnection,
    transitTime,
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
  const { pass } = watched(t, () => transitTime)
  for (let time = 0; time < 4; time++) assert.equal(await pass(4), false)
  transitTime = 0
  assert.equal(await pass(4), true)
})
