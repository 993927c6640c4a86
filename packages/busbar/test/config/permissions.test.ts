import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

const module = new URL('../../src/config/load.ts', import.meta.url)
const script = `
const { loadApp } = await import(process.argv[1])
const { code, message, hint } = await loadApp(process.argv[2], { env: {} }).catch((error) => error)
console.log(JSON.stringify({ code, message, hint }))`

/** Root may read everything. */
const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {}

const config = { services: { a: './a' } }
const start = { scripts: { start: 'node dist/main.js' } }

const cases: readonly (readonly [what: string, files: Files, forbidden: string, code: string])[] = [
  ['a config', { 'busbar.config.json': config, 'a/index.js': '' }, 'busbar.config.json', 'CONFIG_UNREADABLE'],
  ['the folder of a service', { 'busbar.config.json': config, 'a/index.js': '' }, 'a', 'SERVICE_NOT_FOUND'],
  [
    'the folder of a service in services/',
    { 'busbar.config.json': {}, 'services/a/index.js': '', 'services/b/index.js': '' },
    'services/b',
    'SERVICE_NOT_FOUND',
  ],
  ['the folder services/', { 'busbar.config.json': {}, 'services/a/index.js': '' }, 'services', 'SERVICE_NOT_FOUND'],
  [
    'a secret',
    {
      'busbar.config.json': { services: { a: { path: './a', env: { KEY: '${file:key}' } } } },
      'a/index.js': '',
      key: 'k',
    },
    'key',
    'SECRET_UNREADABLE',
  ],
  [
    'a folder above that of a service',
    { 'busbar.config.json': { services: { a: './up/a' } }, 'up/a/index.js': '' },
    'up',
    'SERVICE_NOT_FOUND',
  ],
  [
    'the package.json of a service',
    { 'busbar.config.json': config, 'a/package.json': start, 'a/index.js': '' },
    'a/package.json',
    'SERVICE_ENTRY_NOT_FOUND',
  ],
  [
    'the module of a service',
    { 'busbar.config.json': config, 'a/index.js': '' },
    'a/index.js',
    'SERVICE_ENTRY_NOT_FOUND',
  ],
  [
    'the folder of an entry',
    { 'busbar.config.json': { services: { a: { path: './a', entry: 'dist/main.js' } } }, 'a/dist/main.js': '' },
    'a/dist',
    'SERVICE_ENTRY_NOT_FOUND',
  ],
  [
    'the folder of what scripts.start runs',
    { 'busbar.config.json': config, 'a/package.json': start, 'a/dist/main.js': '' },
    'a/dist',
    'SERVICE_ENTRY_NOT_FOUND',
  ],
  [
    'the folder of main',
    { 'busbar.config.json': config, 'a/package.json': { main: 'dist/main.js' }, 'a/dist/main.js': '' },
    'a/dist',
    'SERVICE_ENTRY_NOT_FOUND',
  ],
]

describe('a path that the user may not read is said to be so', { skip: process.platform === 'win32' }, () => {
  for (const [what, files, forbidden, code] of cases)
    it(`if it is ${what}`, () => {
      using folder = new TestFolder(files)
      chmodSync(folder.path, 0o755)
      folder.forbid(forbidden)
      const args = ['--conditions=busbar-source', '--input-type=module', '-e', script, module.href, folder.path]
      const out = execFileSync(process.execPath, args, { ...user, cwd: '/', encoding: 'utf8' })
      chmodSync(folder.at(forbidden), 0o755)
      const error = JSON.parse(out) as { code: string; message: string; hint?: string }
      assert.equal(error.code, code, error.message)
      assert.match(error.message, /EACCES: permission denied/)
      assert.ok(error.message.includes(folder.at(forbidden)), error.message)
      if (code !== 'CONFIG_UNREADABLE') assert.match(error.hint ?? '', /permit (?:that|the) user .*to read/i)
    })
})
