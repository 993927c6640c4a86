import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Turns } from '../../../src/mesh/balance/turns.ts'

/** Lets in as many as there is room. */
function turnsFor(): { turns: Turns; room: { left: number }; waiting: () => number } {
  let count = 0
  return { turns: new Turns('render', (by) => (count += by)), room: { left: 0 }, waiting: () => count }
}

describe('turns', () => {
  test('come by priority, and within one as they came', async () => {
    const { turns, room } = turnsFor()
    const order: string[] = []
    const wait = async (name: string, priority?: number): Promise<void> => {
      await turns.wait(() => room.left-- > 0, { deadline: undefined, signal: undefined, priority })
      order.push(name)
    }
    const all = [wait('a'), wait('low', -1), wait('high', 5), wait('b')]
    room.left = 4
    turns.serve()
    await Promise.all(all)
    assert.deepEqual(order, ['high', 'a', 'b', 'low'])
  })

  test('one whose time is up is not asked any more, also when its timer could not run yet', async () => {
    const { turns, waiting } = turnsFor()
    let asked = 0
    const late = turns.wait(() => ++asked > 0, { deadline: 5, signal: undefined, priority: undefined })
    const end = performance.now() + 10
    while (performance.now() < end);
    turns.serve()
    assert.deepEqual([asked, turns.length, waiting()], [0, 0, 0])
    await assert.rejects(late, { code: 'DEADLINE_EXCEEDED', service: 'render' })
  })

  test('one that can never have room fails, and keeps nobody from theirs', async () => {
    const { turns, waiting } = turnsFor()
    const patience = { deadline: 60_000, signal: undefined, priority: undefined }
    const gone = (): boolean => {
      throw new Error('no instance')
    }
    const [never, next] = [turns.wait(gone, patience), turns.wait(() => true, patience)]
    turns.serve()
    await assert.rejects(never, { message: 'no instance' })
    await next
    assert.equal(waiting(), 0)
  })
})
