import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '../../src/config/app.ts'
import type { SlotSpec } from '../../src/supervisor/plan.ts'
import { StopSequence } from '../../src/supervisor/stop-sequence.ts'

type StoppingApp = ConstructorParameters<typeof StopSequence>[0]

const services = [
  { name: 'web', needs: ['stock'] },
  { name: 'stock', needs: [] },
] as unknown as App['services']

/** A shared worker, and a process or a command for each service. */
function workersOf(kind: SlotSpec['kind']) {
  const slot = (worker: number, one: SlotSpec['kind'], names: string[]) => {
    const hosts = names.map((name) => ({ name }))
    return { worker, spec: { kind: one, hosts } as unknown as SlotSpec }
  }
  return [slot(0, 'shared', []), slot(1, kind, ['web']), slot(2, kind, ['stock'])]
}

function sequenceOf(links: Partial<StoppingApp>, kind: SlotSpec['kind'] = 'process') {
  const released: string[] = []
  const app = { services, cluster: undefined, export: undefined, ...links }
  return { sequence: new StopSequence(app, workersOf(kind), (service) => released.push(service)), released }
}

const inCluster = { cluster: {} as StoppingApp['cluster'] }

test('a service stops after the gateway, and after those that need it', () => {
  const { sequence, released } = sequenceOf({})
  assert.deepEqual(released, [])
  sequence.closed(0, undefined)
  assert.deepEqual(released, ['web'])
  sequence.closed(1, 'web')
  assert.deepEqual(released, ['web', 'stock'])
})

test('in a cluster, a service stops after the links of all workers, which may forward calls to it', () => {
  const { sequence, released } = sequenceOf(inCluster)
  sequence.closed(0, undefined)
  sequence.closed(1, undefined)
  assert.deepEqual(released, [])
  sequence.closed(2, undefined)
  assert.deepEqual(released, ['web'])
  sequence.ended(1)
  assert.deepEqual(released, ['web', 'stock'])
})

test('a command has no links', () => {
  const { sequence, released } = sequenceOf(inCluster, 'command')
  sequence.closed(0, undefined)
  assert.deepEqual(released, ['web'])
})
