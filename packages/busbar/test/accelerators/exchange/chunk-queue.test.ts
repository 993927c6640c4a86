import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkQueue } from '../../../src/accelerators/exchange/chunk-queue.ts'

test('chunks leave the queue in the order in which they came, one by one or all at once', () => {
  const queue = new ChunkQueue()
  const left: unknown[] = []
  let sent = 0
  for (let round = 0; round < 20; round++) {
    for (let more = 0; more < 5; more++) queue.push(String(sent++))
    for (let fewer = 0; fewer < 4; fewer++) left.push(queue.shift())
  }
  left.push(...queue.takeAll())
  deepEqual(
    left,
    Array.from({ length: sent }, (_, at) => String(at)),
  )
  equal(queue.isEmpty, true)
  equal(queue.shift(), undefined)
  queue.push('last')
  equal(queue.shift(), 'last')
  equal(queue.isEmpty, true)
})
