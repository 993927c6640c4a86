import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { packetTime } from '../../../src/mesh/links/limits/limits.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import type { PacketTransport } from '../../../src/mesh/links/packet-transport.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import { echo, head, refuse } from '../../support/mesh/links.ts'

/** Of a caller. Each packet is noted when it is sent. */
function noting(): { open: () => Promise<unknown>; sent: string[]; close: () => void } {
  const [near, far] = loopbackTransports()
  const sent: string[] = []
  const transport: PacketTransport = {
    open: (listener) => near.open(listener),
    close: () => near.close(),
    send(packet) {
      sent.push(packet.text)
      return near.send(packet)
    },
  }
  const link = createLink(transport, { peer: 2, answer: refuse })
  createLink(far, { peer: 1, answer: echo })
  const open = (): Promise<unknown> =>
    new Promise((onReply, onError) => void link.open(head, 'x', true, { onReply, onError }))
  return { open, sent, close: () => link.close({ code: 'CALL_ABORTED', message: 'the test is over' }) }
}

const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

/** Makes calls in so many ticks of one turn, and returns the packets that it took. */
async function turnOf({ open, sent }: ReturnType<typeof noting>, ticks: number, between = 0): Promise<string[]> {
  await nextTurn()
  const before = sent.length
  const calls: Promise<unknown>[] = []
  for (let at = 0; at < ticks; at++) {
    calls.push(open())
    for (const end = performance.now() + between; performance.now() < end;);
    await tick()
  }
  await Promise.all(calls)
  return sent.slice(before)
}

describe('the calls of one turn of the event loop', () => {
  it('leave in the next tick if they come in one', async () => {
    const link = noting()
    for (let turn = 0; turn < 20; turn++) {
      await nextTurn()
      const before = link.sent.length
      const calls = [link.open(), link.open(), link.open()]
      await tick()
      assert.equal(link.sent.length, before + 1)
      await Promise.all(calls)
    }
    link.close()
  })

  it('leave together at its end if those of the last turns came in several ticks', async () => {
    const link = noting()
    await turnOf(link, 5)
    // On a busy machine a turn may be a long one.
    for (let turn = 0; turn < 20; turn++) assert.match((await turnOf(link, 5))[0]!, /"x","x"/)
    link.close()
  })

  it('leave together soon after many turns in which they came in one tick', async () => {
    const link = noting()
    for (let turn = 0; turn < 40; turn++) await turnOf(link, 1)
    for (let turn = 0; turn < 10; turn++) await turnOf(link, 5)
    for (let turn = 0; turn < 10; turn++) assert.match((await turnOf(link, 5))[0]!, /"x","x"/)
    link.close()
  })

  it('do not wait for the end of a long turn', async () => {
    const link = noting()
    await turnOf(link, 5)
    assert.ok((await turnOf(link, 6, packetTime * 2)).length >= 3)
    link.close()
  })
})
