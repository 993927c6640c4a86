/** Keys of TLS, of clients that stay, and of raw connections. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { isRawEntry, usesEntrance } from '../../src/config/app.ts'
import { BusbarError, type ErrorCode } from '../../src/contract/errors.ts'
import { loadApp } from '../../src/config/load.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'
import { Authority } from '../support/http/authority.ts'
import { selfSigned } from '../support/http/certificate.ts'

let files: Files
before(async () => {
  const [first, authority] = [await selfSigned(), await Authority.create('of clients')]
  const [shop, nameless] = [await authority.forServer('Shop.example', '*.shop.example'), authority]
  files = {
    'cert.pem': first.cert,
    'key.pem': first.key,
    'ca.pem': authority.cert,
    'shop.pem': shop.cert,
    'shop.key': shop.key,
    'nameless.pem': nameless.cert,
    'nameless.key': nameless.key,
    'web/index.js': '',
    'stock/index.js': '',
  }
})

const pair = { cert: 'cert.pem', key: 'key.pem' }
const shop = { cert: 'shop.pem', key: 'shop.key' }
const services = { web: './web', stock: './stock' }

async function load(config: object) {
  using folder = new TestFolder({ ...files, 'busbar.config.json': { services, ...config } })
  return { app: await loadApp(folder.path, { env: {} }), at: (name: string) => folder.at(name) }
}

async function refused(config: object, code: ErrorCode, ...says: string[]): Promise<void> {
  await assert.rejects(load(config), (error) => {
    assert.ok(BusbarError.is(error, code), String(error))
    const told = `${error.message}\n${error.hint ?? ''}`
    for (const part of says) assert.ok(told.includes(part), told)
    return true
  })
}

describe('gateway.tls', () => {
  it('has absolute paths, and no keys but those that were given', async () => {
    const { app, at } = await load({ gateway: { tls: pair } })
    assert.deepEqual(app.gateway.tls, { cert: at('cert.pem'), key: at('key.pem') })
    const more = await load({
      gateway: {
        port: 8443,
        tls: { ...pair, certificates: [shop], minVersion: 'TLSv1.3', clientCa: 'ca.pem', hsts: true, redirect: 8080 },
        routes: { '/a': { service: 'web', clientCertificate: 'required' }, '/b': 'stock' },
      },
    })
    assert.deepEqual(more.app.gateway.tls, {
      cert: more.at('cert.pem'),
      key: more.at('key.pem'),
      certificates: [{ cert: more.at('shop.pem'), key: more.at('shop.key') }],
      minVersion: 'TLSv1.3',
      clientCa: more.at('ca.pem'),
      hsts: 'max-age=31536000',
      redirect: { port: 8080, to: 8443 },
    })
    assert.deepEqual(
      more.app.gateway.routes.map(({ clientCertificate }) => clientCertificate),
      ['required', undefined],
    )
  })

  it('makes the value of Strict-Transport-Security', async () => {
    const valueOf = async (hsts: unknown) => (await load({ gateway: { tls: { ...pair, hsts } } })).app.gateway.tls?.hsts
    assert.equal(await valueOf(false), undefined)
    assert.equal(await valueOf({ maxAge: 60 }), 'max-age=60')
    assert.equal(
      await valueOf({ includeSubDomains: true, preload: true }),
      'max-age=31536000; includeSubDomains; preload',
    )
  })

  it('redirects to another port if that is where clients reach it', async () => {
    const { app } = await load({ gateway: { port: 0, tls: { ...pair, redirect: { port: 8080, to: 443 } } } })
    assert.deepEqual(app.gateway.tls?.redirect, { port: 8080, to: 443 })
  })

  it('refuses what does not go together, and names the nearest keys', async () => {
    const tls = (more: object, gateway: object = {}): object => ({ gateway: { ...gateway, tls: { ...pair, ...more } } })
    await refused(tls({ redirct: 80 }), 'CONFIG_KEY_UNKNOWN', 'gateway.tls.redirct', 'gateway.tls.redirect')
    await refused(
      tls({ certificates: [{ ...shop, kee: 'x' }] }),
      'CONFIG_KEY_UNKNOWN',
      'certificates[0].kee',
      'certificates[0].key',
    )
    await refused(tls({ hsts: { maxage: 1 } }), 'CONFIG_KEY_UNKNOWN', 'gateway.tls.hsts.maxAge')
    await refused(tls({ minVersion: 'TLSv1.1' }), 'CONFIG_INVALID', '"TLSv1.2" or "TLSv1.3"')
    await refused(tls({ redirect: 8080 }, { port: 0 }), 'CONFIG_INVALID', 'gateway.tls.redirect.to')
    await refused(tls({ redirect: 8080 }, { port: 8080 }), 'PORT_DUPLICATE', 'gateway.tls.redirect')
    await refused(tls({ clientCertificate: 'required' }), 'CONFIG_INVALID', 'gateway.tls.clientCa')
    const routes = { '/a': { service: 'web', clientCertificate: 'required' } }
    await refused({ gateway: { routes } }, 'CONFIG_INVALID', 'gateway.routes["/a"].clientCertificate')
  })

  it('refuses files that cannot be used, with their key', async () => {
    const tls = (more: object): object => ({ gateway: { tls: { ...pair, ...more } } })
    const nameless = { cert: 'nameless.pem', key: 'nameless.key' }
    await refused(tls({ certificates: [nameless] }), 'TLS_FILE_INVALID', 'certificates[0].cert', 'subjectAltName')
    await refused(
      tls({ certificates: [shop, { ...shop, key: 'key.pem' }] }),
      'TLS_FILE_INVALID',
      'gateway.tls.certificates[1]',
    )
    await refused(tls({ clientCa: 'nothing.pem' }), 'TLS_FILE_UNREADABLE', 'gateway.tls.clientCa')
    await refused(tls({ clientCa: 'key.pem' }), 'TLS_FILE_INVALID', 'gateway.tls.clientCa', 'no PEM certificate')
  })
})

describe('sticky and balance', () => {
  it('are read, and a sticky entry has the gateway in front', async () => {
    const { app } = await load({
      services: { web: { path: './web', sticky: 'cookie' } },
      gateway: { entrance: 'native', balance: 'connection' },
    })
    assert.deepEqual([app.services[0]!.sticky, app.gateway.balance, isRawEntry(app)], ['cookie', 'connection', false])
  })

  it('are refused where they cannot be', async () => {
    await refused({ services: { web: { path: './web', sticky: 'ip' } } }, 'CONFIG_INVALID', '"cookie" or "address"')
    const gateway = { entrance: 'portable', balance: 'request' }
    await refused({ gateway }, 'CONFIG_INVALID', 'gateway.balance', "entrance: 'native'")
  })
})

describe('gateway.raw', () => {
  const alone = { services: { web: './web' } }

  it('gives the connections to the entry, past the native entrance, or never', async () => {
    const rawOf = async (gateway: object): Promise<boolean[]> => {
      const { app } = await load({ ...alone, gateway })
      return [isRawEntry(app), usesEntrance(app)]
    }
    assert.deepEqual(await rawOf({}), [true, false])
    assert.deepEqual(await rawOf({ entrance: 'native' }), [true, true])
    assert.deepEqual(await rawOf({ entrance: 'native', raw: true }), [true, false])
    assert.deepEqual(await rawOf({ entrance: 'native', raw: false }), [false, true])
  })

  it('is refused if something needs the gateway, with the reason', async () => {
    await refused({ gateway: { raw: true } }, 'CONFIG_INVALID', 'the app has no entry')
    await refused({ ...alone, gateway: { raw: true, tls: pair } }, 'CONFIG_INVALID', 'gateway.tls is set')
    await refused({ ...alone, gateway: { raw: true, probes: true } }, 'CONFIG_INVALID', 'gateway.probes is true')
    const services = { web: { path: './web', sticky: 'address' } }
    await refused({ services, gateway: { raw: true } }, 'CONFIG_INVALID', 'services.web.sticky is set')
  })
})
