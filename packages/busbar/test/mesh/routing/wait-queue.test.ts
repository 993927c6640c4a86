import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WaitQueue } from '../../../src/mesh/routing/limits/wait-queue.ts'

/** Admits calls while there is room. */
function createQueue(): { queue: WaitQueue; room: { left: number }; waiting: () => number } {
  let count = 0
  return { queue: new WaitQueue('render', (by) => (count += by)), room: { left: 0 }, waiting: () => count }
}

describe('the wait queue', () => {
  test('serves by priority, then by arrival', async () => {
    const { queue, room } = createQueue()
    const order: string[] = []
    const wait = async (name: string, priority?: number): Promise<void> => {
      await queue.wait(() => room.left-- > 0, { deadline: undefined, signal: undefined, priority })
      order.push(name)
    }
    const all = [wait('a'), wait('low', -1), wait('high', 5), wait('b')]
    room.left = 4
    queue.serve()
    await Promise.all(all)
    assert.deepEqual(order, ['high', 'a', 'b', 'low'])
  })

  test('skips a call past its deadline, even if its timer could not run yet', async () => {
    const { queue, waiting } = createQueue()
    let asked = 0
    const late = queue.wait(() => ++asked > 0, { deadline: 5, signal: undefined, priority: undefined })
    const end = performance.now() + 10
    while (performance.now() < end);
    queue.serve()
    assert.deepEqual([asked, queue.length, waiting()], [0, 0, 0])
    await assert.rejects(late, { code: 'DEADLINE_EXCEEDED', service: 'render' })
  })

  test('fails a call that can never have room, and serves the next', async () => {
    const { queue, waiting } = createQueue()
    const options = { deadline: 60_000, signal: undefined, priority: undefined }
    const gone = (): boolean => {
      throw new Error('no instance')
    }
    const [never, next] = [queue.wait(gone, options), queue.wait(() => true, options)]
    queue.serve()
    await assert.rejects(never, { message: 'no instance' })
    await next
    assert.equal(waiting(), 0)
  })
})
