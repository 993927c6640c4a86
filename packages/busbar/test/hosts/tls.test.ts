import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { connect } from 'node:tls'
import { safe } from '../../src/contract/client-entry.ts'
import { type CertificatePair, makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { addToRevocations } from '../../src/cli/certificates/revoke-certificate.ts'
import { peerNames } from '../../src/mesh/hosts/export/export-listener.ts'
import type { Identity, Revocations } from '../../src/shared/hosts.ts'
import { RemoteReports } from '../../src/supervisor/cluster/remote-reports.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

let ca: CertificatePair
let otherCa: CertificatePair
before(async () => {
  ca = await makeAuthority()
  otherCa = await makeAuthority()
})

async function identityOf(
  name: string,
  options: { hosts?: string[]; by?: CertificatePair; days?: number } = {},
): Promise<Identity> {
  const { hosts = ['127.0.0.1', 'shop.example'], by = ca, days = 1 } = options
  return { ...(await makeCertificate({ name, hosts, days }, by)), ca: by.cert }
}

/** The list of the CA that names these certificates. */
async function revoked(...certificates: readonly string[]): Promise<Revocations> {
  let list: string | undefined
  for (const one of certificates) list = await addToRevocations(one, ca, list)
  return { lists: [list!], serials: certificates.map((one) => new X509Certificate(one).serialNumber) }
}

describe('a link between two apps over TLS', () => {
  it('carries calls, and names the caller by its certificate', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far'), allow: { shop: ['near'] } })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
  })

  it('is refused to an app that may not call the service', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far'), allow: { shop: ['near'] } })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('stranger') })
    const [error] = await safe(caller.shop.write(1))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
    assert.match(error.message, /its hosts do not export it to this app/)
    assert.deepEqual(host.done, [])
    const reports = new RemoteReports()
    reports.report(
      1,
      caller.hosts.connections.map(({ report }) => report),
    )
    const [stats] = reports.stats([{ name: 'shop', addresses: [host.address] }], [])
    assert.equal(stats!.reachable, false)
    assert.match(stats!.hosts[0]!.why!, /:\d+ does not export service 'shop' to this app$/)
  })

  it('is open to every app of the CA without `allow`, and with `*`', async () => {
    for (const allow of [undefined, { shop: ['*'] }]) {
      await using host = await ShopHost.start('far', { identity: await identityOf('far'), allow })
      using caller = await ShopCaller.open([host.address], { own: await identityOf('anybody') })
      assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    }
  })

  it('is not opened to a host whose certificate has another name', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far', { hosts: ['10.0.0.1'] }) })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    const [error] = await safe(caller.shop.write(1))
    assert.match(error?.message ?? '', /127\.0\.0\.1 is not in the cert's list/)
    assert.equal(host.links.size, 0)
  })

  it('goes to each of two hosts with one certificate', async () => {
    const identity = await identityOf('far')
    await using one = await ShopHost.start('one', { identity })
    await using other = await ShopHost.start('other', { identity })
    using caller = await ShopCaller.open([one.address, other.address], { own: await identityOf('near') })
    for (let at = 0; at < 40; at++) await caller.shop.write(at)
    assert.ok(one.done.length > 0 && other.done.length > 0)
    assert.deepEqual(
      [...one.done, ...other.done].toSorted((a, b) => Number(a) - Number(b)),
      [...Array(40).keys()],
    )
  })

  it('checks the name of the config, not the address that it has', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far', { hosts: ['shop.example'] }) })
    const resolve = async (): Promise<string[]> => ['127.0.0.1']
    const own = await identityOf('near')
    using caller = await ShopCaller.open([{ ...host.address, host: 'shop.example' }], { own, resolve })
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    using other = await ShopCaller.open([{ ...host.address, host: 'other.example' }], { own, resolve })
    assert.match((await safe(other.shop.write(1)))[0]?.message ?? '', /other\.example/)
  })

  it('is not opened to a host with a certificate of another CA', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far', { by: otherCa }) })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    assert.match(
      (await safe(caller.shop.write(1)))[0]?.message ?? '',
      /certificate is not of a CA .*\(identity\.ca\)(?!.*use-system-ca)/,
    )
  })

  it('is opened to no other host if the environment turns off the checks of programs', async () => {
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      await using host = await ShopHost.start('far', { identity: await identityOf('far', { by: otherCa }) })
      using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
      const [error] = await safe(caller.shop.write(1))
      assert.match(error?.message ?? '', /its certificate is not of a CA that this app trusts/)
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })

  it('is refused to a caller with a certificate of another CA, with one that has expired, and with none', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far') })
    const foreign = { ...(await identityOf('near', { by: otherCa })), ca: ca.cert }
    const expired = await identityOf('near', { days: 0 })
    for (const [own, why] of [
      [foreign, /it has probably refused this app's certificate \(identity\.cert\), and its log says why/],
      [expired, /this app's certificate \(identity\.cert\) has expired at \d{4}-/],
    ] as const) {
      using caller = await ShopCaller.open([host.address], { own })
      const [error] = await safe(caller.shop.write(1))
      assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
      assert.match(error.message, why)
    }
    const socket = connect({ host: '127.0.0.1', port: host.port, ca: ca.cert, checkServerIdentity: () => undefined })
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('close', resolve))
    assert.equal(host.links.size, 0)
    assert.ok(host.log.some((line) => line.startsWith('the export refused a connection from 127.0.0.1:')))
  })

  it('is not opened to a host whose certificate has expired', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far', { days: 0 }) })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    assert.match((await safe(caller.shop.write(1)))[0]?.message ?? '', /expired/)
  })

  it('speaks TLS 1.3 only', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far') })
    const { cert, key } = await identityOf('near')
    const socket = connect({ host: '127.0.0.1', port: host.port, ca: ca.cert, cert, key, maxVersion: 'TLSv1.2' })
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve))
    assert.match(String(error.code), /PROTOCOL_VERSION|ECONNRESET/)
  })

  it('is refused to a client without a certificate, and the log says that it has sent none', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far') })
    const socket = connect({ host: '127.0.0.1', port: host.port, ca: ca.cert }).on('error', () => {})
    await new Promise((resolve) => socket.once('close', resolve))
    const log = host.log.join('\n')
    assert.match(log, /refused a connection from .*: it has sent no certificate$/)
    assert.doesNotMatch(log, /ISSUER/)
  })

  it('uses a renewed certificate for new links', async () => {
    await using host = await ShopHost.start('far', { identity: await identityOf('far', { days: 0 }) })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    assert.equal(caller.router.serves('shop'), false)
    host.listener.setIdentity(await identityOf('far'))
    await caller.linked()
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
  })
})

/** With a number that begins so. */
async function numbered(name: string, beginning: RegExp): Promise<Identity> {
  for (;;) {
    const identity = await identityOf(name)
    if (beginning.test(new X509Certificate(identity.cert).serialNumber)) return identity
  }
}

describe('a revoked certificate', () => {
  // DER has signs.
  for (const [size, beginning] of [
    ['small', /^[0-7]/],
    ['large', /^[89A-F]/],
  ] as const)
    it(`lets its app open no link, while others do, if its number is ${size}`, async () => {
      const [far, other] = await Promise.all([identityOf('far'), identityOf('other')])
      const near = await numbered('near', beginning)
      const revocations = await revoked((await identityOf('old')).cert, near.cert)
      await using host = await ShopHost.start('far', { identity: { ...far, revocations } })
      using refused = await ShopCaller.open([host.address], { own: near })
      const [error] = await safe(refused.shop.write(1))
      assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
      assert.match(error.message, /it has probably refused this app's certificate/)
      assert.match(host.log.join('\n'), /its certificate is not accepted: CERT_REVOKED/)
      using caller = await ShopCaller.open([host.address], { own: other })
      assert.deepEqual(await caller.shop.write(2), { at: 'far', input: 2 })
      assert.deepEqual(host.done, [2])
    })

  it('lets no caller open a link to its host', async () => {
    const far = await identityOf('far')
    await using host = await ShopHost.start('far', { identity: far })
    const own = { ...(await identityOf('near')), revocations: await revoked(far.cert) }
    using caller = await ShopCaller.open([host.address], { own })
    assert.match((await safe(caller.shop.write(1)))[0]?.message ?? '', /revoked/)
    assert.deepEqual(host.done, [])
  })

  it('ends the links of its app when the host learns of it, and no others', async () => {
    const [far, near, other] = await Promise.all(['far', 'near', 'other'].map((name) => identityOf(name)))
    await using host = await ShopHost.start('far', { identity: far! })
    using caller = await ShopCaller.open([host.address], { own: near! })
    host.delay = Infinity
    const call = safe(caller.shop.write('once'))
    await host.began()
    const revocations = await revoked(near!.cert)
    host.listener.setIdentity({ ...far!, revocations })
    assert.equal((await call)[0]?.code, 'LINK_LOST')
    host.delay = 0
    using fine = await ShopCaller.open([host.address], { own: other! })
    host.listener.setIdentity({ ...far!, revocations: { ...revocations } })
    assert.deepEqual(await fine.shop.write(1), { at: 'far', input: 1 })
    assert.equal(caller.router.serves('shop'), false)
    assert.deepEqual(host.done, ['once', 1])
  })

  it('ends the links to its host when the caller learns of it', async () => {
    const far = await identityOf('far')
    await using host = await ShopHost.start('far', { identity: far })
    using caller = await ShopCaller.open([host.address], { own: await identityOf('near') })
    host.delay = Infinity
    const call = safe(caller.shop.write('once'))
    await host.began()
    caller.hosts.setIdentity({ ...(await identityOf('near')), revocations: await revoked(far.cert) })
    assert.equal((await call)[0]?.code, 'LINK_LOST')
  })
})

describe('the names in a certificate', () => {
  it('are the app in the URI, and else the hosts', async () => {
    const { cert } = await identityOf('near', { hosts: ['far', '127.0.0.1'] })
    assert.deepEqual(peerNames(new X509Certificate(cert)), ['near'])
    assert.deepEqual(peerNames({ subjectAltName: 'DNS:a.example, IP Address:10.0.0.1, DNS:b.example' }), [
      'a.example',
      'b.example',
    ])
    assert.deepEqual(peerNames({ subjectAltName: 'DNS:"x, URI:urn:busbar:app:near"' }), [])
    assert.deepEqual(peerNames({ subjectAltName: undefined }), [])
  })
})
