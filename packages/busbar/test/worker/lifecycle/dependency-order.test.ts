import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInOrder, stopDepth, stopInOrder } from '../../../src/worker/lifecycle/dependency-order.ts'

const services = [
  { name: 'stock', needs: [] },
  { name: 'mail', needs: [] },
  { name: 'catalog', needs: ['stock'] },
  { name: 'web', needs: ['catalog', 'mail'] },
]

test('a service starts when those it needs have started, independent ones concurrently', async () => {
  const begun: string[] = []
  const gates = new Map(services.map(({ name }) => [name, Promise.withResolvers<string>()]))
  const all = startInOrder(services, ({ name }) => {
    begun.push(name)
    return gates.get(name)!.promise
  })
  await turn()
  assert.deepEqual(begun, ['stock', 'mail'])
  gates.get('stock')!.resolve('s')
  await turn()
  assert.deepEqual(begun, ['stock', 'mail', 'catalog'])
  gates.get('catalog')!.resolve('c')
  await turn()
  assert.deepEqual(begun, ['stock', 'mail', 'catalog'])
  gates.get('mail')!.resolve('m')
  gates.get('web')!.resolve('w')
  assert.deepEqual([...(await all)].flat(), ['stock', 's', 'mail', 'm', 'catalog', 'c', 'web', 'w'])
})

test('a service that needs a failed one is not started', async () => {
  const begun: string[] = []
  const all = startInOrder(services, async ({ name }) => {
    begun.push(name)
    if (name === 'stock') throw new Error('no stock')
  })
  await assert.rejects(all, { message: 'no stock' })
  assert.deepEqual(begun, ['stock', 'mail'])
})

test('a service stops after those that need it', async () => {
  const stopped: string[] = []
  await stopInOrder(services, async ({ name }) => void stopped.push(name))
  assert.equal(stopped[0], 'web')
  assert.ok(stopped.indexOf('catalog') < stopped.indexOf('stock'))
  assert.equal(stopped.length, 4)
})

test('the depth of a stop is the longest chain of needs', () => {
  const steps = services.map((service) => stopDepth(service, services))
  assert.deepEqual(steps, [1, 1, 2, 3])
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
