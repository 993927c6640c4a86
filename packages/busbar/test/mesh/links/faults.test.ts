import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { hopelessUnread, maxInTransit, maxQueued, maxUnread } from '../../../src/mesh/links/limits/limits.ts'
import type { CallHandler } from '../../../src/mesh/links/link.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import { threadTransport } from '../../../src/mesh/transports/thread.ts'
import { ask, Callee, echo, head, CallRecorder, refuse } from '../../support/mesh/links.ts'
import { BadWire } from '../../support/mesh/bad-wire.ts'
import { SeededRandom } from '../../support/seeded-random.ts'

const megabyte = 1024 * 1024

describe('a link over an unreliable connection', () => {
  for (const delivery of ['sliced', 'delayed'] as const)
    it(`carries every call and stream completely when it is ${delivery}`, async (t) => {
      const chance = new SeededRandom()
      t.diagnostic(`seed ${chance.seed}`)
      await using wire = await BadWire.between({ answer: refuse }, { answer: doubling }, delivery, chance)
      const size = delivery === 'sliced' ? 40 : 5_000
      const sent = Array.from({ length: 20 }, (_, at) => ({
        at,
        text: 'ä€'.repeat(chance.below(size)),
        n: chance.next(),
      }))
      const answers = Promise.all(sent.map((value) => ask(wire.near, value)))
      const recorder = new CallRecorder()
      const bytes = new Uint8Array(1 + chance.below(size)).fill(7)
      const channel = wire.near.open({ ...head, kind: 'http' }, undefined, false, recorder)
      channel.data(new Uint8Array(bytes))
      channel.end()
      await recorder.over
      assert.deepEqual(await answers, sent)
      assert.deepEqual(recorder.values, [bytes])
    })

  it('fails the calls in flight at both ends when it is cut, and does nothing twice', async (t) => {
    const chance = new SeededRandom()
    t.diagnostic(`seed ${chance.seed}`)
    for (let round = 0; round < 10; round++) {
      const done = new Map<unknown, number>()
      const counting: CallHandler = (_head, payload, _ended, channel) => {
        done.set(payload, (done.get(payload) ?? 0) + 1)
        // Some calls are answered at once, some later, some never.
        if (chance.below(3) > 0) setTimeout(() => channel.reply(payload, true), chance.below(4))
        return {}
      }
      await using wire = await BadWire.between({ answer: refuse }, { answer: counting }, 'delayed', chance)
      const calls = Array.from({ length: 50 }, () => new CallRecorder())
      for (const [at, call] of calls.entries()) wire.near.open(head, at, true, call)
      setTimeout(() => wire.cut(), chance.below(20))
      const errors = await Promise.all(calls.map((call) => call.over))
      for (const error of errors) assert.ok(error === undefined || error.code === 'LINK_LOST', error?.message)
      await Promise.all([wire.near.closed, wire.far.closed])
      for (const times of done.values()) assert.equal(times, 1)
      for (const [at, error] of errors.entries()) if (error === undefined) assert.equal(done.get(at), 1)
      assert.deepEqual([wire.near.inFlight, wire.far.answering], [0, 0])
    }
  })

  it('tells the callee that its caller is gone', async () => {
    const callee = new Callee()
    await using wire = await BadWire.between({ answer: refuse }, { answer: callee.answer })
    wire.near.open(head, 1, true, {})
    const { recorder, channel } = await callee.call()
    wire.cut()
    assert.equal((await recorder.over)?.code, 'LINK_LOST')
    channel.reply('delayed', true)
  })

  it('is closed at both ends when it is half-open; an idle link stays open', async () => {
    const silence = 300
    await using idle = await BadWire.between(
      { answer: refuse, keepAliveTimeout: silence },
      { answer: echo, keepAliveTimeout: silence },
    )
    await using wire = await BadWire.between(
      { answer: refuse, keepAliveTimeout: silence },
      { answer: () => ({}), keepAliveTimeout: silence },
    )
    const recorder = new CallRecorder()
    wire.near.open(head, 1, true, recorder)
    wire.stop()
    const error = await recorder.over
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /worker 2 has been silent for 0\.3 s/)
    assert.equal((await wire.far.closed).code, 'LINK_LOST')
    assert.equal(await ask(idle.near, 'still there'), 'still there')
  })
})

describe('a peer that answers no ping', () => {
  it('is silent before it counts as gone, and no longer once it answers', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    await using wire = await BadWire.between({ answer: refuse, keepAliveTimeout: 30_000 }, { answer: () => ({}) })
    wire.near.open(head, 1, true, {})
    wire.stop()
    t.mock.timers.tick(4000)
    assert.deepEqual([wire.near.isSilent, wire.near.state], [true, 'open'])
    wire.go()
    await wire.near.acknowledged()
    assert.equal(wire.near.isSilent, false)
  })

  it('is not silent while only its calls take long', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    await using wire = await BadWire.between({ answer: refuse, keepAliveTimeout: 30_000 }, { answer: () => ({}) })
    wire.near.open(head, 1, true, {})
    for (let second = 0; second < 60; second++) {
      t.mock.timers.tick(1000)
      await wire.near.acknowledged()
      assert.deepEqual([wire.near.isSilent, wire.near.state], [false, 'open'])
    }
  })
})

describe('a peer that stops reading', () => {
  it('gets a bounded amount; further calls are refused at once; it gets everything once it reads again', async () => {
    await using wire = await BadWire.between({ answer: refuse }, { answer: lengthOf })
    wire.stop()
    const text = 'x'.repeat(megabyte)
    const calls: CallRecorder[] = []
    let refused: CallRecorder | undefined
    for (let at = 0; refused === undefined && at < 200; at++) {
      const call = new CallRecorder()
      wire.near.open(head, text, true, call)
      await new Promise((resolve) => setImmediate(resolve))
      if (call.events.length > 0) refused = call
      else calls.push(call)
    }
    assert.equal((await refused!.over)?.code, 'RESOURCE_EXHAUSTED')
    assert.equal(refused!.notStarted, true)
    // Buffered in the link, in the socket, and in the kernel.
    assert.ok(calls.length < (maxQueued + 16 * megabyte) / megabyte, `${calls.length} MiB were taken`)
    wire.go()
    for (const call of calls) {
      assert.equal(await call.over, undefined)
      assert.deepEqual(call.events, [['reply', megabyte]])
    }
  })

  it('gets a bounded amount also as a thread', async () => {
    const { port1, port2 } = new MessageChannel()
    const link = createLink(threadTransport(port1), { peer: 2, answer: refuse })
    let taken = 0
    let refused = false
    while (!refused && taken < 100) {
      link.open(head, 'x'.repeat(megabyte), true, { onError: () => (refused = true) })
      await new Promise((resolve) => setImmediate(resolve))
      if (!refused) taken++
    }
    assert.ok(taken <= (maxQueued + maxInTransit) / megabyte + 2, `${taken} MiB were taken`)
    link.close({ code: 'CALL_ABORTED', message: 'the test is over' })
    port2.close()
  })

  it('fails the calls whose values would be more than a bounded amount, if it is another app, and keeps its link', async () => {
    const callee = new Callee()
    const lines: string[] = []
    const far = { answer: callee.answer, isForeign: true, onUnread: (line: string) => lines.push(line) }
    await using wire = await BadWire.between({ answer: refuse }, far)
    const pending = Array.from({ length: 40 }, () => new CallRecorder())
    for (const recorder of pending) wire.near.open({ ...head, kind: 'stream' }, 1, true, recorder)
    await callee.call(pending.length - 1)
    wire.stop()
    // Each waits after its first value, as a service does.
    const text = 'x'.repeat((maxUnread / pending.length) * 1.5)
    for (const { channel } of callee.calls) channel.data(text)
    await callee.calls.at(-1)!.recorder.over
    const failed = callee.calls.filter(({ recorder }) => recorder.events.length > 0)
    assert.ok(failed.length >= 10 && failed.length <= 20, `${failed.length} of ${pending.length} calls have failed`)
    assert.equal(lines.length, failed.length)
    assert.match(lines[0]!, /refused to send a value of shop\.list to worker 1, which has not read 1[23]\d MiB/)
    wire.go()
    const error = await pending.at(-1)!.over
    assert.equal(error?.code, 'RESOURCE_EXHAUSTED')
    assert.match(error.message, /a value of shop\.list is not sent: 1[23]\d MiB wait for worker 1/)
    assert.match(error.hint!, /fewer calls/)
    await pending[0]!.until(1)
    assert.deepEqual([wire.near.state, wire.far.state], ['open', 'open'])
  })

  it('loses its link when even the errors of its calls pile up', async () => {
    const callee = new Callee()
    const lines: string[] = []
    const far = { answer: callee.answer, isForeign: true, onUnread: (line: string) => lines.push(line) }
    await using wire = await BadWire.between({ answer: refuse }, far)
    const pending = Array.from({ length: 40 }, () => new CallRecorder())
    for (const recorder of pending) wire.near.open(head, 1, true, recorder)
    await callee.call(pending.length - 1)
    wire.stop()
    const message = 'x'.repeat((hopelessUnread / pending.length) * 1.5)
    for (const { channel } of callee.calls) channel.fail({ code: 'INTERNAL', message })
    assert.match((await wire.far.closed).message, /worker 1 does not read what it is sent: 2\d\d MiB wait for it/)
    assert.match(lines[0]!, /closed the link to worker 1, which does not read/)
    wire.go()
    for (const recorder of pending) assert.ok((await recorder.over) !== undefined)
  })

  it('stops the writer of a stream until it reads again', async () => {
    const callee = new Callee()
    await using wire = await BadWire.between({ answer: refuse }, { answer: callee.answer })
    const recorder = new CallRecorder()
    const channel = wire.near.open({ ...head, kind: 'http' }, undefined, false, recorder)
    const { channel: reader, recorder: there } = await callee.call()
    wire.stop()
    let sent = 1
    while (channel.data(new Uint8Array(64 * 1024))) sent++
    assert.ok(sent <= 16, `${sent} pieces were sent to nobody`)
    wire.go()
    await there.until(sent)
    reader.consumed(sent)
    await recorder.until(1)
    assert.deepEqual(recorder.events, [['drain']])
  })
})

const lengthOf: CallHandler = (_head, payload, _ended, channel) => {
  channel.reply((payload as string).length, true)
  return {}
}

/** Echoes a call's input, and every value of a stream. */
const doubling: CallHandler = (of, payload, _ended, channel) => {
  channel.reply(payload, of.kind === 'call')
  return {
    onData(value) {
      channel.data(value)
      channel.consumed(1)
    },
    onEnd: () => channel.end(),
  }
}
