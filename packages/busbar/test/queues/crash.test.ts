/** Nothing that was enqueued is lost, however a worker or the app ends. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, QueueProcess, quick } from './support.ts'

test('an item whose process ends during the attempt is attempted again', async () => {
  await using app = await QueueApp.start(undefined, { run: 'process' })
  await app.mail.crash.enqueue(undefined, { id: 'c' })
  await app.untilLogged('crash c at 2')
  await pollUntil(() => app.counts.running === 0 && app.counts.waiting === 0)
  assert.deepEqual([app.counts.failures, app.counts.dead], [1, 0])
})

test('an app that is killed while it enqueues and runs items runs each of them at least once', async () => {
  await using app = new QueueProcess({ queues: { ...quick, concurrency: 4 } })
  const file = app.folder.at('sent')
  const accepted = new Set<string>()
  for (let round = 0; round < 3; round++) {
    await app.start()
    const before = accepted.size
    const load = Array.from({ length: 8 }, async (_, lane) => {
      for (let item = 0; ; item++) {
        const id = `${round}-${lane}-${item}`
        try {
          await app.enqueue('send', { to: id, file }, id)
        } catch {
          return
        }
        accepted.add(id)
        if (accepted.size >= before + 60) return
      }
    })
    await pollUntil(() => accepted.size >= before + 40)
    await app.kill()
    await Promise.all(load)
  }
  await app.start()
  const missing = (): string[] => {
    const sent = new Set(app.folder.read('sent').split('\n'))
    return [...accepted].filter((id) => !sent.has(id))
  }
  await pollUntil(() => missing().length === 0, missing)
  assert.ok(accepted.size >= 120)
  assert.equal(await app.stop(), 0)
})

test('a file that is deleted while it is in use takes no new items, and those that wait still run', async () => {
  await using app = new QueueProcess({ queues: { ...quick, concurrency: 1 } })
  await app.start()
  await app.enqueue('slow', 'first')
  await app.enqueue('send', { to: 'ada' })
  await app.busbar.message('slow first begins')
  for (const name of ['queue.sqlite', 'queue.sqlite-wal']) rmSync(app.folder.at('.busbar', name))
  await assert.rejects(app.enqueue('send', { to: 'bob' }), /was deleted or replaced.*QUEUE_UNAVAILABLE/)
  const live = await app.checkLive()
  assert.match(live.stdout, /was deleted or replaced/)
  assert.equal(live.code, 1)
  await app.busbar.message('sent ada')
  assert.equal(await app.stop(), 0)
  await app.start()
  await app.enqueue('send', { to: 'eve' })
  await app.busbar.message('sent eve')
})

test('an item that runs when the app is killed is attempted again, and its attempt counts', async () => {
  await using app = new QueueProcess({ queues: quick, stopTimeout: 500 }, { run: 'thread' })
  await app.start()
  await app.enqueue('slow', 'deep', 's')
  await app.enqueue('crash', undefined, 'k')
  await app.busbar.message('slow deep begins')
  await app.kill()
  await app.start()
  await app.busbar.message('slow deep begins')
  await app.busbar.message('crash k at 2')
})

test('an item that kills the app each time becomes a dead letter', async () => {
  await using app = new QueueProcess({ queues: { ...quick, attempts: 2 } })
  await app.start()
  await app.enqueue('slow', 'x', 'poison')
  await app.busbar.message('slow x begins')
  await app.kill()
  await app.start()
  await app.busbar.message('slow x begins')
  await app.kill()
  await app.start()
  await app.busbar.message('is a dead letter after 2 attempts: WORKER_DIED')
})

test('a stop waits for attempts that run, and begins no others', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, concurrency: 1 } })
  await app.mail.slow.enqueue('one')
  await app.mail.slow.enqueue('two')
  await app.untilLogged('slow one begins')
  const { release } = app.mail
  const stopping = app.stop()
  await release().catch(() => {})
  await app.untilLogged('slow one ends')
  await stopping
  assert.equal(app.logged('slow two begins').length, 0)
  await app.start()
  await app.untilLogged('slow two begins')
  await app.mail.release()
})

test('a second process of the app waits for the file, and has it when the first is killed', async () => {
  await using first = new QueueProcess()
  await first.start()
  await using app = new QueueApp()
  app.configure({ queues: { ...quick, file: first.folder.at('.busbar', 'queue.sqlite') } })
  await app.start()
  await app.untilLogged('this worker waits for it')
  await first.enqueue('slow', 'x', 's')
  await first.busbar.message('slow x begins')
  await first.kill()
  await app.untilLogged('slow x begins')
  await app.mail.release()
  await app.untilLogged('slow x ends')
})
