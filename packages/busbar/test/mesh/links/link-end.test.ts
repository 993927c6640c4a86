import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { ask, Callee, CallRecorder, echo, head, linked } from '../../support/mesh/links.ts'
import { ways } from '../../support/mesh/transports.ts'

for (const way of ways) {
  describe(`a link that drains, over ${way.name}`, () => {
    it('accepts no new calls, finishes those in flight, and may make calls', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way, answer: echo })
      const recorder = new CallRecorder()
      pair.one.open(head, 1, true, recorder)
      const { channel } = await callee.call()
      pair.other.drain()
      const crossing = new CallRecorder()
      pair.one.open(head, 2, true, crossing)
      assert.equal((await crossing.over)?.code, 'SERVICE_UNAVAILABLE')
      assert.equal(crossing.notStarted, true)
      assert.equal(pair.one.state, 'draining')
      const refused = new CallRecorder()
      pair.one.open(head, 3, true, refused)
      assert.deepEqual(refused.events, [])
      assert.equal((await refused.over)?.code, 'SERVICE_UNAVAILABLE')
      assert.equal(await ask(pair.other, 4), 4)
      channel.reply('done', true)
      assert.equal(await recorder.over, undefined)
      assert.equal(callee.calls.length, 1)
    })
  })

  describe(`a link whose side leaves, over ${way.name}`, () => {
    it('accepts the calls that were sent before the peer knew, and no later ones', async () => {
      using pair = await linked(echo, { way, answer: echo })
      const left = pair.other.leave()
      const crossing = new CallRecorder()
      pair.one.open(head, 'crossing', true, crossing)
      await left
      assert.equal(pair.one.state, 'draining')
      assert.equal(await crossing.over, undefined)
      const refused = new CallRecorder()
      pair.one.open(head, 'late', true, refused)
      assert.equal((await refused.over)?.code, 'SERVICE_UNAVAILABLE')
      assert.equal(refused.notStarted, true)
      assert.equal(await ask(pair.other, 4), 4)
    })
  })

  describe(`a link that is closed, over ${way.name}`, () => {
    it('has lost what it was answering, and has not begun what it had not read', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const [begun, crossing] = [new CallRecorder(), new CallRecorder()]
      pair.one.open(head, 1, true, begun)
      await callee.call()
      pair.other.close({ code: 'SERVICE_UNAVAILABLE', message: 'it has stopped' })
      pair.one.open(head, 2, true, crossing)
      assert.deepEqual([(await begun.over)?.code, begun.notStarted], ['LINK_LOST', false])
      assert.deepEqual([(await crossing.over)?.code, crossing.notStarted], ['SERVICE_UNAVAILABLE', true])
    })

    it('has not begun connections that it had not read, though it waits for why it was lost', async () => {
      const callee = new Callee()
      const resolveLost = async (reason: ErrorRecord) => await Promise.resolve(reason)
      using pair = await linked(callee.answer, { way, resolveLost })
      const [begun, crossing] = [new CallRecorder(), new CallRecorder()]
      const connection = { ...head, kind: 'bytes', method: '' } as const
      pair.one.open(connection, undefined, false, begun)
      await callee.call()
      pair.other.close({ code: 'LINK_LOST', message: 'it broke' })
      pair.one.open(connection, undefined, false, crossing)
      assert.deepEqual([(await begun.over)?.code, begun.notStarted], ['LINK_LOST', false])
      assert.deepEqual([(await crossing.over)?.code, crossing.notStarted], ['LINK_LOST', true])
    })
  })
}
