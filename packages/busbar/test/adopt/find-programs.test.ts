/** Repositories that no file of a process manager describes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findServices } from '../../src/adopt/sources/find-sources.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'
import { server } from './imported-app.ts'

async function found(files: Files) {
  using folder = new TestFolder(files)
  const imported = (await findServices(folder.path))!
  const { services = {}, gateway } = imported.config
  return { kind: imported.kind, services, port: gateway?.port, entry: gateway?.entry }
}

describe('scripts that start several programs', () => {
  const files = {
    'users/index.js': server("'users'").replace('process.env.PORT', '+process.env.USERS_PORT || 3901'),
    'gateway/src/index.js': `require('fast-gateway')({ routes: [] }).start(3900)`,
  }

  it('finds those of concurrently, by their folders, names and scripts', async () => {
    const start = 'concurrently -k "node users/index.js" "node gateway/src/index.js"'
    const byFolder = await found({ ...files, 'package.json': { scripts: { test: 'x', 'start:all': start } } })
    assert.deepEqual([byFolder.kind, Object.keys(byFolder.services)], ['script', ['users', 'gateway']])
    assert.deepEqual([byFolder.entry, byFolder.port], ['gateway', 3900])
    assert.deepEqual(byFolder.services['users'], {
      run: 'process',
      path: '.',
      entry: './users/index.js',
      expose: 3901,
    })
    const named = 'concurrently --names "people,edge" -c=red "node users" "cd gateway && node src/index.js"'
    const byName = await found({ ...files, 'package.json': { scripts: { start: named } } })
    assert.deepEqual(Object.keys(byName.services), ['people', 'edge'])
    assert.equal((byName.services['edge'] as { path: string }).path, './gateway')
    const scripts = {
      start: 'concurrently npm:start:*',
      'start:users': 'node users',
      'start:edge': 'node gateway/src/index.js',
    }
    assert.deepEqual(Object.keys((await found({ ...files, 'package.json': { scripts } })).services), ['users', 'edge'])
  })

  it('finds those of npm-run-all, run-p and a shell', async () => {
    const scripts = { users: 'node users', edge: 'node gateway/src/index.js' }
    for (const start of ['run-p users edge', 'npm-run-all --parallel users edge']) {
      const { kind, services } = await found({ ...files, 'package.json': { scripts: { start, ...scripts } } })
      assert.deepEqual([kind, Object.keys(services)], ['script', ['users', 'edge']])
    }
    const shell = { start: 'node users & node gateway/src/index.js & wait' }
    const { services } = await found({ ...files, 'package.json': { scripts: shell } })
    assert.deepEqual(Object.keys(services), ['users', 'gateway'])
  })
})

describe('scripts for development', () => {
  it('finds the modules that nodemon restarts, and the program that no script of several starts', async () => {
    const { services, entry } = await found({
      'package.json': {
        main: 'gateway.js',
        scripts: {
          'start-gateway': 'nodemon gateway.js',
          'start-service-users': 'nodemon services/users/index.js',
          'start-service-orders': 'NODE_ENV=production npx nodemon -q -w services services/orders/index.js --fast',
          'start-services': 'concurrently "npm:start-service-*"',
        },
      },
      'gateway.js': server("'gateway'"),
      'services/users/index.js': server("'users'"),
      'services/orders/index.js': server("'orders'"),
    })
    assert.deepEqual([Object.keys(services), entry], [['users', 'orders', 'gateway'], 'gateway'])
    assert.deepEqual(services['orders'], {
      run: 'process',
      env: { NODE_ENV: 'production' },
      path: '.',
      entry: './services/orders/index.js',
      args: ['--fast'],
    })
  })

  it('finds the start script of a folder, without its build', async () => {
    const scripts = {
      start: 'npm run build && node ./dist/server.js',
      dev: 'nodemon ./src/server.ts',
      build: 'tsc -p .',
    }
    const { services, port } = await found({
      'package.json': {
        scripts: {
          dev: 'concurrently -c red,green npm:dev:*',
          'dev:posts': 'npm run --prefix posts dev',
          'dev:query': 'npm run --prefix query dev',
        },
      },
      'posts/package.json': { scripts },
      'posts/dist/server.js': `const port = (_a = process.env.PORT) !== null && _a !== void 0 ? _a : 4000\n${server("'posts'").replace('process.env.PORT', 'port')}`,
      'query/package.json': { scripts },
      'query/dist/server.js': `const port = (_a = process.env.PORT) !== null && _a !== void 0 ? _a : 4002\n${server("'query'").replace('process.env.PORT', 'port')}`,
    })
    const shared = { run: 'process', entry: './dist/server.js' }
    assert.deepEqual(services, {
      posts: { ...shared, path: './posts' },
      query: { ...shared, path: './query', expose: 4002 },
    })
    assert.equal(port, 4000)
  })

  it('leaves TypeScript to what its script starts it with', async () => {
    const scripts = { start: 'run-p a b', a: 'nodemon a.ts', b: 'nodemon --exec tsx b.ts' }
    const { services } = await found({ 'package.json': { scripts }, 'a.ts': '', 'b.ts': '' })
    assert.deepEqual(
      Object.values(services).map((service) => (service as { command: string }).command),
      ['nodemon a.ts', 'nodemon --exec tsx b.ts'],
    )
  })
})

describe('folders side by side', () => {
  it('finds the port of a program that node starts by its folder, so that it is the entry', async () => {
    const { services, entry, port } = await found({
      'api/package.json': { scripts: { start: 'node server.js' } },
      'api/server.js': server("'api'").replace('process.env.PORT', '3901'),
      'web/package.json': { main: 'lib/web', scripts: { start: 'node .' } },
      'web/lib/web.js': server("'web'").replace('process.env.PORT', '3900'),
    })
    assert.deepEqual([services, entry, port], [{ api: { path: './api', expose: 3901 }, web: './web' }, 'web', 3900])
  })

  it('finds programs with a package.json of their own, where none connects them', async () => {
    const program = { scripts: { start: 'node index.js' } }
    const { kind, services, entry } = await found({
      'README.md': '',
      'order/package.json': { name: 'order', ...program },
      'order/index.js': server("'order'"),
      'services/api-gateway/package.json': { name: 'api-gateway', ...program },
      'services/api-gateway/index.js': `require('fast-gateway')({ routes: [] }).start(3900)`,
      'tools/package.json': { name: 'tools' },
      'tools/index.js': 'module.exports = 1',
    })
    assert.deepEqual([kind, Object.keys(services), entry], ['folders', ['order', 'api-gateway'], 'api-gateway'])
  })

  it('prefers the program of the folder', async () => {
    const { kind } = await found({
      'package.json': { scripts: { start: 'node index.js' } },
      'index.js': server("'root'"),
      'client/package.json': { scripts: { start: 'node index.js' } },
      'client/index.js': server("'client'"),
    })
    assert.equal(kind, 'program')
  })
})

describe('ports in files of variables', () => {
  const web = { 'package.json': { main: 'server.js' }, '.env': 'PORT=4811\nWEB_PORT=4812\n' }

  it('keeps the port that a program reads by dotenv, or by a flag of Node', async () => {
    const program = `require('dotenv').config()\n${server("'web'", 3000)}`
    assert.equal((await found({ ...web, 'server.js': program })).port, 4811)
    const other = program.replace('process.env.PORT', 'process.env.WEB_PORT')
    assert.equal((await found({ ...web, 'server.js': other })).port, 4812)
    const scripts = { start: 'node --env-file=.env server.js' }
    assert.equal((await found({ ...web, 'package.json': { scripts }, 'server.js': server("'web'") })).port, 4811)
  })

  it('ignores a file that the program does not read', async () => {
    assert.equal((await found({ ...web, 'server.js': server("'web'", 3000) })).port, 3000)
  })

  it('finds a server of gRPC', async () => {
    const program = `const server = new (require('@grpc/grpc-js').Server)(); server.bindAsync('0.0.0.0:50051', {}, () => {})`
    assert.deepEqual(Object.keys((await found({ ...web, 'server.js': program })).services).length, 1)
  })
})
