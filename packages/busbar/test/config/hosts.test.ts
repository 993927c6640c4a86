import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { loadApp } from '../../src/config/load.ts'
import type { Files } from '../support/app/test-folder.ts'
import { TestFolder } from '../support/app/test-folder.ts'

describe('a config of several hosts', () => {
  let certs: Files
  before(async () => {
    const ca = await makeAuthority()
    const { cert, key } = await makeCertificate({ name: 'shop', hosts: ['localhost'], days: 1 }, ca)
    certs = { 'certs/app.pem': cert, 'certs/app-key.pem': key, 'certs/ca.pem': ca.cert, 'other/key.pem': key }
  })

  async function load(config: object): ReturnType<typeof loadApp> {
    const programs = { 'web/index.js': '', 'stock/index.js': '' }
    using folder = new TestFolder({ ...programs, ...certs, 'busbar.config.json': config })
    const app = await loadApp(folder.path, { env: {} })
    assert.equal(app.identity?.ca.startsWith(folder.path) ?? true, true)
    return app
  }

  it('has the addresses of services of other apps', async () => {
    const { remotes, services, identity, gateway } = await load({
      services: {
        web: { path: './web', needs: ['far'] },
        far: { remote: 'tls://10.0.0.7:7001' },
        near: { remote: ['tcp://[::1]:7002', 'tls://Shop.Example:7003'] },
      },
    })
    assert.deepEqual(remotes, [
      { name: 'far', addresses: [{ protocol: 'tls', host: '10.0.0.7', port: 7001 }] },
      {
        name: 'near',
        addresses: [
          { protocol: 'tcp', host: '::1', port: 7002 },
          { protocol: 'tls', host: 'shop.example', port: 7003 },
        ],
      },
    ])
    assert.deepEqual(
      services.map(({ name, needs }) => [name, needs]),
      [['web', []]],
    )
    assert.match(identity?.cert ?? '', /certs\/app\.pem$/)
    assert.deepEqual([gateway.entry, gateway.routes], ['web', []])
  })

  it('refuses a list of revoked certificates that is none, or is not there', async () => {
    const services = { web: './web', far: { remote: 'tls://10.0.0.7:7001' } }
    await assert.rejects(load({ services, identity: { crl: 'certs/ca.pem' } }), {
      code: 'TLS_FILE_INVALID',
      message: /identity\.crl: .* is not a usable list of revoked certificates: it has no PEM list/,
    })
    await assert.rejects(load({ services, identity: { crl: 'crl.pem' } }), {
      code: 'TLS_FILE_UNREADABLE',
      message: /identity\.crl: .*crl\.pem cannot be read/,
    })
  })

  it('has the weights of versions', async () => {
    const far = { remote: 'tcp://10.0.0.7:7001', versions: { '1': 90, '2.0.0-rc': 10, '*': 0 } }
    const { remotes } = await load({ services: { web: './web', far } })
    assert.deepEqual(remotes?.[0]?.versions, far.versions)
    for (const [versions, message] of [
      [{ '1': 0 }, /far\.versions has no version with a weight above 0/],
      [{ 'v 1': 1 }, /versions/],
    ] as const)
      await assert.rejects(load({ services: { web: './web', far: { ...far, versions } } }), { message })
    const own = { path: './stock', versions: { '1': 1 } }
    await assert.rejects(load({ services: { web: './web', own } }), { message: /and this one has no remote/ })
  })

  it('has the servers of a cluster, and what the app offers there', async () => {
    const { cluster, remotes, secrets, services } = await load({
      services: { web: { path: './web', needs: ['far'] }, stock: './stock', far: { remote: 'cluster' } },
      cluster: { nats: ['nats://shop:pass-word@10.0.0.1', 'tls://[::1]:4223'], name: 'shop', services: ['stock'] },
    })
    assert.deepEqual(remotes, [{ name: 'far', addresses: [], inCluster: true }])
    assert.deepEqual(cluster?.servers, ['10.0.0.1:4222', '[::1]:4223'])
    assert.deepEqual(
      [cluster.user, cluster.password, cluster.tls, cluster.services],
      ['shop', 'pass-word', {}, ['stock']],
    )
    assert.ok(secrets?.includes('pass-word'))
    assert.deepEqual(
      services.map(({ name, remoteNeeds }) => [name, remoteNeeds]),
      [
        ['web', ['far']],
        ['stock', undefined],
      ],
    )
  })

  it('is refused if its cluster cannot be', async () => {
    const app = { services: { web: './web' } }
    const refused: readonly (readonly [object, RegExp])[] = [
      [
        { cluster: { nats: 'http://user:pass-word@x', name: 'a' } },
        /an entry that is not the address of a NATS server/,
      ],
      [{ cluster: { nats: 'nats://x', name: 'a.b' } }, /"a\.b", which is not a name of a cluster/],
      [{ cluster: { nats: 'nats://x', name: 'a', services: ['no'] } }, /"no", which is not a service of this app/],
      [{ services: { web: './web', far: { remote: 'cluster' } } }, /'cluster', and the app has no cluster/],
    ]
    for (const [config, message] of refused)
      await assert.rejects(load({ ...app, ...config }), (error: Error) => {
        assert.match(error.message, message)
        assert.ok(!error.message.includes('pass-word'))
        return true
      })
  })

  it('may have a route to one', async () => {
    const { gateway } = await load({
      services: { web: './web', far: { remote: 'tcp://10.0.0.7:7001' } },
      gateway: { routes: { '/far': 'far' } },
    })
    assert.deepEqual(
      gateway.routes.map(({ service }) => service),
      ['far'],
    )
  })

  it('exports at all addresses by TLS, and on loopback without it', async () => {
    const services = { web: './web', stock: './stock' }
    const allow = { stock: ['shop', '*'] }
    const tls = await load({
      services,
      export: { tls: ':7001', services: ['stock'], allow },
      identity: { key: 'other/key.pem' },
    })
    assert.deepEqual(tls.export, { protocol: 'tls', host: '::', port: 7001, services: ['stock'], allow })
    assert.match(tls.identity?.key ?? '', /other\/key\.pem$/)
    const tcp = await load({ services, export: { tcp: ':7001', services: ['stock'] } })
    assert.deepEqual([tcp.export?.host, tcp.identity], ['127.0.0.1', undefined])
    const open = await load({ services, export: { tcp: '0.0.0.0:7001', services: ['stock'] } })
    assert.equal(open.export?.host, '0.0.0.0')
  })
})
