import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { program, shared, load } from './support/load-folder.ts'

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

  it('are only the listed ones if the config has `services`', async () => {
    const files = { 'services/a/index.js': program, 'services/b/index.js': program }
    const { services } = await load({ ...files, 'busbar.config.json': { services: { b: './services/b' } } })
    assert.deepEqual(
      services.map(({ name }) => name),
      ['b'],
    )
  })

  it('are the program in the folder of the config if there is neither', async () => {
    const app = await load({
      'busbar.config.json': { workers: 2 },
      'package.json': { name: 'shop' },
      'index.js': program,
    })
    assert.deepEqual([app.workers, app.gateway.entry, app.services[0]?.entry.foundBy], [2, 'shop', 'index.js'])
  })

  it('may be the folder of the config, if it has a program', async () => {
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

  it('start after the services they need, otherwise in the order of the config', async () => {
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

  it('have variables of the start script, overridden by those of defaults, then by their own', async () => {
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
