/** Items as large as NATS takes, or larger. What is accepted has an outcome that is kept. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxMetadata } from '../../src/queue/item-limits.ts'
import { moveWhenDue } from '../../src/queue/streams/consumers/consumers.ts'
import { retryDeadLetters } from '../../src/queue/streams/dead-letters.ts'
import { decodeDeadLetter, decodeItem, encodeItem, fitDeadLetter } from '../../src/queue/streams/item-message.ts'
import type { ItemStreams } from '../../src/queue/streams/item-streams.ts'
import type { JsMsg } from '../../src/shared/cluster/jetstream.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { programs, QueueApp, QueueProcess, quick } from './support.ts'

const maxPayload = 65_536
const maxInput = maxPayload - 16_384
const metadataOf = (bytes: number) => ({ 'x-a': 'y'.repeat(bytes - JSON.stringify({ 'x-a': '' }).length) })
const inputOf = (bytes: number) => ({ failures: 9, as: 'x'.repeat(bytes - '{"failures":9,"as":""}'.length) })

describe('items that nearly fill a message', { skip: withoutNats }, () => {
  it('pause and become dead letters, and what is larger is refused with its size in bytes', async () => {
    await using nats = await NatsServer.startWithJetStream(`max_payload: ${maxPayload}`)
    const cluster = { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' }
    await using app = await QueueApp.start({ queues: { ...quick, attempts: 2 }, cluster })
    const { flaky, slow } = app.mail
    const id = '\u0001'.repeat(256)
    const metadata = metadataOf(maxMetadata)
    await flaky.enqueue(inputOf(maxInput), { id, metadata, delay: 1 })
    await app.untilLogged('is a dead letter after 2 attempts: INTERNAL: mail.flaky failed')
    await pollUntil(() => app.counts.dead === 1 && app.counts.running === 0 && app.counts.waiting === 0)

    const message = new RegExp(`input: it has ${maxInput + 2} bytes as JSON, and an item may have ${maxInput}:`)
    await assert.rejects(slow.enqueue('€'.repeat(maxInput / 3)), { code: 'INPUT_INVALID', message })
    const refused = { code: 'INPUT_INVALID', message: /metadata: it has 8193 bytes as JSON, and an item may have 8192/ }
    await assert.rejects(slow.enqueue('a', { metadata: metadataOf(maxMetadata + 1) }), refused)
  })

  it('do not stop their method when max_payload was made smaller', async () => {
    await using nats = await NatsServer.startWithJetStream(`max_payload: ${2 * maxPayload}`)
    const cluster = { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' }
    const queues = { ...quick, attempts: 2, concurrency: 1 }
    const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
    const shop = await QueueApp.start({ queues, cluster, services })
    await shop.mail.flaky.enqueue(inputOf(maxPayload), { id: 'big' })
    await shop.mail.flaky.enqueue(inputOf(maxPayload), { id: 'late', delay: 1 })
    await shop[Symbol.asyncDispose]()
    await nats.restart(`max_payload: ${maxPayload}`)
    await using app = new QueueProcess({ queues, cluster })
    await app.start()
    await app.enqueue('flaky', { failures: 0 }, 'good')
    await app.busbar.until(() => app.output.includes('flaky good done at 1'))
    const lost = /item \d is a dead letter after 2 attempts: INTERNAL: its input and metadata are lost: with them/g
    await app.busbar.until(() => app.output.match(lost)?.length === 2)
    for (const id of ['big', 'late']) assert.equal(app.output.split(`flaky ${id} fails`).length, 3)
    assert.match(
      (await app.queue()).stdout,
      /mail\.flaky +0 +0 +2\n[^]*big +2 .*INTERNAL: its input and metadata are lost/,
    )
    const { code, stderr } = await app.queue('retry', '1')
    assert.equal(code, 1)
    assert.match(stderr, /dead letter 1 cannot be put back: its input and metadata were too large/)
    const all = await app.queue('retry', 'all')
    assert.equal(all.code, 1)
    assert.match(all.stdout, /put back: 0 dead letters/)
    assert.match(all.stderr, /left: 2 dead letters\n +1: dead letter 1 cannot be put back[^\n]*\n +2: dead letter 2/)
    assert.match((await app.queue('drop', 'all')).stdout, /deleted: 2 dead letters/)
  })
})

describe('a max_payload that changes while the server and the app run', { skip: withoutNats }, () => {
  const large = `max_payload: ${2 * maxPayload}`
  const small = `max_payload: ${maxPayload}`

  it('is known when an item would be refused', async () => {
    await using nats = await NatsServer.startWithJetStream(small)
    const cluster = { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' }
    await using app = await QueueApp.start({ queues: quick, cluster })
    await app.mail.send.enqueue({ to: 'ada' })
    await nats.reload(large)
    await app.mail.send.enqueue({ to: 'x'.repeat(maxPayload) })
    await app.untilLogged(/sent xxx/)
    assert.deepEqual(app.logged('is connected again'), [])
  })

  it('refuses what is too large as an invalid input, and keeps dead letters until they fit', async () => {
    await using nats = await NatsServer.startWithJetStream(large)
    const cluster = { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' }
    await using app = new QueueProcess({ queues: { ...quick, attempts: 1 }, cluster })
    await app.start()
    await app.enqueue('flaky', inputOf(maxPayload), 'big')
    await app.busbar.until(() => app.output.includes('is a dead letter after 1 attempt'))
    await nats.reload(small)
    await assert.rejects(app.enqueue('flaky', inputOf(maxPayload), 'other'))
    await app.busbar.until(() => /an item of mail.flaky is refused: input: it has 65536 bytes/.test(app.output))
    const refused = await app.queue('retry', '1')
    assert.match(refused.stderr, /dead letter 1 cannot be put back: it has \d+ bytes, more than max_payload of NATS/)
    assert.match(refused.stderr, /It is kept whole\. Raise max_payload/)
    await nats.reload(large)
    while ((await app.queue('retry', '1')).code !== 0) await sleep(500)
    await app.busbar.until(() => app.output.split('is a dead letter after 1 attempt').length === 3)
  })
})

test('metadata has the same limit in a file', async () => {
  await using app = await QueueApp.start()
  await app.mail.send.enqueue({ to: 'ada' }, { metadata: metadataOf(maxMetadata) })
  await app.untilLogged('sent ada')
  const message = /metadata: it has 8193 bytes as JSON, and an item may have 8192: store it elsewhere/
  const metadata = metadataOf(maxMetadata + 1)
  await assert.rejects(app.mail.send.enqueue({ to: 'bob' }, { metadata }), { code: 'INPUT_INVALID', message })
})

test('of all dead letters, those that do not fit are left with the reason, and the others are put back', async () => {
  const letter = {
    id: 'a',
    added: 1,
    due: 0,
    attempts: 1,
    input: '1',
    why: { code: 'INTERNAL', message: '' },
    diedAt: 2,
  }
  const origins = [undefined, {}, {}, {}]
  const faults = [
    undefined,
    Object.assign(new Error("'payload' max_payload size exceeded"), { name: 'InvalidArgumentError' }),
    Object.assign(new Error('maximum messages exceeded'), { name: 'JetStreamApiError', code: 10077 }),
  ]
  const removed: number[] = []
  const streams = {
    nameOf: (stream: string) => stream,
    targetOf: () => 'mail.send',
    publish: async (_stream: string, _target: string, _data: unknown, { msgID }: { msgID: string }) => {
      const fault = faults[Number(msgID.split(' ')[1]) - 1]
      if (fault !== undefined) throw fault
    },
    reader: { streams: { info: async () => ({ state: { first_seq: 1, last_seq: 4, messages: 4, num_deleted: 0 } }) } },
    manager: {
      streams: {
        getMessage: async (_name: string, { seq }: { seq: number }) => ({
          data: encodeItem({ ...letter, origin: origins[seq - 1] }),
          subject: 'dead',
        }),
        deleteMessage: async (_name: string, seq: number) => removed.push(seq) > 0,
      },
    },
  } as unknown as ItemStreams
  const { count, left, reasons } = await retryDeadLetters(streams, null)
  assert.deepEqual([count, left, removed], [1, 3, [4]])
  assert.deepEqual(
    reasons.map(({ number }) => number),
    [1, 2, 3],
  )
  assert.match(reasons.map(({ message }) => message).join(), /were too large.*more than max_payload.*queues\.maxDepth/)
})

test('a dead letter has a shorter reason if it would be too large, and its input as long as that helps', () => {
  const item = { id: 'a', added: 1, due: 0, attempts: 1, origin: { caller: 'b' }, input: '"€"' }
  const letterOf = (message: string) => ({ ...item, why: { code: 'INTERNAL', message }, diedAt: 2 })
  const size = encodeItem(letterOf('')).length
  const fitted = (message: string, limit: number) => {
    const data = encodeItem(fitDeadLetter(letterOf(message), limit))
    assert.ok(data.length <= limit)
    return { letter: decodeDeadLetter(data)!, item: decodeItem(data) }
  }
  assert.equal(fitted('\u0001'.repeat(1_000), 16_384).letter.why.message.length, Math.floor(4_096 / 6))
  assert.equal(fitted('é😀é', size + 7).letter.why.message, 'é😀')
  assert.deepEqual(fitted('é😀é', size + 5).letter, { ...letterOf('é'), hasInput: true })
  assert.equal(fitted('why', size).letter.input, item.input)
  const bare = fitted('why'.repeat(100), size - 1)
  assert.deepEqual([bare.letter.origin, bare.letter.input, bare.item], [undefined, null, undefined])
})

test('an item whose time has come waits until the server takes its message again, and the log says so once', async () => {
  const item = { id: 'a', added: 1, due: 2, attempts: 0, origin: {}, input: '1' }
  const done: number[] = []
  const lines: (string | undefined)[] = []
  const message = {
    data: encodeItem(item),
    subject: 'later',
    timestampNanos: 1n,
    info: { deliveryCount: 1 },
    nak: (pause: number) => done.push(pause),
  } as unknown as JsMsg
  const refused = Object.assign(new Error("'payload' max_payload size exceeded"), { name: 'InvalidArgumentError' })
  const streams = { targetOf: () => 'mail.send', nameOf: () => 'later', publish: () => Promise.reject(refused) }
  const delivery = { message, streams: streams as unknown as ItemStreams, heldAt: performance.now(), wait: 10_000 }
  await moveWhenDue(delivery, { add: (_level, line, kind) => void lines.push(line, kind) })
  const text = `queue mail.send: item a of ${message.data.length} bytes waits until max_payload of NATS is large enough for it`
  assert.deepEqual([done, lines], [[300_000], [text, 'mail.send max_payload']])
})
