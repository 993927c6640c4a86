import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, it } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { loadApp, type LoadOptions } from '../../src/config/load.ts'
import { defaultAccelerators, optIn } from '../../src/shared/accelerators.ts'
import { type Files, TestFolder } from '../support/folder.ts'

const program = ''
const shared = { run: 'shared' }

async function load(files: Files, options: LoadOptions = {}, place = '.'): Promise<App> {
  using folder = new TestFolder(files)
  return await loadApp(folder.at(place), { env: {}, ...options })
}

/** An app of two programs, `web` and `stock`, with this config. */
function loadTwo(config: object, options?: LoadOptions): Promise<App> {
  const services = { web: './web', stock: './stock' }
  const files = { 'web/index.js': program, 'stock/index.js': program }
  return load({ ...files, 'busbar.config.json': { defaults: shared, services, ...config } }, options)
}

describe('a config by another name', () => {
  for (const name of ['other.json', 'shop.config.mjs'])
    it(`is read where it is named: ${name}`, async () => {
      const config = JSON.stringify({ services: { web: './web' }, gateway: { port: 4001 } })
      const text = name.endsWith('.json') ? config : `export default ${config}`
      using folder = new TestFolder({ 'web/index.js': program, [name]: text })
      const app = await loadApp(folder.at(name), { env: {} })
      assert.deepEqual([app.configFile, app.root, app.gateway.port], [folder.at(name), folder.path, 4001])
    })
})

describe('accelerators', () => {
  it('are all on unless the config or the environment say otherwise', async () => {
    assert.deepEqual((await loadTwo({})).accelerators, defaultAccelerators)
    assert.deepEqual((await loadTwo({ accelerators: 'none' })).accelerators, [])
    assert.deepEqual((await loadTwo({ accelerators: ['stream'] })).accelerators, ['stream'])
    const asked = await loadTwo({ gateway: { batchWrites: true } })
    assert.deepEqual(asked.accelerators, [...defaultAccelerators, optIn])
    const env = { BUSBAR_ACCELERATORS: 'exchange, handover' }
    assert.deepEqual((await loadTwo({ accelerators: 'none' }, { env })).accelerators, ['exchange', 'handover'])
  })

  it('of another name are refused with those that there are', async () => {
    const wrong = { code: 'CONFIG_INVALID', message: /BUSBAR_ACCELERATORS is "fast".*/, hint: /exchange, stream/ }
    await assert.rejects(loadTwo({}, { env: { BUSBAR_ACCELERATORS: 'fast' } }), wrong)
    await assert.rejects(loadTwo({ accelerators: ['fast'] }), { code: 'CONFIG_INVALID' })
  })
})

describe('maxRestarts', () => {
  it('is no limit unless the config has one', async () => {
    assert.equal((await loadTwo({})).maxRestarts, undefined)
    for (const maxRestarts of [0, 5]) assert.equal((await loadTwo({ maxRestarts })).maxRestarts, maxRestarts)
  })
})

describe('a place without a config', () => {
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
    assert.deepEqual(app.gateway, { host: '127.0.0.1', port: 3000, tls: undefined, entry: 'shop-front', routes: [] })
    assert.equal(app.configFile, undefined)
    assert.equal(app.name, '@acme/Shop_Front')
    assert.equal(app.workers, 1)
  })

  for (const file of ['index.mjs', 'server.ts', 'app.cjs'])
    it(`runs a folder with ${file} alone`, async () => {
      const { services } = await load({ [`shop/${file}`]: program }, {}, 'shop')
      assert.deepEqual([services[0]?.name, services[0]?.entry.foundBy], ['shop', file])
    })

  it('runs a file, in the folder that npm would run it in', async () => {
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
    it(`is read again when it has changed (${name})`, async () => {
      const text = (workers: number): string =>
        `${name.endsWith('.cjs') ? 'module.exports =' : 'export default'} { workers: ${workers}, services: { web: './web' } }`
      using folder = new TestFolder({ [name]: text(2), 'web/index.js': program })
      assert.equal((await loadApp(folder.path)).workers, 2)
      folder.write(name, text(3))
      assert.equal((await loadApp(folder.path)).workers, 3)
    })

  it('has its defaults filled, in milliseconds and bytes', async () => {
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
      maxHops: 16,
    })
    assert.deepEqual([app.workers, app.accept, app.stopTimeout], [1, 'balanced', 8000])
    const [web] = app.services
    assert.deepEqual([web?.startTimeout, web?.stopTimeout, web?.expose, web?.port], [30_000, 8000, [], undefined])
  })

  it('keeps a default where a key is there but undefined', async () => {
    using folder = new TestFolder({
      'busbar.config.mjs':
        'export default { workers: undefined, limits: undefined, gateway: { host: undefined }, services: { web: { path: "web", startTimeout: undefined, needs: undefined } } }',
      'web/index.js': program,
    })
    const app = await loadApp(folder.path, { env: {} })
    assert.deepEqual([app.workers, app.limits.maxHops, app.gateway.host], [1, 16, '127.0.0.1'])
    assert.deepEqual([app.services[0]?.startTimeout, app.services[0]?.needs], [30_000, []])
  })

  it('is frozen through and through, and survives the way to a thread', async () => {
    const app = await loadTwo({ gateway: { routes: { '/': 'web' } } })
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
    assert.ok(isFrozen(app))
    assert.deepEqual(structuredClone(app), app)
  })

  it('takes durations and sizes as numbers and as text', async () => {
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
  it('are filled wherever there is text, numbers included', async () => {
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
  it('stand over what the config says, also where a variable of it is missing', async () => {
    const config = { workers: '${N}', gateway: { port: '${P}', entry: 'web' } }
    const app = await loadTwo(config, { env: {}, overrides: { workers: 4, port: 0, host: '::1' } })
    assert.deepEqual([app.workers, app.gateway.port, app.gateway.host, app.gateway.entry], [4, 0, '::1', 'web'])
  })

  it('leave the config alone where they are undefined', async () => {
    const overrides = { workers: undefined, port: undefined, host: undefined } as unknown as object
    const app = await loadTwo({ workers: 3, gateway: { port: 81, host: '::1' } }, { env: {}, overrides })
    assert.deepEqual([app.workers, app.gateway.port, app.gateway.host], [3, 81, '::1'])
  })

  it('reach a program without a config', async () => {
    const app = await load({ 'index.js': program }, { env: {}, overrides: { workers: 2, port: 9 } })
    assert.deepEqual([app.workers, app.gateway.port], [2, 9])
  })
})

describe('services', () => {
  it('are found in services/ when the config lists none', async () => {
    const { services } = await load({
      'busbar.config.json': { defaults: shared },
      'services/b/index.ts': program,
      'services/a/package.json': { main: 'x.js' },
      'services/a/x.js': program,
      'services/.hidden/index.js': program,
      'services/notes/readme.md': '',
      'services/index.js': program,
    })
    assert.deepEqual(
      services.map(({ name }) => name),
      ['a', 'b'],
    )
  })

  it('are only those that are listed where the config lists some', async () => {
    const files = { 'services/a/index.js': program, 'services/b/index.js': program }
    const { services } = await load({ ...files, 'busbar.config.json': { services: { b: './services/b' } } })
    assert.deepEqual(
      services.map(({ name }) => name),
      ['b'],
    )
  })

  it('are the program beside the config where there is neither', async () => {
    const app = await load({
      'busbar.config.json': { workers: 2 },
      'package.json': { name: 'shop' },
      'index.js': program,
    })
    assert.deepEqual([app.workers, app.gateway.entry, app.services[0]?.entry.foundBy], [2, 'shop', 'index.js'])
  })

  it('may be the folder of the config, where there is a program in it', async () => {
    const { services } = await load({ 'busbar.config.json': { services: { web: '.' } }, 'server.js': program })
    assert.deepEqual([services[0]?.name, services[0]?.entry.foundBy], ['web', 'server.js'])
  })

  it('may be files, and the same folder twice', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { defaults: shared, services: { a: './x/a.js', b: { path: './x', entry: 'a.js' } } },
      'x/a.js': program,
    })
    const { services } = await loadApp(folder.path, { env: {} })
    assert.deepEqual(
      services.map(({ path, entry }) => [path, entry.file]),
      [
        [folder.at('x'), folder.at('x/a.js')],
        [folder.at('x'), folder.at('x/a.js')],
      ],
    )
  })

  it('start after those they need, else in the order of the config', async () => {
    const names = ['d', 'a', 'c', 'b', 'e']
    const needs: Record<string, string[]> = { d: ['b', 'c', 'b'], c: ['e'] }
    const files = Object.fromEntries(names.map((name) => [`${name}/index.js`, program]))
    const services = Object.fromEntries(names.map((name) => [name, { path: name, needs: needs[name] }]))
    const app = await load({ ...files, 'busbar.config.json': { defaults: shared, services } })
    assert.deepEqual(
      app.services.map(({ name }) => name),
      ['a', 'b', 'e', 'c', 'd'],
    )
    assert.deepEqual(app.services.at(-1)?.needs, ['b', 'c'])
  })

  it('have their variables: the start script, then the files and values of defaults, then their own', async () => {
    const { services } = await load(
      {
        'busbar.config.json': {
          defaults: { run: 'shared', envFile: 'all.env', env: { C: 'defaults', D: 'defaults', E: 'defaults' } },
          services: { web: { path: 'web', envFile: 'web/.env', env: { E: 'own', N: 1, T: true } }, stock: 'web' },
        },
        'all.env': 'B=all.env\nC=all.env\n# none\nQ="two words"\n',
        'web/.env': 'D=web.env\nE=web.env\n',
        'web/package.json': { scripts: { start: 'A=script B=script node --env-file=x.env index.js' } },
        'web/x.env': 'A=x.env\nX=x.env\nHOME=x.env\n',
        'web/index.js': program,
      },
      { env: { HOME: '/root' } },
    )
    const [web, stock] = services
    assert.deepEqual(
      { ...web?.env },
      {
        A: 'script',
        B: 'all.env',
        C: 'defaults',
        D: 'web.env',
        E: 'own',
        N: '1',
        Q: 'two words',
        T: 'true',
        X: 'x.env',
      },
    )
    assert.equal(stock?.env['E'], 'defaults')
  })
})

describe('the gateway', () => {
  it('gives each of several services its name as a prefix when the config says nothing', async () => {
    const { gateway } = await loadTwo({})
    assert.equal(gateway.entry, undefined)
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '/web', service: 'web' },
      { host: undefined, prefix: '/stock', service: 'stock' },
    ])
  })

  it('reads prefixes, hosts and both', async () => {
    const routes = { '/': 'web', '/shop/': 'web', 'Api.Example': 'stock', 'api.example/v1/x': 'web', '[::1]/a': 'web' }
    const { gateway } = await loadTwo({ gateway: { routes } })
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '', service: 'web' },
      { host: undefined, prefix: '/shop', service: 'web' },
      { host: 'api.example', prefix: '', service: 'stock' },
      { host: 'api.example', prefix: '/v1/x', service: 'web' },
      { host: '[::1]', prefix: '/a', service: 'web' },
    ])
    assert.equal(gateway.entry, undefined)
  })

  it('reads routes that are objects', async () => {
    const routes = { '/a': { service: 'web' }, '/b': { service: 'web', strip: false }, '/c': 'stock' }
    const { gateway } = await loadTwo({ gateway: { routes } })
    assert.deepEqual(gateway.routes, [
      { host: undefined, prefix: '/a', service: 'web' },
      { host: undefined, prefix: '/b', service: 'web', strip: false },
      { host: undefined, prefix: '/c', service: 'stock' },
    ])
  })

  for (const [route, message] of [
    [
      { service: 'web', stripp: false },
      'gateway.routes["/a"].stripp is no key; the nearest is gateway.routes["/a"].strip',
    ],
    [{ service: 'web', strip: 'no' }, 'gateway.routes["/a"].strip is "no"; allowed is true or false'],
    [{ strip: false }, 'gateway.routes["/a"].service is nothing; allowed is the name of a service'],
    [{ service: 'wep' }, 'gateway.routes["/a"] names "wep", which is no service; the nearest is web'],
    [7, 'gateway.routes["/a"] is 7; allowed is the name of a service, or an object of service and strip'],
  ] as const)
    it(`refuses the route ${JSON.stringify(route)}`, async () => {
      await assert.rejects(loadTwo({ gateway: { routes: { '/a': route } } }), (error: Error) => {
        assert.ok(error.message.includes(message), error.message)
        return true
      })
    })

  it('listens where the config says, else where the variable PORT says', async () => {
    assert.equal((await loadTwo({}, { env: { PORT: '8080' } })).gateway.port, 8080)
    assert.equal((await loadTwo({ gateway: { port: 1234 } }, { env: { PORT: '8080' } })).gateway.port, 1234)
    assert.equal((await loadTwo({ gateway: { port: 0 } }, { env: { PORT: '8080' } })).gateway.port, 0)
  })

  it('lets ports repeat where they are different addresses', async () => {
    const app = await loadTwo({
      gateway: { port: 4000 },
      services: {
        web: { path: 'web', expose: { host: '127.0.0.2', port: 4000 } },
        stock: { path: 'stock', expose: [0, { port: 4001 }] },
      },
    })
    assert.deepEqual(
      app.services.map(({ expose }) => expose),
      [
        [{ host: '127.0.0.2', port: 4000 }],
        [
          { host: '127.0.0.1', port: 0 },
          { host: '127.0.0.1', port: 4001 },
        ],
      ],
    )
  })
})
