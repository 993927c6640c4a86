import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { Backlog } from '../../../src/supervisor/accept/backlog.ts'
import { backlogLimit } from '../../../src/supervisor/timing.ts'

test('waiting connections are settled in order, and the others keep waiting', () => {
  const backlog = new Backlog(60_000, () => assert.fail('none is refused'))
  const sockets = [new Socket(), new Socket(), new Socket()]
  for (const socket of sockets) backlog.add('gateway', socket)
  const given: Socket[] = []
  backlog.review((_, socket) => given.length < 2 && given.push(socket) > 0)
  assert.deepEqual(given, sockets.slice(0, 2))
  backlog.close()
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false, true],
  )
})

test('a connection beyond the limit is refused at once', () => {
  const refused: Socket[] = []
  const backlog = new Backlog(60_000, (_, socket) => refused.push(socket))
  for (let count = 0; count < backlogLimit; count++) backlog.add('gateway', new Socket())
  const last = new Socket()
  backlog.add('gateway', last)
  assert.deepEqual(refused, [last])
  backlog.close()
})

test('each waiting connection is refused after its own time limit', async () => {
  const refused: Socket[] = []
  const both = Promise.withResolvers<void>()
  const backlog = new Backlog(30, (_, socket) => {
    if (refused.push(socket) === 2) both.resolve()
  })
  const [first, second] = [new Socket(), new Socket()]
  backlog.add('gateway', first)
  await new Promise((resolve) => setTimeout(resolve, 15))
  backlog.add('gateway', second)
  await both.promise
  assert.deepEqual(refused, [first, second])
})
