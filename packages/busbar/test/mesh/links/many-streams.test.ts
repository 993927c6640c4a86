import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AnswerSizes } from '../../../src/mesh/links/limits/answer-sizes.ts'
import type { CallHandler, Channel } from '../../../src/mesh/links/link.ts'
import { CallRecorder, head, linked } from '../../support/mesh/links.ts'
import { unix } from '../../support/mesh/transports.ts'

const large = 'x'.repeat(1024 ** 2)

describe('streams of another app with large values', () => {
  it('all arrive at a peer that reads them, however many there are', async () => {
    using pair = await linked(streamTwo, { way: unix, answerSizes: new AnswerSizes() })
    const streams = Array.from({ length: 140 }, () => new CountingReader())
    for (const stream of streams)
      stream.channel = pair.one.open({ ...head, kind: 'stream', isForeign: true }, undefined, true, stream)
    const errors = await Promise.all(streams.map(({ over }) => over))
    assert.deepEqual(new Set(errors.map((error) => error?.message)), new Set([undefined]))
    assert.deepEqual(new Set(streams.map(({ values }) => values.length)), new Set([2]))
  })
})

/** Takes each value at once. */
class CountingReader extends CallRecorder {
  channel: Channel | undefined

  override onData(value: unknown): void {
    super.onData((value as string).length)
    this.channel!.consumed(1)
  }
}

/** Sends like the generator of a service: each value later than the one before. */
const streamTwo: CallHandler = (_head, _payload, _ended, channel) => {
  let drained: (() => void) | undefined
  const send = async (): Promise<void> => {
    for (let at = 0; at < 2; at++) {
      await Promise.resolve()
      if (!channel.data(large)) await new Promise<void>((resolve) => (drained = resolve))
    }
    channel.end()
  }
  void send()
  return { onDrain: () => drained?.() }
}
