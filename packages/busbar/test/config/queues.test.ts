import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const files = { 'mail/contract.js': '', 'mail/index.js': '', 'web/index.js': '' }

function load(config: object) {
  const folder = new TestFolder({
    'busbar.config.json': { services: { web: './web', mail: './mail' }, ...config },
    ...files,
  })
  return loadApp(folder.path, { env: {} }).finally(() => folder[Symbol.dispose]())
}

test('a queue has defaults, and methods have those of the queue', async () => {
  const { services, root } = await load({
    queues: { attempts: 3, methods: { 'mail.send': { concurrency: 1, backoff: '1h' } } },
  })
  const [owner, ...others] = services
  assert.deepEqual(owner!.queueSettings!.place, { is: 'file', path: `${root}/.busbar/queue.sqlite` })
  const usual = { attempts: 3, backoff: 1_000, maxBackoff: 600_000, timeout: 60_000, concurrency: 10 }
  assert.deepEqual(owner!.queueSettings!.usual, usual)
  const own = { ...usual, concurrency: 1, backoff: 3_600_000, maxBackoff: 3_600_000 }
  assert.deepEqual(owner!.queueSettings!.methods, { 'mail.send': own })
  for (const { needs } of others) assert.deepEqual(needs, ['busbar-queue'])
})

test('the queue of a cluster is in streams of its servers', async () => {
  const cluster = { nats: 'nats://127.0.0.1:4222', name: 'shop', replicas: 3 }
  const [owner] = (await load({ queues: {}, cluster })).services
  const { place } = owner!.queueSettings!
  assert.ok(place.is === 'streams')
  assert.deepEqual([place.cluster.name, place.cluster.replicas, place.services], ['shop', 3, ['mail']])
  assert.match(place.cluster.jetstream!, /jetstream/)
})

test('an app that only enqueues may have the same queue as the app that runs the items', async () => {
  const cluster = { nats: 'nats://127.0.0.1:4222', name: 'shop' }
  const services = { web: './web', mail: { remote: 'cluster' } }
  const queues = { attempts: 3, methods: { 'mail.send': { attempts: 5 } } }
  const [owner] = (await load({ queues, cluster, services })).services
  const { place, methods } = owner!.queueSettings!
  assert.deepEqual(place.is === 'streams' && place.services, [])
  assert.equal(methods['mail.send']!.attempts, 5)
})

test('a config of a queue says which services can be enqueued', async () => {
  const services = { web: './web', mail: { remote: 'tcp://127.0.0.1:7001' } }
  const hint = "Leave it out: only services of this app and those with remote: 'cluster' can be enqueued."
  await assert.rejects(load({ queues: { methods: { 'mail.send': {} } }, services }), { code: 'CONFIG_INVALID', hint })
})

for (const [what, config, message] of [
  ['a service that is not there', { queues: { methods: { 'mial.send': {} } } }, /queues\.methods names "mial\.send"/],
  ['a program', { queues: { methods: { 'web.send': {} } } }, /queues\.methods names "web\.send"/],
  ['no method', { queues: { methods: { mail: {} } } }, /queues\.methods names "mail"/],
  ['a pause above the longest', { queues: { backoff: '2s', maxBackoff: '1s' } }, /longer than maxBackoff/],
  [
    'the name of its service',
    { queues: {}, services: { 'busbar-queue': './web' } },
    /which is the name of the service/,
  ],
] as const)
  test(`a config of a queue is refused: ${what}`, async () => {
    await assert.rejects(load(config), { code: 'CONFIG_INVALID', message })
  })
