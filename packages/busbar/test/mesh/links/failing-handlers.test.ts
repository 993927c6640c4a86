import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChannelHandler } from '../../../src/mesh/links/link.ts'
import { echo, head, linked, ask } from '../../support/mesh/links.ts'

/** Throws `fault` where it gets the answer of a call. */
function failing(at: 'onReply' | 'onData' | 'onEnd', ended: (message: string) => void): ChannelHandler {
  const fail = (): never => {
    throw new TypeError('cannot read it')
  }
  return { [at]: fail, onError: ({ message }) => ended(message) }
}

describe('a handler that cannot read what the peer has sent', () => {
  for (const isForeign of [false, true])
    for (const at of ['onReply', 'onData', 'onEnd'] as const)
      it(`ends its call alone: ${at}, ${isForeign ? 'another app' : 'the same app'}`, async () => {
        using links = await linked(
          (called, payload, ended, channel) => {
            if (called.kind === 'call') return echo(called, payload, ended, channel)
            if (at === 'onReply') channel.reply(payload, true)
            else channel.data(payload)
            channel.end()
            return {}
          },
          { isForeign },
        )
        const message = await new Promise<string>((resolve) => {
          const kind = at === 'onReply' ? 'http' : 'stream'
          links.one.open({ ...head, kind }, 'a', true, failing(at, resolve))
        })
        assert.equal(message, 'cannot read it')
        assert.equal(await ask(links.one, 'b'), 'b')
      })

  it('ends the link of another app if it belongs to no call', async () => {
    const onMove = (): never => {
      throw new TypeError('cannot move')
    }
    using links = await linked(echo, { isForeign: true, onMove })
    links.other.askToMove()
    const { code, message } = await links.one.closed
    assert.deepEqual([code, message], ['LINK_LOST', 'worker 2 sent what cannot be handled: cannot move'])
  })
})
