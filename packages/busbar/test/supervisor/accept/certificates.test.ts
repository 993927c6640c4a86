import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { BusbarError } from '../../../src/contract/errors.ts'
import { TestApp } from '../../support/app/test-app.ts'

const any = `${dirname(import.meta.dirname)}/programs/any.js`
/** Disables polling: only the events of the file system count. */
const timing = { certificates: 3_600_000 }
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'busbar-tls-'))
})
after(() => rm(folder, { recursive: true }))

test('new connections get a certificate that was replaced by renames', async () => {
  const tls = await writePair(join(folder, 'renamed'), 'first')
  await using app = await TestApp.start({ services: { any }, workers: 2, gateway: { tls } }, { timing })
  assert.match(app.url, /^https:/)
  assert.equal(await nameServed(app.port), 'first')
  const next = await writePair(join(folder, 'renamed-next'), 'second')
  await rename(next.key, tls.key)
  await rename(next.cert, tls.cert)
  await app.untilLogged('the new certificate is in use')
  assert.deepEqual([await nameServed(app.port), await nameServed(app.port)], ['second', 'second'])
})

test('new connections get a certificate behind a swapped symbolic link, as in Kubernetes', async () => {
  const place = join(folder, 'linked')
  await writePair(join(place, '..one'), 'first')
  await symlink('..one', join(place, '..data'))
  for (const name of ['cert.pem', 'key.pem']) await symlink(join('..data', name), join(place, name))
  const tls = { cert: join(place, 'cert.pem'), key: join(place, 'key.pem') }
  await using app = await TestApp.start({ services: { any }, gateway: { tls } }, { timing })
  assert.equal(await nameServed(app.port), 'first')
  await writePair(join(place, '..two'), 'second')
  await symlink('..two', join(place, '..data_tmp'))
  await rename(join(place, '..data_tmp'), join(place, '..data'))
  await app.untilLogged('the new certificate is in use')
  assert.equal(await nameServed(app.port), 'second')
})

test('unusable files are refused, and the previous certificate stays in use', async () => {
  const tls = await writePair(join(folder, 'broken'), 'first')
  await using app = await TestApp.start({ services: { any }, gateway: { tls } }, { timing })
  const next = await writePair(join(folder, 'broken-next'), 'second')
  await writeFile(tls.cert, await readFile(next.cert))
  await app.untilLogged('does not belong to the certificate')
  assert.equal(await nameServed(app.port), 'first')
  await writeFile(tls.key, 'no key')
  await app.untilLogged('is not a usable private key')
  await writeFile(tls.key, await readFile(next.key))
  await app.untilLogged('the new certificate is in use')
  assert.equal(await nameServed(app.port), 'second')
})

test('polling finds a changed file without an event of the file system', async () => {
  const real = join(folder, 'far', 'real')
  await writePair(real, 'first')
  await symlink(join(folder, 'far'), join(folder, 'near'))
  const tls = { cert: join(folder, 'near', 'real', 'cert.pem'), key: join(folder, 'near', 'real', 'key.pem') }
  await using app = await TestApp.start({ services: { any }, gateway: { tls } }, { timing: { certificates: 50 } })
  await writePair(join(folder, 'further', 'real'), 'second')
  await symlink(join(folder, 'further'), join(folder, 'near-next'))
  await rename(join(folder, 'near-next'), join(folder, 'near'))
  await app.untilLogged('the new certificate is in use')
  assert.equal(await nameServed(app.port), 'second')
})

test('a session ticket of one worker is valid at another', async () => {
  const tls = await writePair(join(folder, 'ticket'), 'one')
  await using app = await TestApp.start({ services: { any }, workers: 2, gateway: { tls } })
  using first = await secureConnection(app.port)
  const [session] = (await once(first, 'session')) as [Buffer]
  // The first connection stays open, so the second goes to the other worker.
  using second = await secureConnection(app.port, session)
  assert.equal(second.isSessionReused(), true)
})

test('missing or invalid certificate files fail the start', async () => {
  const tls = await writePair(join(folder, 'start'), 'one')
  const missing = { cert: join(folder, 'nowhere.pem'), key: tls.key }
  await assert.rejects(TestApp.start({ services: { any }, gateway: { tls: missing } }), { code: 'TLS_FILE_UNREADABLE' })
  const other = await writePair(join(folder, 'start-other'), 'two')
  await assert.rejects(
    TestApp.start({ services: { any }, gateway: { tls: { cert: tls.cert, key: other.key } } }),
    (error) =>
      BusbarError.is(error, 'TLS_FILE_INVALID') && error.message.includes('does not belong to the certificate'),
  )
})

async function writePair(place: string, name: string): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], { keyType: 'ec' })
  await mkdir(place, { recursive: true })
  const files = { cert: join(place, 'cert.pem'), key: join(place, 'key.pem') }
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  return files
}

async function secureConnection(port: number, session?: Buffer): Promise<TLSSocket & Disposable> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...(session && { session }) })
  await once(socket, 'secureConnect')
  // Tickets arrive with the first bytes after the handshake.
  socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
  socket.resume()
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() })
}

async function nameServed(port: number): Promise<string> {
  using socket = await secureConnection(port)
  const { raw } = socket.getPeerCertificate()
  return new X509Certificate(raw).subject.replace('CN=', '')
}
