/** Items that cannot run are kept as dead letters, with the reason. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { QueueList } from '../../src/shared/queues.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, QueueProcess, quick } from './support.ts'

test('after its attempts an item is a dead letter; a declared error makes it one at once', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, attempts: 3 } })
  await app.mail.flaky.enqueue({ failures: 9 }, { id: 'never' })
  await app.mail.flaky.enqueue({ failures: 9, as: 'declared' }, { id: 'gone' })
  await app.untilLogged(/queue mail\.flaky: item 1 is a dead letter after 3 attempts: INTERNAL: mail\.flaky failed/)
  await app.untilLogged(/queue mail\.flaky: item 2 is a dead letter after 1 attempt: GONE: mail\.flaky answered GONE/)
  assert.equal(app.logged('flaky never fails').length, 3)
  await pollUntil(() => app.counts.dead === 2)
  const { buried, waiting, running } = app.counts
  assert.deepEqual([buried, waiting, running], [2, 0, 0])
})

test('only so many dead letters are kept', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, attempts: 1, keepDead: 2 } })
  for (let item = 0; item < 4; item++) await app.mail.flaky.enqueue({ failures: 9 })
  await app.untilLogged('is a dead letter', 4)
  await pollUntil(() => app.counts.dead === 2)
  assert.equal(app.counts.buried, 4)
})

test('after a deploy, unknown methods and services and invalid input are dead letters with the reason', async () => {
  await using app = new QueueApp()
  await app.start()
  await app.mail.send.enqueue({ to: 'x' }, { delay: 3_600_000 })
  await app.mail.flaky.enqueue({ failures: 1 }, { delay: 3_600_000 })
  await app.mail.slow.enqueue('x', { delay: 3_600_000 })
  await app.stop()
  // What an older version of the app has written.
  using database = new DatabaseSync(app.folder.at('.busbar', 'queue.sqlite'))
  database.exec(`
    UPDATE items SET due = 0;
    UPDATE items SET target = 'mail.sent' WHERE target = 'mail.send';
    UPDATE items SET target = 'letters.slow' WHERE target = 'mail.slow';
    UPDATE items SET input = '{"failures":"two"}' WHERE target = 'mail.flaky'`)
  database.close()
  await app.start()
  await app.untilLogged(/queue mail\.sent: item 1 is a dead letter after 1 attempt: METHOD_UNKNOWN: .*sent/)
  await app.untilLogged(/queue mail\.flaky: item 2 is a dead letter after 1 attempt: INPUT_INVALID: .*failures/)
  await app.untilLogged(/queue letters\.slow: item 3 is a dead letter after 1 attempt: SERVICE_UNKNOWN: .*letters/)
})

test('busbar queue lists them, and puts them back or deletes them', async () => {
  await using app = new QueueProcess({ queues: { ...quick, attempts: 2 } })
  await app.start()
  assert.match((await app.queue()).stdout, /the queue is empty/)
  for (const id of ['a', 'b', 'c']) await app.enqueue('flaky', { failures: 3 }, id)
  await app.busbar.until(() => app.output.split('is a dead letter').length === 4)
  const { queues, dead } = JSON.parse((await app.queue('--json')).stdout) as QueueList
  assert.deepEqual(queues, [{ service: 'mail', method: 'flaky', waiting: 0, running: 0, dead: 3 }])
  assert.deepEqual(new Set(dead.map(({ id }) => id)), new Set(['a', 'b', 'c']))
  const { number, attempts, code, input, method } = dead.find(({ id }) => id === 'a')!
  assert.deepEqual([attempts, code, input, method], [2, 'INTERNAL', '{"failures":3}', 'flaky'])
  assert.match((await app.queue()).stdout, /mail\.flaky +0 +0 +3\n[^]*mail\.flaky +a +2 .*INTERNAL: mail\.flaky failed/)

  assert.match((await app.queue('drop', `${number}`)).stdout, /deleted: 1 dead letter\b/)
  const again = await app.queue('drop', `${number}`)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /the queue has no dead letter/)
  assert.match((await app.queue('retry', 'all')).stdout, /put back: 2 dead letters/)
  await app.busbar.until(() => app.output.split('is a dead letter').length === 6)
  assert.equal((await app.queue('empty')).code, 2)
  assert.equal(await app.stop(), 0)
})

test('busbar queue prints ids without characters that change the terminal', async () => {
  await using app = new QueueProcess({ queues: { ...quick, attempts: 1 } })
  await app.start()
  const id = 'a\u202eb\u001b[31m\u0007\u2066\u200b\ud83d\ude00\u00e9'
  await app.enqueue('flaky', { failures: 3 }, id)
  await app.busbar.until(() => app.output.includes('is a dead letter'))
  assert.ok((await app.queue()).stdout.includes(String.raw`a\u202eb\u001b[31m\u0007\u2066\u200b😀é`))
  const { stdout } = await app.queue('--json')
  assert.doesNotMatch(stdout, /[^\P{C}\n]/u)
  assert.equal((JSON.parse(stdout) as QueueList).dead[0]?.id, id)
})

test('an app without a queue has no file, and busbar queue says so', async () => {
  await using app = new QueueProcess({})
  await app.start()
  const { code, stderr } = await app.queue()
  assert.equal(code, 1)
  assert.match(stderr, /this app has no queue/)
  assert.equal(existsSync(app.folder.at('.busbar')), false)
})
