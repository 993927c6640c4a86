import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadTwo } from './support/load-folder.ts'

describe('the gateway', () => {
  it('routes to each of several services by its name as prefix by default', async () => {
    const { gateway } = await loadTwo({})
    assert.equal(gateway.entry, undefined)
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '/web', service: 'web' },
      { host: undefined, prefix: '/stock', service: 'stock' },
    ])
  })

  it('reads prefixes, hosts and both', async () => {
    const routes = { '/': 'web', '/shop/': 'web', 'Api.Example': 'stock', 'api.example/v1/x': 'web', '[::1]/a': 'web' }
    const { gateway } = await loadTwo({ gateway: { routes } })
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '', service: 'web' },
      { host: undefined, prefix: '/shop', service: 'web' },
      { host: 'api.example', prefix: '', service: 'stock' },
      { host: 'api.example', prefix: '/v1/x', service: 'web' },
      { host: '[::1]', prefix: '/a', service: 'web' },
    ])
    assert.equal(gateway.entry, undefined)
  })

  it('reads routes that are objects', async () => {
    const routes = { '/a': { service: 'web' }, '/b': { service: 'web', strip: false }, '/c': 'stock' }
    const { gateway } = await loadTwo({ gateway: { routes } })
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '/a', service: 'web' },
      { host: undefined, prefix: '/b', service: 'web', strip: false },
      { host: undefined, prefix: '/c', service: 'stock' },
    ])
  })

  for (const [route, message] of [
    [
      { service: 'web', stripp: false },
      'gateway.routes["/a"].stripp is not a key; the nearest is gateway.routes["/a"].strip',
    ],
    [{ service: 'web', strip: 'no' }, 'gateway.routes["/a"].strip is "no"; allowed is true or false'],
    [{ strip: false }, 'gateway.routes["/a"].service is missing; allowed is the name of a service'],
    [{ service: 'wep' }, 'gateway.routes["/a"] names "wep", which is not a service; the nearest is web'],
    [
      7,
      'gateway.routes["/a"] is 7; allowed is the name of a service, or an object of service, strip and clientCertificate',
    ],
  ] as const)
    it(`refuses the route ${JSON.stringify(route)}`, async () => {
      await assert.rejects(loadTwo({ gateway: { routes: { '/a': route } } }), (error: Error) => {
        assert.ok(error.message.includes(message), error.message)
        return true
      })
    })

  it('listens on the port of the config, else on that of the variable PORT', async () => {
    assert.equal((await loadTwo({}, { env: { PORT: '8080' } })).gateway.port, 8080)
    assert.equal((await loadTwo({ gateway: { port: 1234 } }, { env: { PORT: '8080' } })).gateway.port, 1234)
    assert.equal((await loadTwo({ gateway: { port: 0 } }, { env: { PORT: '8080' } })).gateway.port, 0)
  })

  it('accepts equal ports on different addresses', async () => {
    const app = await loadTwo({
      gateway: { port: 4000 },
      services: {
        web: { path: 'web', expose: { host: '127.0.0.2', port: 4000 } },
        stock: { path: 'stock', expose: [0, { port: 4001 }] },
      },
    })
    assert.deepEqual(
      app.services.map(({ expose }) => expose),
      [
        [{ host: '127.0.0.2', port: 4000 }],
        [
          { host: '127.0.0.1', port: 0 },
          { host: '127.0.0.1', port: 4001 },
        ],
      ],
    )
  })
})
