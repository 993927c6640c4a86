import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { defaultAccelerators, optInAccelerator } from '../../src/shared/accelerators.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'
import { program, load, loadTwo } from './support/load-folder.ts'

describe('a config with another name', () => {
  for (const name of ['other.json', 'shop.config.mjs'])
    it(`is read if it is given: ${name}`, async () => {
      const config = JSON.stringify({ services: { web: './web' }, gateway: { port: 4001 } })
      const text = name.endsWith('.json') ? config : `export default ${config}`
      using folder = new TestFolder({ 'web/index.js': program, [name]: text })
      const app = await loadApp(folder.at(name), { env: {} })
      assert.deepEqual([app.configFile, app.root, app.gateway.port], [folder.at(name), folder.path, 4001])
    })
})

describe('accelerators', () => {
  it('are all on unless the config or the environment turn them off', async () => {
    assert.deepEqual((await loadTwo({})).accelerators, defaultAccelerators)
    assert.deepEqual((await loadTwo({ accelerators: 'none' })).accelerators, [])
    assert.deepEqual((await loadTwo({ accelerators: ['stream'] })).accelerators, ['stream'])
    const asked = await loadTwo({ gateway: { batchWrites: true } })
    assert.deepEqual(asked.accelerators, [...defaultAccelerators, optInAccelerator])
    const env = { BUSBAR_ACCELERATORS: 'exchange, handover' }
    assert.deepEqual((await loadTwo({ accelerators: 'none' }, { env })).accelerators, ['exchange', 'handover'])
  })

  it('with an unknown name are refused with the valid names', async () => {
    const wrong = { code: 'CONFIG_INVALID', message: /BUSBAR_ACCELERATORS is "fast".*/, hint: /exchange, stream/ }
    await assert.rejects(loadTwo({}, { env: { BUSBAR_ACCELERATORS: 'fast' } }), wrong)
    await assert.rejects(loadTwo({ accelerators: ['fast'] }), { code: 'CONFIG_INVALID' })
  })
})

describe('maxRestarts', () => {
  it('is unlimited by default', async () => {
    assert.equal((await loadTwo({})).maxRestarts, undefined)
    for (const maxRestarts of [0, 5]) assert.equal((await loadTwo({ maxRestarts })).maxRestarts, maxRestarts)
  })
})

describe('args', () => {
  it('replace the arguments of scripts.start, also by none', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { services: { a: './p', b: { path: './p', args: ['--x'] }, c: { path: './p', args: [] } } },
      'p/package.json': { scripts: { start: 'node --no-warnings main.js --y z' } },
      'p/main.js': program,
    })
    const { services } = await loadApp(folder.path, { env: {} })
    assert.deepEqual(
      services.map(({ entry }) => [entry.args, entry.nodeOptions]),
      [['--y', 'z'], ['--x'], []].map((args) => [args, ['--no-warnings']]),
    )
  })
})

describe('a folder or file without a config', () => {
  it('runs a folder with a package.json as an app of one service, which is the raw entry', async () => {
    using folder = new TestFolder({
      'package.json': { name: '@acme/Shop_Front', main: 'lib/main.js' },
      'lib/main.js': program,
    })
    const app = await loadApp(folder.path, { env: {} })
    assert.deepEqual(
      app.services.map(({ name, path, entry }) => ({ name, path, entry })),
      [
        {
          name: 'shop-front',
          path: folder.path,
          entry: { file: folder.at('lib/main.js'), args: [], nodeOptions: [], foundBy: 'main' },
        },
      ],
    )
    assert.deepEqual(app.gateway, {
      host: '127.0.0.1',
      port: 3000,
      entrance: 'auto',
      tls: undefined,
      entry: 'shop-front',
      routes: [],
    })
    assert.equal(app.configFile, undefined)
    assert.equal(app.name, '@acme/Shop_Front')
    assert.equal(app.workers, 1)
  })

  for (const file of ['index.mjs', 'server.ts', 'app.cjs'])
    it(`runs a folder with ${file} alone`, async () => {
      const { services } = await load({ [`shop/${file}`]: program }, {}, 'shop')
      assert.deepEqual([services[0]?.name, services[0]?.entry.foundBy], ['shop', file])
    })

  it('runs a file in the nearest folder with a package.json', async () => {
    using folder = new TestFolder({
      'shop/package.json': { name: 'shop' },
      'shop/src/server.js': program,
      'one/x.js': program,
    })
    const [inPackage] = (await loadApp(folder.at('shop/src/server.js'), { env: {} })).services
    assert.deepEqual([inPackage?.path, inPackage?.entry.file], [folder.at('shop'), folder.at('shop/src/server.js')])
    const [alone] = (await loadApp(folder.at('one/x.js'), { env: {} })).services
    assert.deepEqual([alone?.path, alone?.name], [folder.at('one'), 'one'])
  })
})

describe('a config', () => {
  const sources: Files = {
    'busbar.config.ts':
      'interface A { services: object }\nconst app: A = { services: { web: "./web" } }\nexport default app',
    'busbar.config.mts': 'export default { services: { web: "./web" } } satisfies object',
    'busbar.config.js': 'module.exports = { services: { web: "./web" } }',
    'busbar.config.mjs': 'export default Promise.resolve({ services: { web: "./web" } })',
    'busbar.config.cjs': 'module.exports = () => ({ services: { web: "./web" } })',
    'busbar.config.json':
      '\uFEFF{ "$schema": "./node_modules/busbar/dist/busbar.schema.json", "services": { "web": "./web" } }',
  }
  for (const [name, content] of Object.entries(sources))
    it(`may be ${name}`, async () => {
      using folder = new TestFolder({ [name]: content, 'web/index.js': program })
      for (const place of [folder.path, folder.at(name)]) {
        const app = await loadApp(place, { env: {} })
        assert.equal(app.configFile, folder.at(name))
        assert.equal(app.root, folder.path)
        assert.deepEqual(
          app.services.map((service) => service.path),
          [folder.at('web')],
        )
      }
    })

  it('may be an async function of the environment and its folder', async () => {
    using folder = new TestFolder({
      'busbar.config.mjs':
        'export default async ({ env, root }) => ({ workers: Number(env.N), services: { web: root + "/web" } })',
      'web/index.js': program,
    })
    const app = await loadApp(folder.path, { env: { N: '3' } })
    assert.deepEqual([app.workers, app.services[0]?.path], [3, folder.at('web')])
  })

  for (const name of ['busbar.config.mjs', 'busbar.config.cjs'])
    it(`is reloaded after a change (${name})`, async () => {
      const text = (workers: number): string =>
        `${name.endsWith('.cjs') ? 'module.exports =' : 'export default'} { workers: ${workers}, services: { web: './web' } }`
      using folder = new TestFolder({ [name]: text(2), 'web/index.js': program })
      assert.equal((await loadApp(folder.path)).workers, 2)
      folder.write(name, text(3))
      assert.equal((await loadApp(folder.path)).workers, 3)
    })

  it('gets its defaults, in milliseconds and bytes', async () => {
    const app = await loadTwo({})
    assert.deepEqual(app.limits, {
      headerTimeout: 10_000,
      requestTimeout: 300_000,
      responseTimeout: 60_000,
      keepAliveTimeout: 72_000,
      maxHeaderSize: 16 * 1024,
      maxBodySize: 1024 ** 3,
      maxInputSize: 4 * 1024 ** 2,
      maxInFlight: 10_000,
      webSocketDrain: 3000,
      maxHops: 16,
    })
    assert.deepEqual([app.workers, app.accept, app.stopTimeout], [1, 'balanced', 8000])
    const [web] = app.services
    assert.deepEqual([web?.startTimeout, web?.stopTimeout, web?.expose, web?.port], [30_000, 8000, [], undefined])
  })

  it('keeps a default if the value is undefined', async () => {
    using folder = new TestFolder({
      'busbar.config.mjs':
        'export default { workers: undefined, limits: undefined, gateway: { host: undefined }, services: { web: { path: "web", startTimeout: undefined, needs: undefined } } }',
      'web/index.js': program,
    })
    const app = await loadApp(folder.path, { env: {} })
    assert.deepEqual([app.workers, app.limits.maxHops, app.gateway.host], [1, 16, '127.0.0.1'])
    assert.deepEqual([app.services[0]?.startTimeout, app.services[0]?.needs], [30_000, []])
  })

  it('is deeply frozen, and can be cloned to a thread', async () => {
    const app = await loadTwo({ gateway: { routes: { '/': 'web' } } })
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
    assert.ok(isFrozen(app))
    assert.deepEqual(structuredClone(app), app)
  })

  it('accepts durations and sizes as numbers and as text', async () => {
    const { limits, stopTimeout } = await loadTwo({
      stopTimeout: '1.5s',
      limits: {
        headerTimeout: 5000,
        requestTimeout: '2m',
        responseTimeout: '500ms',
        keepAliveTimeout: '1h',
        maxHeaderSize: '8KB',
        maxBodySize: '10mb',
      },
    })
    assert.equal(stopTimeout, 1500)
    assert.deepEqual(
      [limits.headerTimeout, limits.requestTimeout, limits.responseTimeout, limits.keepAliveTimeout],
      [5000, 120_000, 500, 3_600_000],
    )
    assert.deepEqual([limits.maxHeaderSize, limits.maxBodySize], [8192, 10 * 1024 * 1024])
  })

  it("makes workers: 'auto' the number of usable processors", async () => {
    assert.equal((await loadTwo({ workers: 'auto' })).workers, availableParallelism())
  })
})

describe('placeholders', () => {
  it('are filled in all texts, also in place of numbers', async () => {
    const env = { HOST: '0.0.0.0', PORT_: '8080', WAIT: '5', DIR: 'web', EMPTY: '' }
    const app = await loadTwo(
      {
        workers: '${N:-2}',
        stopTimeout: '${WAIT}s',
        gateway: { host: '${HOST}', port: '${PORT_}', entry: '${EMPTY:-web}' },
        services: {
          web: {
            path: './${DIR}',
            expose: '1${WAIT}0',
            env: { A: '${HOST}:${PORT_}', B: '$${HOST}', C: '${EMPTY}', D: 'cost $5 {x}' },
          },
          stock: './stock',
        },
      },
      { env },
    )
    assert.deepEqual([app.workers, app.stopTimeout], [2, 5000])
    assert.deepEqual([app.gateway.host, app.gateway.port, app.gateway.entry], ['0.0.0.0', 8080, 'web'])
    assert.deepEqual(app.services[0]?.expose, [{ host: '127.0.0.1', port: 150 }])
    assert.deepEqual(app.services[0]?.env, { A: '0.0.0.0:8080', B: '${HOST}', C: '', D: 'cost $5 {x}' })
  })
})

describe('overrides', () => {
  it('replace values of the config, also those with a missing variable', async () => {
    const config = { workers: '${N}', gateway: { port: '${P}', entry: 'web' } }
    const app = await loadTwo(config, { env: {}, overrides: { workers: 4, port: 0, host: '::1' } })
    assert.deepEqual([app.workers, app.gateway.port, app.gateway.host, app.gateway.entry], [4, 0, '::1', 'web'])
  })

  it('do not change the config if they are undefined', async () => {
    const overrides = { workers: undefined, port: undefined, host: undefined } as unknown as object
    const app = await loadTwo({ workers: 3, gateway: { port: 81, host: '::1' } }, { env: {}, overrides })
    assert.deepEqual([app.workers, app.gateway.port, app.gateway.host], [3, 81, '::1'])
  })

  it('apply to a program without a config', async () => {
    const app = await load({ 'index.js': program }, { env: {}, overrides: { workers: 2, port: 9 } })
    assert.deepEqual([app.workers, app.gateway.port], [2, 9])
  })
})
