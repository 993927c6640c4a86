/** What a client of another make sees: checks with `openssl s_client`, at both entrances. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import type { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Authority } from '../../support/http/authority.ts'
import { entrances, seen, startSecure, writePair } from './secure-apps.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
/** Allows `openssl` to try what it would refuse itself. */
const weak = 'DEFAULT:@SECLEVEL=0'

for (const { entrance, skip } of entrances)
  describe(`openssl s_client at the ${entrance} entrance`, { skip: hasOpenssl ? skip : 'there is no openssl' }, () => {
    let folder: TestFolder
    let app: TestApp
    before(async () => {
      folder = new TestFolder()
      const authority = await Authority.create('the authority')
      folder.write('ca.pem', authority.cert)
      writePair(folder, 'alice', await authority.forClient('alice'))
      const tls = {
        ...writePair(folder, 'first', await authority.forServer('first.example')),
        certificates: [writePair(folder, 'shop', await authority.forServer('*.shop.example'))],
        clientCa: folder.at('ca.pem'),
      }
      const routes = [{ host: undefined, prefix: '/secret', service: 'seen', clientCertificate: 'required' }] as const
      app = await startSecure({ entrance, tls, routes, services: { seen: { file: seen, run: 'shared' } } })
    })
    after(async () => {
      await app[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    })

    const check = async (args: readonly string[], input = 'Q\n'): Promise<string> =>
      await client(['-connect', `127.0.0.1:${app.port}`, '-CAfile', folder.at('ca.pem'), ...args], input)
    const named = ['-servername', 'first.example', '-verify_hostname', 'first.example', '-verify_return_error']
    const http = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: first.example\r\nConnection: close\r\n\r\n`

    for (const [flag, version] of [
      ['-tls1_2', 'TLSv1.2'],
      ['-tls1_3', 'TLSv1.3'],
    ] as const)
      it(`${version} is spoken, with a certificate that verifies`, async () => {
        const told = await check([flag, ...named])
        assert.match(told, new RegExp(`New, ${version}|Protocol *: ${version}`))
        assert.match(told, /Verify return code: 0 \(ok\)/)
        assert.match(told, /Compression: NONE/)
      })

    for (const flag of ['-tls1', '-tls1_1'])
      it(`${flag} is refused`, async () => assertRefused(await check([flag, '-cipher', weak])))

    for (const [what, ...args] of [
      ['without authentication', '-tls1_2', '-cipher', 'aNULL:@SECLEVEL=0'],
      ['without encryption', '-tls1_2', '-cipher', 'eNULL:@SECLEVEL=0'],
      ['without forward secrecy', '-tls1_2', '-cipher', 'kRSA:@SECLEVEL=0'],
      ['of CBC', '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0'],
      ['with signatures of SHA-1', '-tls1_2', '-cipher', weak, '-sigalgs', 'ECDSA+SHA1:RSA+SHA1'],
      ['of an application protocol that it does not speak', '-alpn', 'smtp'],
    ] as const)
      it(`a handshake ${what} is refused`, async () => assertRefused(await check(args)))

    it('a wildcard certificate is chosen by the name of the client, and the first one for others', async () => {
      const shop = ['-servername', 'a.shop.example', '-verify_hostname', 'a.shop.example', '-verify_return_error']
      assert.match(await check(shop), /subject=CN ?= ?\*\.shop\.example[^]*Verify return code: 0 \(ok\)/)
      assert.match(await check(['-servername', 'b.a.shop.example']), /subject=CN ?= ?first\.example/)
      assert.match(await check(['-noservername']), /subject=CN ?= ?first\.example/)
    })

    for (const flag of ['-tls1_2', '-tls1_3'])
      it(`a session is resumed, and takes no early data (${flag})`, async () => {
        const session = folder.at(`session${flag}`)
        const first = await check([flag, ...named, '-sess_out', session, '-ign_eof'], http('/'))
        assert.doesNotMatch(first, /Max Early Data: [1-9]/)
        assert.match(await check([flag, ...named, '-sess_in', session]), /Reused, TLS/)
      })

    it('a client does not renegotiate', async () => {
      const told = await check(['-tls1_2', ...named], 'R\n')
      assert.match(told, /RENEGOTIATING/)
      assert.match(told, /no renegotiation|error:|closed|write:errno|Connection reset/i)
    })

    it('clients are asked for a certificate, with the names of the authorities', async () => {
      assert.match(await check(named), /Acceptable client certificate CA names\n[^\n]*the authority/)
      const shown = ['-cert', folder.at('alice.cert'), '-key', folder.at('alice.key'), '-ign_eof']
      for (const flag of ['-tls1_2', '-tls1_3']) {
        assert.match(await check([flag, ...named, '-ign_eof'], http('/secret')), /HTTP\/1\.1 403 /)
        assert.match(await check([flag, ...named, ...shown], http('/secret')), /"subject":"alice"/)
      }
    })
  })

function assertRefused(told: string): void {
  assert.match(told, /alert|wrong version|no protocols available|unexpected eof|Cipher is \(NONE\)/i)
  assert.match(told, /no peer certificate available/)
}

/** All that `openssl s_client` prints. It ends with its input, or with the connection. */
function client(args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile('openssl', ['s_client', ...args], { timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    )
    child.stdin!.on('error', () => {}).end(input)
  })
}
