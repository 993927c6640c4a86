import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { ConcurrencyGate } from '../../../src/mesh/routing/limits/concurrency-gate.ts'
import { gateCalls } from '../../../src/mesh/routing/limits/gated-calls.ts'
import type { CallHead, Channel, Link } from '../../../src/mesh/links/link.ts'
import { loopbackLink } from '../../../src/mesh/transports/loopback.ts'
import { InstanceCells } from '../../../src/shared/metrics/instance-cells.ts'

interface Answering {
  readonly payload: unknown
  readonly channel: Channel
  readonly said: unknown[]
}

/** A worker with a service of concurrency 1 and queue 1. The test answers its calls. */
class Worker implements Disposable {
  readonly link: Link
  readonly answering: Answering[] = []
  #news = Promise.withResolvers<void>()

  constructor() {
    const gate = new ConcurrencyGate({ service: 'render', concurrency: 1, queue: 1, cells: new InstanceCells() })
    const answer = gateCalls(new Map([['render', gate]]), (_head, payload, _ended, channel) => {
      const said: unknown[] = []
      this.answering.push({ payload, channel, said })
      this.#tell()
      const hear = (word: unknown): void => {
        said.push(word)
        this.#tell()
      }
      return {
        onData: hear,
        onEnd: (value) => hear(['end', value]),
        onCancel: ({ code }) => hear(['cancel', code]),
      }
    })
    this.link = loopbackLink(1, answer)
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#news.promise
  }

  [Symbol.dispose](): void {
    this.link.close({ code: 'LINK_LOST', message: 'the test is over' })
  }

  #tell(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }
}

test('a call waits until the previous one is over, and then gets what its caller has sent', async () => {
  using worker = new Worker()
  const first = call(worker.link, 'first')
  const second = call(worker.link, 'second', { ended: false })
  second.channel.data('more')
  second.channel.end('last')
  await worker.until(() => worker.answering.length === 1)
  worker.answering[0]!.channel.reply('one', true)
  assert.equal(await first.reply, 'one')
  await worker.until(() => worker.answering[1]?.said.length === 2)
  assert.deepEqual(worker.answering[1]!.said, ['more', ['end', 'last']])
  worker.answering[1]!.channel.reply('two', true)
  assert.equal(await second.reply, 'two')
})

for (const [how, kind, finish] of [
  ['fails', 'call', (channel: Channel) => channel.fail({ code: 'INTERNAL', message: 'no' })],
  [
    'ends its stream',
    'stream',
    (channel: Channel) => {
      channel.data('x')
      channel.end()
    },
  ],
] as const)
  test(`a call that ${how} is over`, async () => {
    using worker = new Worker()
    call(worker.link, 'first', { kind }).reply.catch(() => {})
    const second = call(worker.link, 'second')
    await worker.until(() => worker.answering.length === 1)
    finish(worker.answering[0]!.channel)
    await worker.until(() => worker.answering.length === 2)
    worker.answering[1]!.channel.reply('two', true)
    assert.equal(await second.reply, 'two')
  })

test('a cancelled call frees its place, and a waiting one leaves the queue', async () => {
  using worker = new Worker()
  const first = call(worker.link, 'first')
  const second = call(worker.link, 'second')
  first.reply.catch(() => {})
  second.reply.catch(() => {})
  await worker.until(() => worker.answering.length === 1)
  second.channel.cancel({ code: 'CALL_ABORTED', message: 'gave up' })
  const third = new Promise((resolve) => setImmediate(resolve)).then(() => call(worker.link, 'third'))
  await third
  first.channel.cancel({ code: 'CALL_ABORTED', message: 'gave up' })
  await worker.until(() => worker.answering.length === 2)
  assert.deepEqual(worker.answering[0]!.said, [['cancel', 'CALL_ABORTED']])
  assert.equal(worker.answering[1]!.payload, 'third')
  worker.answering[1]!.channel.reply('three', true)
  assert.equal(await (await third).reply, 'three')
})

test('a call that is cancelled in the turn of its arrival never starts', async () => {
  using worker = new Worker()
  const { channel } = call(worker.link, 'nobody wants it')
  channel.cancel({ code: 'CALL_ABORTED', message: 'the caller gave up' })
  const { reply } = call(worker.link, 'somebody does')
  await worker.until(() => worker.answering.length > 0)
  worker.answering[0]!.channel.reply(1, true)
  assert.equal(await reply, 1)
  assert.deepEqual(
    worker.answering.map(({ payload }) => payload),
    ['somebody does'],
  )
})

test('a call beyond the queue is refused at once, before it starts; so is one whose deadline passes while it waits', async () => {
  using worker = new Worker()
  call(worker.link, 'first').reply.catch(() => {})
  const late = call(worker.link, 'second', { timeLeft: 20 })
  const third = call(worker.link, 'third')
  await assert.rejects(third.reply, { code: 'RESOURCE_EXHAUSTED', notStarted: true })
  await assert.rejects(late.reply, { code: 'DEADLINE_EXCEEDED' })
  assert.equal(worker.answering.length, 1)
})

test('calls of other services, and connections, pass', async () => {
  using worker = new Worker()
  const calls = [
    call(worker.link, 1),
    call(worker.link, 2, { service: 'web' }),
    call(worker.link, 3, { kind: 'bytes' }),
  ]
  for (const { reply } of calls) reply.catch(() => {})
  await worker.until(() => worker.answering.length === 3)
})

interface Made {
  readonly channel: Channel
  readonly reply: Promise<unknown>
}

function call(link: Link, payload: unknown, more: Partial<CallHead> & { ended?: boolean } = {}): Made {
  const { ended = true, ...head } = more
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const fixed = { service: 'render', kind: 'call', method: 'draw', hops: 1 } as const
  const rest = { caller: undefined, timeLeft: undefined, trace: undefined, metadata: undefined }
  const channel = link.open({ ...fixed, ...rest, ...head }, payload, ended, {
    onReply: (value, last) => last && resolve(value),
    onError: (error: ErrorRecord, notStarted: boolean) =>
      reject(Object.assign(new Error(error.message), error, { notStarted })),
  })
  return { channel, reply: promise }
}
