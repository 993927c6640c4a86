import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { type CallHead, window } from '../../../src/mesh/links/link.ts'
import { ask, Callee, echo, hang, head, CallRecorder, linked } from '../../support/mesh/links.ts'
import { ways } from '../../support/mesh/transports.ts'

const died: ErrorRecord = { code: 'WORKER_DIED', message: 'worker 2 was killed' }

for (const way of ways) {
  describe(`a call over a link, over ${way.name}`, () => {
    it('gets the callee’s reply', async () => {
      using pair = await linked(echo, { way })
      assert.deepEqual(await ask(pair.one, { id: 7, when: new Date(5) }), { id: 7, when: new Date(5) })
      assert.equal(await ask(pair.one, undefined), undefined)
      assert.equal(pair.one.inFlight, 0)
      assert.equal(pair.other.answering, 0)
    })

    it('carries its head', async () => {
      const whole: CallHead = {
        service: 'shop',
        kind: 'http',
        method: 'PROPFIND',
        hops: 3,
        caller: 'web',
        mayCancel: false,
        timeLeft: 250,
        trace: { traceparent: '00-1', tracestate: 'a=b' },
        metadata: { 'x-word': 'hello "you"' },
        isForeign: true,
        contract: 'c0ffee',
        key: 'customer 7',
        delivery: { id: 'order-7', attempt: 2, enqueuedAt: 1_700_000_000_000 },
      }
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      pair.one.open(whole, undefined, true, {})
      pair.one.open(head, undefined, true, {})
      assert.deepEqual((await callee.call(0)).head, whole)
      assert.deepEqual((await callee.call(1)).head, {
        ...head,
        mayCancel: true,
        isForeign: false,
        contract: undefined,
        key: undefined,
        delivery: undefined,
      })
    })

    it('keeps its own head and value among calls of the same turn', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const values = [1, { two: 2 }, new Date(3), undefined, [4], 'five', null]
      const heads: Partial<CallHead>[] = [
        {},
        {},
        { method: 'buy' },
        { metadata: { to: 'me' } },
        { metadata: { to: 'me' } },
      ]
      const asked = values.flatMap((value) => heads.map((of) => ({ of, value, answer: ask(pair.one, value, of) })))
      for (const [at, { of, value }] of asked.entries()) {
        const { head: got, payload } = await callee.call(at)
        assert.deepEqual([got.method, got.metadata, payload], [of.method ?? 'list', of.metadata, value])
      }
      const metadata = callee.calls.map((call) => call.head.metadata).filter((one) => one !== undefined)
      assert.equal(new Set(metadata).size, metadata.length, 'a call may change its metadata')
      // In another order than they came, and one of them fails.
      const [first, second, third, ...others] = callee.calls
      third!.channel.fail({ code: 'SERVICE_HANGUP', message: 'not there' })
      for (const call of [second!, first!, ...others]) call.channel.reply(call.payload, true)
      for (const [at, { value, answer }] of asked.entries())
        if (at === 2) await assert.rejects(answer, { code: 'SERVICE_HANGUP' })
        else assert.deepEqual(await answer, value)
      assert.deepEqual([pair.one.inFlight, pair.other.answering], [0, 0])
    })

    it('goes in both directions over one link', async () => {
      using pair = await linked(echo, { way, answer: echo })
      assert.deepEqual(await Promise.all([ask(pair.one, 1), ask(pair.other, 2), ask(pair.one, 3)]), [1, 2, 3])
    })

    it('carries a stream each way, in order, until both have ended', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      const channel = pair.one.open({ ...head, kind: 'http' }, 'up', false, recorder)
      const { channel: answer, recorder: up } = await callee.call()
      channel.data('a')
      channel.data(new Uint8Array([1, 2]))
      channel.end('trailers')
      answer.reply('head', false)
      answer.data('b')
      answer.end()
      await Promise.all([recorder.over, up.over])
      assert.deepEqual(up.events, [
        ['data', 'a'],
        ['data', new Uint8Array([1, 2])],
        ['end', 'trailers'],
      ])
      assert.deepEqual(recorder.events, [
        ['reply', 'head'],
        ['data', 'b'],
        ['end', undefined],
      ])
      await turn()
      assert.deepEqual([pair.one.inFlight, pair.other.answering], [0, 0])
    })

    it('copies its values', async () => {
      using pair = await linked(echo, { way })
      const payload = { list: [1], bytes: new Uint8Array([1]) }
      const answer = ask(pair.one, payload)
      payload.list.push(2)
      payload.bytes[0] = 9
      assert.deepEqual(await answer, { list: [1], bytes: new Uint8Array([1]) })
    })

    it('delivers bytes in buffers of their own, whatever they were a slice of', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const channel = pair.one.open({ ...head, kind: 'http' }, { body: Buffer.from('in a pool') }, false, {})
      const { payload, recorder } = await callee.call()
      const whole = new Uint8Array(5000).fill(1)
      for (const bytes of [Buffer.from('abc'), whole, whole, new Uint8Array(8000).subarray(10, 5000)])
        channel.data(bytes)
      await recorder.until(4)
      const { body } = payload as { body: Uint8Array }
      assert.deepEqual([body.byteLength, body.buffer.byteLength], [9, 9])
      const sizes = recorder.values.map((value) =>
        [value as Uint8Array].map((one) => [one.byteLength, one.buffer.byteLength]),
      )
      assert.deepEqual(
        sizes.flat(),
        [3, 5000, 5000, 4990].map((size) => [size, size]),
      )
      assert.deepEqual(recorder.values[0], new Uint8Array([97, 98, 99]))
    })

    it('fails alone when its value cannot be encoded', async () => {
      using pair = await linked(echo, { way })
      const good = ask(pair.one, 1)
      const bad = ask(pair.one, { f: () => 1 })
      const after = ask(pair.one, 2)
      await assert.rejects(bad, { code: 'INTERNAL', message: /shop\.list has at f a function/ })
      assert.deepEqual(await Promise.all([good, after]), [1, 2])
    })

    it('fails at both ends when the answer cannot be encoded', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      pair.one.open(head, 1, true, recorder)
      const { channel, recorder: there } = await callee.call()
      channel.reply(Symbol('x'), true)
      assert.equal((await recorder.over)?.code, 'INTERNAL')
      assert.equal((await there.over)?.code, 'INTERNAL')
    })
  })

  describe(`the end of a call, over ${way.name}`, () => {
    it('reaches the callee when the caller gives up; what follows is dropped', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      const channel = pair.one.open(head, 1, true, recorder)
      const { channel: answer, recorder: there } = await callee.call()
      channel.cancel({ code: 'CALL_ABORTED', message: 'enough' })
      assert.equal((await there.over)?.code, 'CALL_ABORTED')
      answer.reply('late', true)
      await turn()
      assert.deepEqual(recorder.events, [])
    })

    it('reaches the caller when the callee fails, with the error’s data', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const errors: ErrorRecord[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      pair.one.open(head, 1, true, { onError: (error) => resolve(void errors.push(error)) })
      const { channel } = await callee.call()
      channel.fail({ code: 'RESOURCE_EXHAUSTED', message: 'no room', service: 'shop', data: { when: new Date(1) } })
      await promise
      assert.deepEqual(errors, [
        { code: 'RESOURCE_EXHAUSTED', message: 'no room', service: 'shop', data: { when: new Date(1) } },
      ])
    })

    it('follows from the end of the link, for all calls at both ends', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      pair.one.open(head, 1, true, recorder)
      const { recorder: there } = await callee.call()
      pair.other.close(died)
      const error = await recorder.over
      assert.equal(error?.code, 'WORKER_DIED')
      assert.equal(error.service, 'shop')
      assert.match(error.message, /^shop\.list, which worker 2 was answering: worker 2 was killed$/)
      assert.equal((await there.over)?.code, 'WORKER_DIED')
      assert.deepEqual(await pair.one.closed, died)
      assert.equal(pair.one.state, 'closed')
      await assert.rejects(ask(pair.one, 1), { code: 'LINK_LOST', message: 'worker 2 is no longer linked' })
    })
  })

  describe(`the load of a service, over ${way.name}`, () => {
    it('is reported with the answers, by a side that is configured to', async () => {
      let inFlight = 7
      using pair = await linked(echo, { way, loadOf: () => inFlight-- })
      assert.equal(pair.one.loadOf('shop'), 0)
      await Promise.all([ask(pair.one, 1), ask(pair.one, 2)])
      assert.equal(pair.one.loadOf('shop'), 7)
      await ask(pair.one, 3)
      assert.equal(pair.one.loadOf('shop'), 6)
      assert.equal(pair.one.loadOf('other'), 0)
    })
  })

  describe(`backpressure, over ${way.name}`, () => {
    it('stops the writer after a window, and resumes it when the reader has read', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      const channel = pair.one.open({ ...head, kind: 'http' }, 0, false, recorder)
      const { channel: reader, recorder: there } = await callee.call()
      for (let at = 1; at < window; at++) assert.equal(channel.data(at), true)
      assert.equal(channel.data(window), false)
      await there.until(window)
      assert.deepEqual(recorder.events, [])
      reader.consumed(window)
      await recorder.until(1)
      assert.deepEqual(recorder.events, [['drain']])
      assert.equal(channel.data('more'), true)
    })

    it('buffers a window for a writer that does not wait, in order, and then fails the call', async () => {
      const callee = new Callee()
      using pair = await linked(callee.answer, { way })
      const recorder = new CallRecorder()
      const channel = pair.one.open({ ...head, kind: 'http' }, 0, false, recorder)
      const { channel: reader, recorder: there } = await callee.call()
      for (let at = 0; at < 2 * window; at++) channel.data(at)
      channel.end('end')
      await there.until(window)
      reader.consumed(window)
      await there.over
      assert.deepEqual(
        there.values,
        Array.from({ length: 2 * window }, (_, at) => at),
      )
      const second = new CallRecorder()
      const rude = pair.one.open({ ...head, kind: 'http' }, 0, false, second)
      for (let at = 0; at < 3 * window; at++) rude.data(at)
      assert.equal((await second.over)?.code, 'INTERNAL')
    })
  })

  describe(`the limits of a link, over ${way.name}`, () => {
    it('refuse a call at once, at the caller', async () => {
      using pair = await linked(hang, { way, maxCalls: 2 })
      const calls = Array.from({ length: 3 }, () => new CallRecorder())
      for (const call of calls) pair.one.open(head, 1, true, call)
      assert.equal((await calls[2]!.over)?.code, 'RESOURCE_EXHAUSTED')
      assert.equal(calls[2]!.notStarted, true)
      assert.equal(pair.one.inFlight, 2)
    })
  })
}
