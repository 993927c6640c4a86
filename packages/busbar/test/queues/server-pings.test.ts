/** Which networks are slow, by what comes while the server does not answer a ping. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { NatsConnection } from '../../src/shared/cluster/connection.ts'
import { ServerPings } from '../../src/queue/streams/server-pings.ts'

const second = 100_000

/** `comes`: bytes, for each second since the ping that was answered last. */
function latenessAfter(t: TestContext, comes: readonly number[]): number | undefined {
  let now = 0
  let bytes = 0
  t.mock.method(performance, 'now', () => now)
  // No further ping is answered.
  const connection = { flush: () => new Promise(() => {}) } as unknown as NatsConnection
  const pings = new ServerPings(connection, () => bytes)
  for (const more of comes) {
    now += 1_000
    bytes += more
    void pings.confirm()
  }
  return pings.lateness
}

describe('a network', () => {
  it('is slow if something comes all the time', (t) => {
    assert.equal(latenessAfter(t, Array<number>(8).fill(second)), 8_000)
  })

  it('is slow if something comes in bursts', (t) => {
    assert.equal(latenessAfter(t, [0, 0, 3 * second, 0, 2 * second, 0, 0, 3 * second, 0, 2 * second]), 10_000)
  })

  it('is not slow if it stood still, whatever came before and after that', (t) => {
    assert.equal(latenessAfter(t, [second, 0, 0, 0, 0, 0, 9 * second]), undefined)
    assert.equal(latenessAfter(t, [second, 0, 0, 9 * second]), undefined)
    assert.equal(latenessAfter(t, [second, 0, 0, 0, 0, 0]), undefined)
  })

  it('is not slow if hardly anything is on its way', (t) => {
    assert.equal(latenessAfter(t, Array<number>(8).fill(1_000)), undefined)
  })
})
