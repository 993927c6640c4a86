import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { before, describe, it } from 'node:test'
import selfsigned from 'selfsigned'
import { BusbarError, type ErrorCode } from '../../src/contract/errors.ts'
import { loadApp } from '../../src/config/load.ts'
import { readTlsFiles } from '../../src/config/gateway/tls.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

describe('the certificate and key of the gateway', () => {
  let files: Files
  before(async () => {
    const [one, other] = await Promise.all([generate(), generate()])
    const encrypted = createPrivateKey(one.private).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'secret',
    })
    files = {
      'cert.pem': one.cert,
      'key.pem': one.private,
      'other.pem': other.private,
      'chain.pem': `${one.cert}\n${other.cert}`,
      'wrong-chain.pem': `${other.cert}\n${one.cert}`,
      'broken-chain.pem': `${one.cert}\n${other.cert.replace(/MII/, 'xyz')}`,
      'encrypted.pem': encrypted,
      'der.pem': new X509Certificate(one.cert).raw.toString('latin1'),
      'text.pem': 'hello',
      'broken.pem': one.cert.replace(/MII/, 'xyz'),
      'folder/x': '',
    }
  })

  it('are read if they match, with the certificate chain', async () => {
    using folder = new TestFolder(files)
    for (const name of ['cert.pem', 'chain.pem']) {
      const { pairs } = await readTlsFiles({ cert: folder.at(name), key: folder.at('key.pem') })
      assert.deepEqual(
        pairs.map(({ cert, key }) => ({ cert, key })),
        [{ cert: files[name], key: files['key.pem'] }],
      )
    }
  })

  const broken: readonly [cert: string, key: string, code: ErrorCode, ...says: string[]][] = [
    ['nothing.pem', 'key.pem', 'TLS_FILE_UNREADABLE', 'gateway.tls.cert', 'nothing.pem', 'ENOENT'],
    ['cert.pem', 'nothing.pem', 'TLS_FILE_UNREADABLE', 'gateway.tls.key', 'nothing.pem', 'ENOENT'],
    ['folder', 'key.pem', 'TLS_FILE_UNREADABLE', 'gateway.tls.cert', 'EISDIR'],
    ['text.pem', 'key.pem', 'TLS_FILE_INVALID', 'gateway.tls.cert', 'no PEM certificate'],
    ['der.pem', 'key.pem', 'TLS_FILE_INVALID', 'gateway.tls.cert', 'no PEM certificate'],
    ['broken.pem', 'key.pem', 'TLS_FILE_INVALID', 'gateway.tls.cert', 'broken.pem'],
    ['broken-chain.pem', 'key.pem', 'TLS_FILE_INVALID', 'gateway.tls.cert', 'broken-chain.pem'],
    ['cert.pem', 'text.pem', 'TLS_FILE_INVALID', 'gateway.tls.key', 'text.pem'],
    ['cert.pem', 'encrypted.pem', 'TLS_FILE_INVALID', 'gateway.tls.key', 'needs a passphrase'],
    ['key.pem', 'cert.pem', 'TLS_FILE_INVALID', 'gateway.tls.cert', 'swapped'],
    ['cert.pem', 'cert.pem', 'TLS_FILE_INVALID', 'gateway.tls.key', 'swapped'],
    ['cert.pem', 'other.pem', 'TLS_FILE_INVALID', 'other.pem does not belong to', 'cert.pem'],
    ['wrong-chain.pem', 'key.pem', 'TLS_FILE_INVALID', 'the server certificate comes first'],
  ]
  for (const [cert, key, code, ...says] of broken)
    it(`are refused with ${code}: ${cert} and ${key}`, async () => {
      using folder = new TestFolder({
        ...files,
        'index.js': '',
        'busbar.config.json': { services: { web: './index.js' }, gateway: { tls: { cert, key } } },
      })
      await assert.rejects(loadApp(folder.path, { env: {} }), (error) => {
        assert.ok(BusbarError.is(error, code), String(error))
        const told = `${error.message}\n${error.hint ?? ''}`
        for (const part of says) assert.ok(told.includes(part), told)
        assert.ok(!told.includes('PRIVATE KEY-----'), 'the key itself is not told')
        return true
      })
    })

  it('are refused without read permission', { skip: process.getuid?.() === 0 && 'root may read all' }, async () => {
    using folder = new TestFolder(files)
    folder.forbid('key.pem')
    const pair = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    await assert.rejects(readTlsFiles(pair), { code: 'TLS_FILE_UNREADABLE', message: /EACCES/ })
  })
})

function generate(): Promise<{ cert: string; private: string }> {
  return selfsigned.generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' })
}
