import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { type Channel, window } from '../../../src/mesh/links/link.ts'
import { Callee, CallRecorder, head, linked, type Pair } from '../../support/mesh/links.ts'
import { ways } from '../../support/mesh/transports.ts'

for (const way of ways) {
  describe(`a callee that fails a call with values that wait for credit, over ${way.name}`, () => {
    const error: ErrorRecord = { code: 'RESOURCE_EXHAUSTED', message: 'none is left' }
    const values = Array.from({ length: window + 5 }, (_, at) => at)
    const begin = async (): Promise<{ pair: Pair; channel: Channel; recorder: CallRecorder; callee: CallRecorder }> => {
      const callee = new Callee()
      const pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      const channel = pair.one.open({ ...head, kind: 'stream' }, 0, false, recorder)
      const call = await callee.call()
      for (const value of values) call.channel.data(value)
      call.channel.fail(error)
      call.channel.fail({ code: 'INTERNAL', message: 'a second failure' })
      call.channel.data('too late')
      await recorder.until(window)
      return { pair, channel, recorder, callee: call.recorder }
    }

    it('has the values sent before the error', async () => {
      const { pair, channel, recorder, callee } = await begin()
      using _ = pair
      channel.data('ignored')
      await turn()
      assert.equal(pair.other.answering, 1)
      channel.consumed(window)
      assert.equal((await recorder.over)?.message, 'none is left')
      assert.deepEqual(recorder.values, values)
      assert.deepEqual(callee.events, [])
      assert.equal(pair.one.inFlight, 0)
      assert.equal(pair.other.answering, 0)
    })

    it('waits neither for a caller that gives up nor for a link that has ended', async () => {
      const { pair, channel, callee } = await begin()
      channel.cancel({ code: 'CALL_ABORTED', message: 'enough' })
      await pair.one.acknowledged()
      assert.equal(pair.other.answering, 0)
      assert.deepEqual(callee.events, [])
      const second = await begin()
      second.pair.one.close({ code: 'CALL_ABORTED', message: 'the test is over' })
      await second.pair.other.closed
      assert.equal(second.pair.other.answering, 0)
      assert.deepEqual(second.callee.events, [])
      pair[Symbol.dispose]()
    })
  })
}
