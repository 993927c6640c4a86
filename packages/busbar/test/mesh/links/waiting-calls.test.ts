/** Calls of a peer that reads its answers slowly. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AnswerSizes } from '../../../src/mesh/links/limits/answer-sizes.ts'
import { maxQueued } from '../../../src/mesh/links/limits/limits.ts'
import type { Link, LinkOptions } from '../../../src/mesh/links/link.ts'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import type { Packet, PacketTransport, PacketTransportListener } from '../../../src/mesh/links/packet-transport.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import { ask, Callee, CallRecorder, head, linked, refuse } from '../../support/mesh/links.ts'

const reason = { code: 'CALL_ABORTED', message: 'no longer needed' } as const

describe('calls of a peer that has not read its answers', () => {
  it('begin when it reads again: in order, with their data, less those that are cancelled or late', async () => {
    const callee = new Callee()
    using pair = new SlowPair({ answer: callee.answer })
    await pair.block(callee)
    const [cancelled, late, large, next] = recorders()
    const aborted = pair.near.open(head, 'cancelled', true, cancelled)
    pair.near.open({ ...head, timeLeft: 1 }, 'late', true, late)
    const upload = pair.near.open({ ...head, kind: 'http' }, 'upload', false, large)
    upload.data('a')
    upload.data('b')
    upload.end()
    pair.near.open(head, 'next', true, next)
    await pair.until(() => pair.far.answering === 5)
    aborted.cancel(reason)
    await new Promise((resolve) => setTimeout(resolve, 10))
    assert.deepEqual([callee.calls.length, pair.far.answering], [1, 4])
    pair.go()
    const { recorder, payload } = await callee.call(1)
    assert.equal(payload, 'upload')
    assert.deepEqual(recorder.events, [
      ['data', 'a'],
      ['data', 'b'],
      ['end', undefined],
    ])
    assert.equal((await callee.call(2)).payload, 'next')
    assert.equal((await late.over)?.code, 'DEADLINE_EXCEEDED')
    assert.equal(late.notStarted, true)
    assert.equal(callee.calls.length, 3)
  })

  it('begin a few at a time, so that their answers are bounded', async () => {
    const callee = new Callee()
    const calls = Array.from({ length: 200 }, () => new CallRecorder())
    let most = 0
    const answering: LinkOptions['answer'] = (of, payload, ended, channel) => {
      const handler = callee.answer(of, payload, ended, channel)
      if (payload === 'large') queueMicrotask(() => channel.reply('x'.repeat(2 ** 20), true))
      const unanswered = calls.filter(({ events }) => events.length === 0).length
      most = Math.max(most, callee.calls.length - (calls.length - unanswered))
      return handler
    }
    using pair = new SlowPair({ answer: answering })
    await pair.block(callee)
    for (const call of calls) pair.near.open(head, 'large', true, call)
    await pair.until(() => pair.far.answering === 201)
    // Then it reads one packet at a time.
    pair.step()
    await Promise.all(calls.map(({ over }) => over))
    assert.deepEqual(
      calls.map(({ events }) => events.length),
      calls.map(() => 1),
    )
    assert.ok(most < 64, `${most} answers of 1 MiB waited`)
  })

  it('end with their link', async () => {
    const callee = new Callee()
    using pair = new SlowPair({ answer: callee.answer })
    await pair.block(callee)
    const call = new CallRecorder()
    pair.near.open(head, 1, true, call)
    await pair.until(() => pair.far.answering === 2)
    pair.near.close(reason)
    await pair.far.closed
    assert.equal((await call.over)?.code, 'CALL_ABORTED')
    pair.go()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(callee.calls.length, 1)
  })
})

describe('calls of another app', () => {
  const foreign = { ...head, isForeign: true }

  it('begin a few at a time if their answers are large, also before the first one is sent', async () => {
    let [begun, answered, most] = [0, 0, 0]
    const answerLater: LinkOptions['answer'] = (_head, _payload, _ended, channel) => {
      most = Math.max(most, ++begun - answered)
      setImmediate(() => {
        answered++
        channel.reply('x'.repeat(2 ** 20), true)
      })
      return {}
    }
    using pair = await linked(answerLater, { answerSizes: new AnswerSizes() })
    await ask(pair.one, 'first', foreign)
    await Promise.all(Array.from({ length: 200 }, (_, at) => ask(pair.one, at, foreign)))
    assert.deepEqual([begun, answered], [201, 201])
    assert.ok(most <= 64, `${most} calls were begun and not answered`)
  })

  it('all begin at once if nothing is known of their answers', async () => {
    const callee = new Callee()
    using pair = await linked(callee.answer, { answerSizes: new AnswerSizes() })
    for (let at = 0; at < 100; at++) pair.one.open(foreign, at, true, {})
    await callee.call()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(
      callee.calls.map(({ payload }) => payload),
      Array.from({ length: 100 }, (_, at) => at),
    )
  })

  it('do not wait for those of other methods, nor for long for those that are not answered', async () => {
    const callee = new Callee()
    using pair = await linked(callee.answer, { answerSizes: new AnswerSizes() })
    const first = ask(pair.one, 'first', foreign)
    const { channel } = await callee.call()
    channel.reply('x'.repeat(2 ** 20 - 100), true)
    await first
    for (let at = 0; at < 30; at++) pair.one.open(foreign, at, true, {})
    pair.one.open({ ...foreign, method: 'other' }, 'other', true, {})
    await callee.call(17)
    assert.equal(callee.calls[17]?.payload, 'other')
    await callee.call(31)
  })
})

function recorders(): [CallRecorder, CallRecorder, CallRecorder, CallRecorder] {
  return [new CallRecorder(), new CallRecorder(), new CallRecorder(), new CallRecorder()]
}

/** Two ends of a link. What `far` sends can be held up. */
class SlowPair implements Disposable {
  readonly near: Link
  readonly far: Link
  readonly #transport: SlowTransport

  constructor(far: Omit<LinkOptions, 'peer'>) {
    const [one, other] = loopbackTransports()
    this.#transport = new SlowTransport(other)
    this.near = createLink(one, { peer: 2, answer: refuse })
    this.far = createLink(this.#transport, { peer: 1, isForeign: true, ...far })
  }

  /** Nothing is read from now on, and more waits than calls may begin with. */
  async block(callee: Callee): Promise<void> {
    this.near.open({ ...head, kind: 'stream' }, 'filling', true, {})
    const { channel } = await callee.call()
    this.#transport.isHeld = true
    // The transport holds the first one.
    for (let at = 0; at < 2; at++) channel.data('x'.repeat(maxQueued))
  }

  go(): void {
    this.#transport.go()
  }

  step(): void {
    this.#transport.isStepped = true
    this.#transport.go()
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve))
  }

  [Symbol.dispose](): void {
    this.near.close(reason)
    this.far.close(reason)
  }
}

class SlowTransport implements PacketTransport {
  isHeld = false
  /** One packet is sent in each turn. */
  isStepped = false
  readonly #held: Packet[] = []
  readonly #transport: PacketTransport
  #listener!: PacketTransportListener

  constructor(transport: PacketTransport) {
    this.#transport = transport
  }

  open(listener: PacketTransportListener): void {
    this.#listener = listener
    this.#transport.open(listener)
  }

  send(packet: Packet): boolean {
    if (!this.isHeld) return this.#transport.send(packet)
    this.#held.push(packet)
    return false
  }

  close(): void {
    this.#transport.close()
  }

  go(): void {
    const next = this.#held.shift()
    if (next !== undefined) this.#transport.send(next)
    if (this.#held.length > 0) return this.go()
    this.isHeld = this.isStepped
    this.#listener.onDrain()
    if (this.isStepped && this.#held.length > 0) setImmediate(() => this.go())
  }
}
