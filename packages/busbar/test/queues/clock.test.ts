/** The system's clock is set while items wait. */
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '../../src/queue/file/database.ts'
import { FileQueue } from '../../src/queue/file/file-queue.ts'
import { QueueStore } from '../../src/queue/file/store.ts'
import { moveWhenDue } from '../../src/queue/streams/consumers/consumers.ts'
import { decodeItem, encodeItem } from '../../src/queue/streams/item-message.ts'
import type { ItemStreams } from '../../src/queue/streams/item-streams.ts'
import type { JsMsg } from '../../src/shared/cluster/jetstream.ts'
import type { QueueCalls } from '../../src/mesh/typed/queue-calls.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { QueueApp, quick } from './support.ts'

const hour = 3_600_000
const silent = { add: () => {} }

/** The queue of a file. `ran`: called with the id of each item that runs. */
function openQueue(folder: TestFolder, ran: (id: string) => void, window = 0) {
  const file = folder.at('queue.sqlite')
  const call = async ({ delivery: { id } }: Parameters<QueueCalls['call']>[0]): Promise<void> => ran(id)
  const settings = { attempts: 2, backoff: 1, maxBackoff: 5, timeout: 1000, concurrency: 1 }
  const queue = new FileQueue({
    store: new QueueStore(openDatabase(file)!),
    isInPlace: () => true,
    file,
    settings: {
      place: { is: 'file', path: file },
      window,
      maxDepth: 10,
      maxSize: 1000,
      keepDead: 1,
      usual: settings,
      methods: {},
    },
    calls: { call, isKnown: () => true, serves: () => true, fitOf: () => 'same', versions: () => [] },
    log: console,
    cells: () => undefined,
  })
  const origin = { caller: undefined, trace: undefined, metadata: undefined }
  const add = async (id: string, delay: number): Promise<boolean> => {
    const added = Date.now()
    const until = window === 0 ? undefined : added + window
    const item = { target: 'mail.send', id, until, due: added + delay, added, input: '1', origin }
    return (await queue.add(item)).duplicate
  }
  return { queue, add }
}

test('items run in their order, and after the same delays, when the clock is set back by an hour', async () => {
  using folder = new TestFolder()
  const { now } = Date
  const clock = mock.method(Date, 'now')
  const ran: string[] = []
  const all = Promise.withResolvers<void>()
  const { queue, add } = openQueue(folder, (id) => {
    if (ran.push(id) === 1) clock.mock.mockImplementation(() => now() - hour)
    if (ran.length === 5) all.resolve()
  })
  await Promise.all([...['a', 'b', 'c'].map((id) => add(id, 0)), add('later', 1000)])
  await add('d', 0)
  await all.promise
  await queue.close(1000)
  clock.mock.restore()
  assert.deepEqual(ran, ['a', 'b', 'c', 'd', 'later'])
})

test('delays and pauses last when the clock is set back by an hour, and another owner opens the file', () => {
  using folder = new TestFolder()
  const item = { target: 'mail.send', until: undefined, input: '1', origin: '{}', size: 1 }
  const added = Date.now()
  using first = storeOf(folder)
  first.store.transaction(() => {
    first.store.add({ ...item, id: 'now', due: added, added })
    first.store.add({ ...item, id: 'failed', due: added, added })
    first.store.add({ ...item, id: 'failed before', due: added, added })
    for (const claimed of first.store.claim('mail.send', added, 3)) {
      if (claimed.id === 'failed before') first.store.postpone(claimed, added + 2000, { code: 'INTERNAL', message: '' })
      if (claimed.id === 'now') first.store.postpone(claimed, added, { code: 'INTERNAL', message: '' })
    }
    first.store.add({ ...item, id: 'later', due: added + 1000, added })
    const set = added - hour
    first.store.follow(-hour, set)
    // An attempt that was under way.
    for (const { number } of first.store.interrupted())
      first.store.postpone({ number, target: 'mail.send' }, set + 3000, { code: 'INTERNAL', message: '' })
  })
  first.close()
  using second = storeOf(folder)
  const due = (time: number): string[] =>
    second.store.transaction(() => {
      const ids = second.store.left(0, 10).filter((left) => left.due <= added - hour + time)
      return ids.map(({ id }) => id)
    })
  second.store.transaction(() => second.store.bringUpTo(added - hour))
  assert.deepEqual(due(0), ['now'])
  assert.deepEqual(due(1000), ['now', 'later'])
  assert.deepEqual(due(2000), ['now', 'failed before', 'later'])
  assert.deepEqual(due(3000), ['now', 'failed', 'failed before', 'later'])
})

/** The items of a file, without a queue that runs them. */
function storeOf(folder: TestFolder): Disposable & { readonly store: QueueStore; close(): void } {
  const store = new QueueStore(openDatabase(folder.at('queue.sqlite'))!)
  let isOpen = true
  const close = (): void => {
    if (isOpen) store.close()
    isOpen = false
  }
  return { store, close, [Symbol.dispose]: close }
}

test('a delay does not end early, and ids are known for the window, when the clock is set forward by an hour', async () => {
  using folder = new TestFolder()
  const { now } = Date
  const clock = mock.method(Date, 'now')
  const ran: string[] = []
  const all = Promise.withResolvers<void>()
  const { queue, add } = openQueue(folder, (id) => void (ran.push(id) === 4 && all.resolve()), 60_000)
  await Promise.all([add('a', 0), add('later', 1_000), add('much later', hour)])
  clock.mock.mockImplementation(() => now() + hour)
  assert.deepEqual([await add('b', 0), await add('a', 0), await add('c', 100)], [false, true, false])
  await all.promise
  await queue.close(1000)
  clock.mock.restore()
  assert.deepEqual(ran, ['a', 'b', 'c', 'later'])
})

test('an id is forgotten after the window when the clock is set back by an hour', async () => {
  using folder = new TestFolder()
  const { now } = Date
  const clock = mock.method(Date, 'now')
  const { queue, add } = openQueue(folder, () => {}, 200)
  await add('a', 0)
  clock.mock.mockImplementation(() => now() - hour)
  assert.equal(await add('b', 0), false)
  await sleep(250)
  assert.equal(await add('a', 0), false)
  await queue.close(1000)
  clock.mock.restore()
})

test('a delay ends in time if the machine has slept meanwhile', async () => {
  using folder = new TestFolder()
  const { now } = Date
  const { uptime } = os
  const mocks = [mock.method(Date, 'now'), mock.method(os, 'uptime')] as const
  syncBuiltinESMExports()
  const ran = Promise.withResolvers<string>()
  const { queue, add } = openQueue(folder, ran.resolve)
  await add('later', hour)
  mocks[0].mock.mockImplementation(() => now() + hour)
  mocks[1].mock.mockImplementation(() => uptime() + hour / 1_000)
  await queue.order({ kind: 'retry', number: null })
  assert.equal(await ran.promise, 'later')
  await queue.close(1000)
  for (const one of mocks) one.mock.restore()
  syncBuiltinESMExports()
})

for (const [delay, behind, longest] of [
  [4_000, 2, 4_000],
  [4_000, 0, 4_000],
  [24 * hour, 0, 24 * 60_000],
  [1_000 * hour, 2, hour],
] as const)
  test(`an item of a cluster with a delay of ${delay} ms pauses ${longest} ms at most where the clock is ${behind} h behind`, async () => {
    const added = Date.now() + behind * hour
    const origin = { caller: undefined, trace: undefined, metadata: undefined }
    const data = encodeItem({ id: 'a', added, due: added + delay, attempts: 0, origin, input: '1' })
    const pauses: number[] = []
    const timestampNanos = BigInt(added) * 1_000_000n
    const info = { deliveryCount: 1 }
    const message = { data, timestampNanos, info, nak: (pause: number) => void pauses.push(pause) } as unknown as JsMsg
    await moveWhenDue({ message, streams: {} as ItemStreams, heldAt: performance.now(), wait: 10_000 }, silent)
    assert.equal(pauses.length, 1)
    assert.ok(pauses[0]! <= longest && pauses[0]! > longest - 4_000, String(pauses))
  })

test('an item of a cluster waits no longer for its next attempt if the clock of its last host is hours ahead', async () => {
  const origin = { caller: undefined, trace: undefined, metadata: undefined }
  const item = {
    id: 'a',
    added: Date.now(),
    due: Date.now() + 3 * hour,
    pause: 60_000,
    attempts: 1,
    origin,
    input: '1',
  }
  const done: unknown[] = []
  const message = (storedAt: number, pause = 60_000, deliveryCount = 1): JsMsg =>
    ({
      data: encodeItem({ ...item, pause }),
      info: { deliveryCount },
      subject: 'later',
      timestampNanos: BigInt(storedAt) * 1_000_000n,
      nak: (pause: number) => done.push(pause > 50_000 && pause <= 60_000 ? 'waits for a minute' : pause),
      ackAck: async () => done.push('moved'),
    }) as unknown as JsMsg
  const streams = {
    delay: 0,
    targetOf: () => 'mail.send',
    nameOf: () => 'later',
    publish: async (_stream: string, _target: string, data: Uint8Array) => done.push(decodeItem(data)?.due),
  } as unknown as ItemStreams
  const move = (one: JsMsg): Promise<void> =>
    moveWhenDue({ message: one, streams, heldAt: performance.now(), wait: 10_000 }, silent)
  await move(message(Date.now()))
  await move(message(Date.now() - 61_000))
  assert.deepEqual(done.splice(0), ['waits for a minute', 0, 'moved'])
  // Where the clock is an hour behind that of the server.
  await move(message(Date.now() + hour, 1_000))
  await move(message(Date.now() + hour, 1_000, 2))
  assert.deepEqual(done, [1_000, 0, 'moved'])
})

test('an item runs at once if the clock was set back while its app did not run', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, file: 'queue.sqlite' } })
  await app.stop()
  const database = new DatabaseSync(app.folder.at('queue.sqlite'))
  const due = Date.now() + hour
  database
    .prepare(
      "INSERT INTO items (target, id, state, due, attempt, added, size, input, origin) VALUES ('mail.crash', 'x', 0, ?, 1, ?, 0, NULL, '{}')",
    )
    .run(due, due)
  database.close()
  await app.start()
  await app.untilLogged('crash x at 2')
})
