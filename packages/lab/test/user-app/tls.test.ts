import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../../src/arm.ts'
import { bench } from '../../src/bench.ts'
import { userAppScenario } from '../../src/user-app/user-app.ts'
import { OwnCache, tiny, withEngine } from '../support/fixture.ts'
import { AppFolder, get, program, signal } from '../support/measured-app.ts'

describe('an app with TLS at the gateway', () => {
  const files = (certificate: CertificateFiles) => ({
    'busbar.config.json': JSON.stringify({
      gateway: { entry: 'web', tls: certificate },
      services: { web: './web.js' },
    }),
    'web.js': program(`'paid'`),
  })

  test('is measured over TLS, and its certificate is trusted regardless of its name', withEngine, async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
    // Without plain node, which would have no TLS.
    assert.deepEqual([scenario.arms.map(({ name }) => name), scenario.baseline], [['busbar'], 'busbar'])
    using _ = new OwnCache()
    const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
    for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
  })

  test('is also measured by autocannon', async () => {
    using certificates = new AppFolder({})
    using app = new AppFolder(files(await selfMade(certificates.path)))
    using _ = new OwnCache()
    const before = process.env['BUSBAR_LOAD']
    process.env['BUSBAR_LOAD'] = 'autocannon'
    try {
      const { scenario } = await userAppScenario(app.path, { own: get('/checkout'), signal })
      const result = await bench(scenario, { quick: true, timing: tiny, command: 'test' })
      for (const { name, invalidBecause } of result.arms) assert.deepEqual(invalidBecause, [], name)
    } finally {
      if (before === undefined) delete process.env['BUSBAR_LOAD']
      else process.env['BUSBAR_LOAD'] = before
    }
  })
})

/** Like `openssl req -x509`: a CA certificate, without a name of this machine. */
async function selfMade(folder: string): Promise<CertificateFiles> {
  const pems = await generate([{ name: 'commonName', value: 'shop.example' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: true }],
  })
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, pems.cert)
  writeFileSync(files.key, pems.private)
  return files
}
