import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ToWorker } from '../../src/shared/control.ts'
import { Introductions, type Reach } from '../../src/supervisor/introductions.ts'
import { Relinks } from '../../src/supervisor/relinks.ts'
import { defaultTiming } from '../../src/supervisor/timing.ts'

const replaced = { code: 'SERVICE_UNAVAILABLE', message: 'the worker is being replaced' } as const
const ended = { code: 'WORKER_DIED', message: 'the worker has ended' } as const
/** Milliseconds. Longer than any test takes. */
const long = 600_000

/** Workers 1, 2, … of which each is reached as its place in the list says. */
function introduced(...reaches: readonly Reach['by'][]) {
  const introductions = new Introductions(new Relinks(defaultTiming, assert.fail))
  const told = reaches.map((by, at) => {
    const orders: ToWorker[] = []
    const reach: Reach = by === 'thread' ? { by } : by === 'unix' ? { by, path: '' } : { by, host: '', port: 0 }
    const worker = at + 1
    const tell = (order: ToWorker): void => {
      orders.push(order)
      if (order.type === 'join' && order.peer.way.by === 'thread') order.peer.way.port.close()
    }
    introductions.enter({ worker, row: at, reach, label: String(worker), tell })
    return orders
  })
  return { introductions, told }
}

/** What the promise has come to when all that can happen by itself has happened. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  const { promise: later, resolve } = Promise.withResolvers<false>()
  setImmediate(resolve, false)
  return await Promise.race([promise.then(() => true), later])
}

describe('a worker that leaves', () => {
  it('is not left before all who may call it have said so', async () => {
    const { introductions, told } = introduced('unix', 'unix', 'unix')
    const leaving = introductions.leave(1, replaced, long)
    assert.deepEqual(
      told.map((orders) => orders.filter(({ type }) => type === 'leave').length),
      [0, 1, 1],
    )
    introductions.left(2, 1)
    assert.equal(await isSettled(leaving), false)
    introductions.left(3, 2)
    assert.equal(await isSettled(leaving), false)
    introductions.left(3, 1)
    await leaving
  })

  it('waits for none that has ended, that is a command, or that came later', async () => {
    const { introductions } = introduced('unix', 'unix', 'tcp')
    const leaving = introductions.leave(1, replaced, long)
    introductions.enter({ worker: 4, row: 4, reach: { by: 'unix', path: '' }, label: '4', tell() {} })
    assert.equal(await isSettled(leaving), false)
    introductions.remove(2, ended)
    await leaving
  })

  it('waits no longer than it may, and not when it has ended itself', async () => {
    const { introductions } = introduced('unix', 'unix')
    await introductions.leave(1, replaced, 10)
    const other = introduced('unix', 'unix').introductions
    const leaving = other.leave(1, replaced, long)
    other.remove(1, ended)
    await leaving
    await other.leave(1, replaced, long)
  })
})
