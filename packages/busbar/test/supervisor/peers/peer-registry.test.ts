import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ToWorker } from '../../../src/shared/control-messages.ts'
import { PeerRegistry, type PeerAddress } from '../../../src/supervisor/peers/peer-registry.ts'
import { Reconnector } from '../../../src/supervisor/peers/reconnector.ts'
import { defaultTiming } from '../../../src/supervisor/timing.ts'

const replaced = { code: 'SERVICE_UNAVAILABLE', message: 'the worker is being replaced' } as const
const ended = { code: 'WORKER_DIED', message: 'the worker has ended' } as const
/** Milliseconds. Longer than any test takes. */
const long = 600_000

/** Workers 1, 2, … with these kinds of address. `received`: the orders that each of them got. */
function registryOf(...kinds: readonly PeerAddress['kind'][]) {
  const registry = new PeerRegistry(new Reconnector(defaultTiming, assert.fail))
  const received = kinds.map((kind, at) => {
    const orders: ToWorker[] = []
    const address: PeerAddress =
      kind === 'thread' ? { kind } : kind === 'unix' ? { kind, path: '' } : { kind, host: '', port: 0 }
    const worker = at + 1
    const send = (order: ToWorker): void => {
      orders.push(order)
      if (order.type === 'join' && order.peer.setup.kind === 'thread') order.peer.setup.port.close()
    }
    registry.enter({ worker, row: at, address, label: String(worker), send })
    return orders
  })
  return { registry, received }
}

/** Whether the promise settles without an outside event. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  const { promise: later, resolve } = Promise.withResolvers<false>()
  setImmediate(resolve, false)
  return await Promise.race([promise.then(() => true), later])
}

describe('a worker that drains', () => {
  it('waits until every caller has left it', async () => {
    const { registry, received } = registryOf('unix', 'unix', 'unix')
    const leaving = registry.leave(1, replaced, long)
    assert.deepEqual(
      received.map((orders) => orders.filter(({ type }) => type === 'leave').length),
      [0, 1, 1],
    )
    registry.left(2, 1)
    assert.equal(await isSettled(leaving), false)
    registry.left(3, 2)
    assert.equal(await isSettled(leaving), false)
    registry.left(3, 1)
    await leaving
  })

  it('does not wait for workers that ended or came later, nor for commands', async () => {
    const { registry } = registryOf('unix', 'unix', 'tcp')
    const leaving = registry.leave(1, replaced, long)
    registry.enter({ worker: 4, row: 4, address: { kind: 'unix', path: '' }, label: '4', send() {} })
    assert.equal(await isSettled(leaving), false)
    registry.remove(2, ended)
    await leaving
  })

  it('waits no longer than the limit, and not after it has ended itself', async () => {
    const { registry } = registryOf('unix', 'unix')
    await registry.leave(1, replaced, 10)
    const other = registryOf('unix', 'unix').registry
    const leaving = other.leave(1, replaced, long)
    other.remove(1, ended)
    await leaving
    await other.leave(1, replaced, long)
  })
})
