import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { X509Crl } from '@peculiar/x509'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

test('makes a CA once, and certificates that it signs', async () => {
  using folder = new TestFolder()
  const first = await BusbarProcess.run(['cert', 'stock', '10.0.0.7', 'stock.example', '--certs', 'stock'], {
    cwd: folder.path,
  })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /made a CA in .*\/ca: keep ca-key\.pem secret/)
  assert.match(first.stdout, /made the certificate of app stock for 10\.0\.0\.7, stock\.example in .*\/stock/)
  const ca = new X509Certificate(folder.read('ca/ca.pem'))
  const stock = new X509Certificate(folder.read('stock/app.pem'))
  assert.ok(ca.ca && stock.verify(ca.publicKey) && !stock.ca)
  assert.equal(stock.subjectAltName, 'URI:urn:busbar:app:stock, IP Address:10.0.0.7, DNS:stock.example')
  assert.equal(folder.read('stock/ca.pem'), folder.read('ca/ca.pem'))
  for (const key of ['ca/ca-key.pem', 'stock/app-key.pem']) assert.equal(statSync(folder.at(key)).mode & 0o777, 0o600)

  const second = await BusbarProcess.run(['cert', 'shop', '--days', '2', '--json'], { cwd: folder.path })
  const made = JSON.parse(second.stdout) as Record<string, unknown>
  assert.deepEqual(
    [made['name'], made['hosts'], made['authority']],
    ['shop', ['localhost', '127.0.0.1', '::1'], undefined],
  )
  const shop = new X509Certificate(folder.read('certs/app.pem'))
  assert.ok(shop.verify(ca.publicKey))
  assert.ok(Date.parse(shop.validTo) - Date.now() < 3 * 24 * 60 * 60 * 1000)
})

test('adds certificates to the list of their CA', async () => {
  using folder = new TestFolder()
  const run = (...args: string[]) => BusbarProcess.run(['cert', ...args], { cwd: folder.path })
  for (const name of ['stock', 'shop']) await run(name, '--certs', name)
  const first = await run('--revoke', 'stock/app.pem')
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /revoked the certificate in stock\/app\.pem: copy .*\/ca\/crl\.pem to every app/)
  await run('--revoke', 'shop/app.pem')
  await run('--revoke', 'stock/app.pem')
  const { entries, nextUpdate } = new X509Crl(folder.read('ca/crl.pem'))
  const serials = ['stock', 'shop'].map((name) => new X509Certificate(folder.read(`${name}/app.pem`)).serialNumber)
  assert.deepEqual(
    entries.map(({ serialNumber }) => BigInt(`0x${serialNumber}`)),
    serials.map((serial) => BigInt(`0x${serial}`)),
  )
  assert.equal(nextUpdate?.getTime(), Date.parse(new X509Certificate(folder.read('ca/ca.pem')).validTo))

  await run('other', '--ca', 'other-ca', '--certs', 'other')
  const foreign = await run('--revoke', 'other/app.pem')
  assert.match(foreign.stderr, /was not signed by this CA/)
  assert.equal((await run('--revoke', 'none.pem')).code, 3)
  assert.equal((await run('shop', '--revoke', 'shop/app.pem')).code, 2)
  assert.match((await run()).stderr, /busbar cert needs the name of an app/)
})

test('refuses a name that no certificate should have, and a CA without its key', async () => {
  using folder = new TestFolder({ 'ca/ca.pem': 'x' })
  const named = await BusbarProcess.run(['cert', 'My Shop'], { cwd: folder.path })
  assert.equal(named.code, 2)
  assert.match(named.stderr, /"My Shop" cannot be the name of an app/)
  const keyless = await BusbarProcess.run(['cert', 'shop'], { cwd: folder.path })
  assert.equal(keyless.code, 3)
  assert.match(keyless.stderr, /ca-key\.pem is missing/)
})

test('refuses hosts that no caller could write, before it makes anything', async () => {
  using folder = new TestFolder()
  const refused = ['bad host!', '10.0.0.999', 'http://x', 'x:70', 'host,DNS:evil', '[::1]', 'fe80::1%eth0']
  await Promise.all(
    refused.map(async (host) => {
      const { code, stderr } = await BusbarProcess.run(['cert', 'stock', 'fine.example', host], { cwd: folder.path })
      assert.equal(code, 2, host)
      assert.ok(stderr.includes(`${JSON.stringify(host)} is not a host`), stderr)
      assert.match(stderr, /without scheme, port and brackets/)
    }),
  )
  assert.deepEqual(readdirSync(folder.path), [])
  const hosts = ['*.stock.example', 'stock_1', 'Stock-2.example', '::1']
  const { code, stderr } = await BusbarProcess.run(['cert', 'stock', ...hosts], { cwd: folder.path })
  assert.equal(code, 0, stderr)
  assert.equal(
    new X509Certificate(folder.read('certs/app.pem')).subjectAltName,
    'URI:urn:busbar:app:stock, DNS:*.stock.example, DNS:stock_1, DNS:Stock-2.example, IP Address:0:0:0:0:0:0:0:1',
  )
})

test('says which folder it cannot make, and by which flag to give another', async () => {
  using folder = new TestFolder({ 'a-file': '' })
  mkdirSync(folder.at('taken/app-key.pem'), { recursive: true })
  for (const [flag, path, why] of [
    ['--certs', 'a-file', /a-file is not a folder, and cannot be made: EEXIST/],
    ['--certs', 'a-file/below', /below is not a folder, and cannot be made: ENOTDIR/],
    ['--certs', 'taken', /taken\/app-key\.pem cannot be written: EISDIR/],
    ['--ca', 'a-file', /cannot read .*a-file\/ca.*\.pem: ENOTDIR/],
    // Node's own recursive mkdir never ends there.
    ...(process.platform === 'linux'
      ? ([['--certs', '/proc/none/below', /below is not a folder.*ENOENT/]] as const)
      : []),
  ] as const) {
    const { code, stderr } = await BusbarProcess.run(['cert', 'stock', flag, path], { cwd: folder.path })
    assert.ok(code === 2 || code === 3, stderr)
    assert.match(stderr, why)
    assert.ok(stderr.includes(flag), stderr)
    assert.doesNotMatch(stderr, /INTERNAL|\n {4,}at /)
  }
  assert.deepEqual(readdirSync(folder.at('taken')), ['app-key.pem', 'ca.pem'])
})
