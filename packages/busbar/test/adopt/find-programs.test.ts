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

describe('folders side by side', () => {
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
