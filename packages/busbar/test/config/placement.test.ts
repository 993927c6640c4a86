import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, it } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { findHazards } from '../../src/config/hazards/find-hazards.ts'
import { loadApp, type Overrides } from '../../src/config/load.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

/**
 * The services of an app that has a program in `web`, a typed service in `stock` and a folder
 * `pages`.
 */
async function services(config: object, overrides: Overrides = {}): Promise<Readonly<Record<string, Service>>> {
  using folder = new TestFolder({
    'busbar.config.json': config,
    'web/index.js': '',
    'stock/index.js': '',
    'stock/contract.js': '',
    'pages/page.html': '',
  })
  const app = await loadApp(folder.path, { env: {}, overrides })
  return Object.fromEntries(app.services.map((service) => [service.name, service]))
}

const runs = (found: Readonly<Record<string, Service>>): Record<string, string> =>
  Object.fromEntries(Object.entries(found).map(([name, { run }]) => [name, run]))

describe('the default placement of a service', () => {
  it('is a thread for a program, the shared workers for a typed service, a process for a command', async () => {
    const found = await services({ services: { web: './web', stock: './stock', pages: { command: 'serve' } } })
    assert.deepEqual(runs(found), { web: 'thread', stock: 'shared', pages: 'process' })
  })

  it('is the shared workers for the only program of an app, which `workers` multiplies', async () => {
    const { web } = await services({ workers: 3, services: { web: './web' } })
    assert.deepEqual([web?.run, web?.instances], ['shared', 3])
  })

  it('is that of `defaults`, except for a group and a command', async () => {
    const found = await services({
      defaults: { run: 'shared' },
      services: { web: './web', stock: { path: './stock', group: 'a' }, pages: { command: 'serve' } },
    })
    assert.deepEqual(runs(found), { web: 'shared', stock: 'thread', pages: 'process' })
  })
})

describe('a placement from the command line', () => {
  const movable = {
    services: { web: { path: './web', run: 'process' }, stock: './stock' },
    defaults: { run: 'shared' },
  }

  for (const run of ['shared', 'thread', 'process'] as const)
    it(`overrides the config: ${run}`, async () => {
      assert.deepEqual(runs(await services(movable, { run })), { web: run, stock: run })
    })

  it('does not move a service that cannot run there', async () => {
    const config = {
      services: {
        web: { path: './web', run: 'process', permissions: {} },
        stock: { path: './stock', group: 'a' },
        busy: { path: './web', concurrency: 1 },
        pages: { command: 'serve' },
      },
    }
    const own = { web: 'process', stock: 'thread', busy: 'thread', pages: 'process' }
    assert.deepEqual(runs(await services(config)), own)
    assert.deepEqual(runs(await services(config, { run: 'shared' })), own)
    assert.deepEqual(runs(await services(config, { run: 'thread' })), own)
    assert.deepEqual(runs(await services(config, { run: 'process' })), { ...own, busy: 'process' })
  })

  it('does not repair an invalid config', async () => {
    const config = { services: { web: { path: './web', queue: 3 }, stock: './stock' } }
    await assert.rejects(
      services(config, { run: 'process' }),
      /services\.web\.queue: without concurrency no call ever waits/,
    )
  })
})

describe('the instances of a service', () => {
  it('may depend on the number of processors', async () => {
    const found = await services({
      services: {
        web: { path: './web', instances: 'auto' },
        stock: { path: './stock', run: 'process', instances: 'cpus-1' },
      },
    })
    const processors = availableParallelism()
    assert.deepEqual([found['web']?.instances, found['stock']?.instances], [processors, Math.max(1, processors - 1)])
  })
})

describe('a command', () => {
  const command = async (line: string): Promise<Service> =>
    (await services({ services: { pages: { path: './pages', command: line }, web: './web' } }))['pages']!

  it('runs in its folder, by default in that of the config', async () => {
    const found = await services({ services: { pages: { path: './pages', command: 'a' }, web: { command: 'b' } } })
    assert.match(found['pages']!.path, /pages$/)
    assert.equal(found['web']!.path, found['pages']!.path.replace(/.pages$/, ''))
  })

  it('is split into words like a shell does', async () => {
    const { entry } = await command(`sh -c 'exec next start' "two words" one\\ word`)
    assert.deepEqual([entry.file, ...entry.args], ['sh', '-c', 'exec next start', 'two words', 'one word'])
  })

  it('may contain its port', async () => {
    assert.deepEqual((await command('serve --listen=$PORT -p $PORT')).entry.args, ['--listen=$PORT', '-p', '$PORT'])
  })
})

describe('permissions', () => {
  it('are resolved from the folder of the config', async () => {
    const { web } = await services({
      services: { web: { path: './web', run: 'process', permissions: { write: ['data'], allow: ['worker'] } } },
    })
    assert.match(web!.permissions!.write[0]!, /^\/.*\/data$|^[A-Z]:/)
    assert.deepEqual([web!.permissions!.read, web!.permissions!.allow], [[], ['worker']])
  })
})

describe('services of one thread with the same folder', () => {
  const both = { eu: { path: './shop', run: 'shared' }, us: { path: './shop', run: 'shared' } } as const
  const modules = {
    'shop/package.json': { type: 'module' },
    'shop/index.js': "import './part.mjs'",
    'shop/part.mjs': '',
  }

  async function placesOf(files: Files, config: object = { services: both }): Promise<unknown[]> {
    using folder = new TestFolder({ ...files, 'busbar.config.json': config })
    const app = await loadApp(folder.path, { env: {} })
    const hazards = await findHazards(app)
    return [
      app.services.map(({ run, group, instances }) => [run, group, instances]),
      hazards.map(({ code, services }) => `${code} ${services.join(' ')}`),
    ]
  }

  it('stay there if the folder has only ES modules', async () => {
    const inShared = [
      ['shared', undefined, 1],
      ['shared', undefined, 1],
    ]
    assert.deepEqual(await placesOf(modules), [inShared, []])
    const inherited = {
      'package.json': { type: 'module' },
      'shop/index.js': '',
      'shop/data.json': {},
      'shop/README': 'x',
    }
    assert.deepEqual(await placesOf(inherited), [inShared, []])
    const libraries = { ...modules, 'shop/node_modules/old/index.cjs': 'exports.x = require("./y")' }
    assert.deepEqual(await placesOf(libraries), [inShared, []])
  })

  const others: Readonly<Record<string, Files>> = {
    'CommonJS by its package': { 'shop/index.js': '' },
    'a file of CommonJS': { ...modules, 'shop/deep/old.cjs': '' },
    'a folder of CommonJS': { ...modules, 'shop/deep/package.json': {}, 'shop/deep/old.js': '' },
    'an add-on': { ...modules, 'shop/built.node': '' },
    'a module that makes a require()': { ...modules, 'shop/part.mjs': 'createRequire(import.meta.url)' },
    'a module that asks for the built-in one': { ...modules, 'shop/part.mjs': "process.getBuiltinModule('module')" },
    'an entry without an extension': {
      'shop/package.json': { scripts: { start: 'node run' } },
      'shop/run': '#!/usr/bin/env node',
    },
  }
  for (const [what, files] of Object.entries(others))
    it(`except for the first get their own threads if there is ${what}`, async () => {
      const [places, hazards] = await placesOf(files)
      assert.deepEqual(places, [
        ['shared', undefined, 1],
        ['thread', undefined, 1],
      ])
      assert.deepEqual(hazards, ['COPY_MOVED us eu'])
    })

  it('get as many threads as before, and leave their group', async () => {
    const files = { 'shop/index.js': '', 'web/index.js': '' }
    const [shared] = await placesOf(files, { workers: 3, services: both })
    assert.deepEqual(shared, [
      ['shared', undefined, 3],
      ['thread', undefined, 3],
    ])
    const place = { path: './shop', run: 'thread', group: 'a', instances: 2 }
    const [grouped] = await placesOf(files, { services: { eu: place, us: place, web: { path: './web', group: 'a' } } })
    assert.deepEqual(grouped, [
      ['thread', 'a', 2],
      ['thread', undefined, 2],
      ['thread', 'a', 1],
    ])
  })

  it('are not affected in separate threads', async () => {
    const apart = { eu: './shop', us: './shop', asia: { path: './shop', run: 'process' } }
    const [places, hazards] = await placesOf({ 'shop/index.js': '' }, { services: apart })
    assert.deepEqual([(places as unknown[]).length, hazards], [3, []])
  })
})
