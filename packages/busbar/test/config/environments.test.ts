import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

const config = {
  workers: 1,
  gateway: { port: 3043, entry: 'web', cors: ['https://one.example'] },
  limits: { maxHops: 3, maxBodySize: '1mb' },
  services: { web: './web', extra: './web' },
  environments: {
    production: {
      workers: 4,
      gateway: { cors: ['https://two.example'] },
      limits: { maxHops: 5 },
      services: { web: { env: { KEY: '${KEY}' } }, extra: null },
    },
    broken: { workers: -1 },
  },
}
const files: Files = { 'busbar.config.json': config, 'web/index.js': '' }

describe('--env', () => {
  it('merges objects, replaces everything else, and removes what is null', async () => {
    using folder = new TestFolder(files)
    const app = await loadApp(folder.path, { env: { KEY: 'k' }, overrides: { env: 'production' } })
    assert.equal(app.workers, 4)
    assert.deepEqual([app.gateway.port, app.gateway.cors], [3043, ['https://two.example']])
    assert.deepEqual([app.limits.maxHops, app.limits.maxBodySize], [5, 1024 ** 2])
    assert.deepEqual(
      app.services.map(({ name, path, env }) => ({ name, path, env })),
      [{ name: 'web', path: folder.at('web'), env: { KEY: 'k' } }],
    )
  })

  it('without it, environments have no effect, and their placeholders need no values', async () => {
    using folder = new TestFolder(files)
    const app = await loadApp(folder.path, { env: {} })
    assert.deepEqual([app.workers, app.services.length], [1, 2])
  })

  it('flags of the command line override it', async () => {
    using folder = new TestFolder(files)
    const app = await loadApp(folder.path, { env: { KEY: 'k' }, overrides: { env: 'production', workers: 2 } })
    assert.equal(app.workers, 2)
  })

  it('an unknown one is refused, with the nearest', async () => {
    using folder = new TestFolder(files)
    await assert.rejects(loadApp(folder.path, { env: {}, overrides: { env: 'produktion' } }), {
      code: 'CONFIG_INVALID',
      message: /the config has no environment "produktion"; the nearest is production/,
    })
  })

  it('its values are checked like those of the config', async () => {
    using folder = new TestFolder(files)
    await assert.rejects(loadApp(folder.path, { env: {}, overrides: { env: 'broken' } }), { message: /workers is -1/ })
  })
})

describe('${file:…}', () => {
  const withSecret = (env: object, secret = 'correct horse\n'): TestFolder =>
    new TestFolder({
      'busbar.config.json': { services: { web: { path: './web', ...env } } },
      'web/index.js': '',
      'secrets/db': secret,
    })

  it('reads a file, relative to the config, without its last newline', async () => {
    using folder = withSecret({ env: { DB: 'user:${file:secrets/db}@host' } })
    const app = await loadApp(folder.path, { env: {} })
    assert.equal(app.services[0]!.env['DB'], 'user:correct horse@host')
    assert.deepEqual(app.secrets, ['correct horse'])
  })

  it('a missing file is refused by its path', async () => {
    using folder = withSecret({ env: { DB: '${file:secrets/other}' } })
    await assert.rejects(loadApp(folder.path, { env: {} }), {
      code: 'SECRET_UNREADABLE',
      message: new RegExp(`services.web.env.DB needs the file ${folder.at('secrets/other')}`),
    })
  })

  for (const [what, keys] of [
    ['a wrong value', { run: '${file:secrets/db}' }],
    ['a wrong path', { path: './${file:secrets/db}' }],
    ['a long value', { run: '${file:secrets/db}'.repeat(20) }],
  ] as const)
    it(`${what} is refused without the secret in the message`, async () => {
      using folder = withSecret(keys)
      const error = (await loadApp(folder.path, { env: {} }).catch((thrown: unknown) => thrown)) as Error
      assert.ok(!error.message.includes('horse'), error.message)
    })
})
