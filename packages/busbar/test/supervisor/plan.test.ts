import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsRestart } from '../../src/supervisor/generations/difference.ts'
import { planApp } from '../../src/supervisor/plan.ts'
import { appOf } from '../support/app/test-app.ts'

test('a plan has the ports, the waves of needs and the folder of a single program', () => {
  const expose = { host: '127.0.0.1', port: 3101 }
  const app = appOf({
    services: {
      stock: '/app/stock/index.js',
      catalog: { file: '/app/catalog/index.js', needs: ['stock'], expose: [expose, { ...expose, port: 3102 }] },
      web: { file: '/app/web/index.js', needs: ['stock', 'catalog'] },
      mail: '/app/mail/index.js',
    },
  })
  assert.deepEqual(planApp(app), {
    slots: [
      {
        index: 0,
        position: 'shared 0',
        name: 'shared 0',
        kind: 'shared',
        hosts: ['stock', 'catalog', 'web', 'mail'].map((name) => ({ name, typed: false, index: 0 })),
        memory: undefined,
        spare: false,
      },
    ],
    accept: 'balanced',
    listeners: [
      { id: 'gateway', host: '127.0.0.1', port: 0, serves: { kind: 'gateway' } },
      { id: 'expose:catalog', ...expose, serves: { kind: 'service', service: 'catalog' } },
      { id: 'expose:catalog:2', ...expose, port: 3102, serves: { kind: 'service', service: 'catalog' } },
    ],
    waves: [['stock', 'mail'], ['catalog'], ['web']],
    folder: undefined,
  })
  assert.equal(planApp(appOf({ services: { web: '/app/web/index.js' } })).folder, '/app/web')
})

test('only a change of what the whole app shares needs a restart', () => {
  const app = appOf({ services: { web: '/app/web/index.js', cart: '/app/cart/index.js' } })
  const { services } = app
  assert.deepEqual(needsRestart(app, { ...app, workers: 2, services: [services[0]!] }), [
    'the working directory, which is the folder of an only service',
  ])
  assert.deepEqual(needsRestart(app, { ...app, workers: 2, services: services.toReversed() }), [])
  assert.deepEqual(needsRestart(app, { ...app, gateway: { ...app.gateway, port: 1 } }), ['gateway.port'])
})
