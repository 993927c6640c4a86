/** A reload whose config of `queues` has changed replaces the owner of the queue. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueueApp, quick } from './support.ts'

test('a reload keeps the owner of the queue; a new config of the queue moves the file to a new one', async () => {
  await using app = await QueueApp.start({ queues: quick, stopTimeout: 500 })
  await app.mail.slow.enqueue('one')
  await app.untilLogged('slow one begins')
  await app.app.reload()
  await app.orders.place({ to: 'ada' })
  await app.untilLogged('sent ada')
  assert.equal(app.logged('in use; this worker waits').length, 0)
  app.configure({ queues: { ...quick, attempts: 40 }, stopTimeout: 500 })
  await app.app.reload()
  await app.orders.place({ to: 'bob' })
  await app.untilLogged('sent bob')
  assert.equal(app.logged('in use; this worker waits').length, 1)
})

test('while an attempt keeps the old owner of the file, requests of both generations enqueue', async () => {
  await using app = await QueueApp.start({ queues: quick, stopTimeout: 4_000 })
  const file = app.folder.at('later')
  const later = app.orders.placeLater({ to: 'ada', file })
  await app.mail.slow.enqueue('one', { id: 'one' })
  await app.untilLogged('slow one begins')
  await app.untilLogged('ada is to be placed later')
  app.configure({ queues: { ...quick, attempts: 40 }, stopTimeout: 4_000 })
  await app.app.reload()
  app.folder.write('later', '')
  const placed = await Promise.all([later, app.orders.place({ to: 'bob' })])
  assert.equal(app.logged("this worker has the queue's file").length, 0)
  await app.untilLogged("this worker has the queue's file")
  await Promise.all(['sent ada', 'sent bob', 'slow one begins'].map((text) => app.untilLogged(text)))
  assert.ok(placed.every(({ duplicate }) => !duplicate))
  await app.mail.release()
})

test('a new file begins empty at once, and what waits in the old one is there', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, concurrency: 1 }, stopTimeout: 500 })
  await app.mail.slow.enqueue('one')
  await app.mail.slow.enqueue('two')
  await app.untilLogged('slow one begins')
  app.configure({ queues: { ...quick, file: 'moved.sqlite' }, stopTimeout: 500 })
  await app.app.reload()
  await app.orders.place({ to: 'bob' })
  await app.untilLogged('sent bob')
  assert.equal(app.logged('slow two begins').length, 0)
  await app.stop()
  app.configure({ queues: { ...quick, concurrency: 1 }, stopTimeout: 500 })
  await app.start()
  await app.untilLogged('slow two begins')
  await app.mail.release()
})
