import assert from 'node:assert/strict'
import { existsSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { templateNames } from '../../src/adopt/init/template-names.ts'
import { findServices } from '../../src/adopt/sources/find-sources.ts'
import { BusbarProcess, type Ended } from '../support/app/busbar-process.ts'
import { type Files, folderWithBusbar, TestFolder } from '../support/app/test-folder.ts'
import { server, textAt } from './imported-app.ts'

const require = createRequire(import.meta.url)

function init(folder: TestFolder, ...args: string[]): Promise<Ended> {
  return BusbarProcess.run(['init', ...args], { cwd: folder.path })
}

const answers: Readonly<Record<string, readonly (readonly [path: string, text: string])[]>> = {
  programs: [['/', 'The shop has 12 books\n']],
  typed: [['/api/items', '[{"id":"1","name":"a book"}]']],
  both: [
    ['/', 'a book\n'],
    ['/api/items/1', '{"id":"1","name":"a book"}'],
  ],
}

describe('busbar init in a new folder', () => {
  for (const template of templateNames)
    test(`the template ${template} starts and answers`, async () => {
      using folder = folderWithBusbar({})
      symlinkSync(dirname(require.resolve('zod/package.json')), folder.at('node_modules/zod'))
      const { code, stdout, stderr } = await init(folder, 'my-shop', '--template', template, '--json')
      assert.equal(code, 0, stderr)
      const report = JSON.parse(stdout) as { kind: string; files: string[]; next: string[] }
      assert.deepEqual([report.kind, report.next], ['new', ['cd my-shop', 'npm install', 'npm run dev']])
      assert.ok(report.files.every((file) => existsSync(folder.at('my-shop', file))))
      const manifest = JSON.parse(folder.read('my-shop/package.json')) as {
        name: string
        dependencies: Record<string, string>
      }
      assert.deepEqual([manifest.name, manifest.dependencies['busbar']], ['my-shop', '^0.1.0'])
      const check = await BusbarProcess.run(['check', 'my-shop', '--json'], { cwd: folder.path })
      assert.deepEqual((JSON.parse(check.stdout) as { warnings: object[] }).warnings, [])
      await using app = new BusbarProcess(['start', 'my-shop', '--port', '0'], { cwd: folder.path })
      const url = await app.url()
      for (const [path, text] of answers[template]!) assert.equal(await textAt(url + path), text)
    })

  test('asks nothing without a terminal, and the template is both', async () => {
    using folder = new TestFolder({ '.git/HEAD': '', 'README.md': 'mine' })
    const { code, stdout } = await init(folder)
    assert.equal(code, 0)
    assert.match(stdout, /npm install/)
    assert.match((await init(folder, 'my app', '-t', 'programs')).stdout, /^ {2}cd 'my app'$/m)
    assert.ok(existsSync(folder.at('items/contract.ts')) && existsSync(folder.at('web/index.ts')))
    assert.equal(folder.read('README.md'), 'mine')
  })

  test('refuses an unknown template, a folder with a config, and one without services', async () => {
    using folder = new TestFolder({
      'a/busbar.config.json': {},
      'b/notes.txt': '',
      'c/index.js': server("'c'"),
      file: '',
    })
    assert.match((await init(folder, 'new', '-t', 'all')).stderr, /must be one of programs, typed, both/)
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await init(folder, ...args)
      return `${code} ${stderr}`
    }
    assert.match(await refused('a'), /^2 .*has a busbar\.config\.json already.*\n.*hint: Move it away first\.$/m)
    assert.match(await refused('b'), /^3 .*no service was found/)
    assert.match(await refused('c', '-t', 'both'), /^2 .*a template needs an empty folder/)
    assert.match(await refused('file'), /^2 .*is a file/)
  })
})

const monorepo: Files = {
  'package.json':
    '{\n    "name": "mono",\n    "private": true,\n    "workspaces": ["apps/*", "libs/**", "!libs/old"]\n}\n',
  'apps/web/package.json': { name: '@mono/web', scripts: { start: 'node --no-warnings server.js' } },
  'apps/web/server.js': `require('node:http').createServer(async (request, response) => {
    response.end('web ' + await (await fetch('http://api.internal/')).text())
  }).listen(process.env.PORT ?? 4001)`,
  'apps/api/package.json': { name: '@mono/api', main: 'main.js' },
  'apps/api/main.js': "require('./routes.js').listen(4002)",
  'apps/api/routes.js':
    "module.exports = require('node:http').createServer((request, response) => response.end('api'))",
  'apps/jobs/package.json': { name: '@mono/jobs', scripts: { start: 'node jobs.js' } },
  'apps/jobs/jobs.js': 'setInterval(() => {}, 1000)',
  'libs/text/package.json': { name: '@mono/text', main: 'index.js' },
  'libs/text/index.js': 'module.exports = () => {}',
  'libs/old/package.json': { name: '@mono/old', scripts: { start: 'node old.js' } },
  'libs/old/old.js': server("'old'"),
}

describe('busbar init in an existing folder', () => {
  test('a monorepo: packages with a server become services, libraries and workers do not', async () => {
    using folder = folderWithBusbar(monorepo)
    const { code, stdout, stderr } = await init(folder, '--json')
    assert.equal(code, 0, stderr)
    const report = JSON.parse(stdout) as { kind: string; files: string[] }
    assert.deepEqual([report.kind, report.files], ['existing', ['busbar.config.ts', 'package.json']])
    const config = folder.read('busbar.config.ts')
    assert.match(config, /web: '\.\/apps\/web'/)
    assert.match(config, /api: \{ path: '\.\/apps\/api', expose: 4002 \}/)
    assert.match(config, /\/\/ Left out: jobs: nothing in apps\/jobs\/jobs\.js opens a server/)
    assert.doesNotMatch(config, /libs|mono\//)
    assert.match(
      folder.read('package.json'),
      /^\{\n {4}"name": "mono",[^]*\n {4}"dependencies": \{\n {8}"busbar": "\^0\.1\.0"\n/,
    )
    folder.write('busbar.config.ts', config.replace('4002', '0'))
    await using app = new BusbarProcess(['start', '--port', '0'], { cwd: folder.path })
    assert.equal(await textAt(await app.url()), 'web api')
    assert.equal((await init(folder)).code, 2)
  })

  test('the finder knows workspaces of pnpm, other files before them, and single programs', async () => {
    const found = async (files: Files): Promise<unknown> => {
      using folder = new TestFolder(files)
      const imported = await findServices(folder.path)
      return imported && [imported.kind, Object.keys(imported.config.services!), imported.config.gateway?.port]
    }
    const web = { 'web.js': server("'web'", 4003) }
    const pnpm = { 'pnpm-workspace.yaml': 'packages:\n  - apps/*\n', ...monorepo, 'package.json': {} }
    assert.deepEqual(await found(pnpm), ['workspaces', ['api', 'web'], 4001])
    assert.deepEqual(await found({ ...monorepo, ...web, Procfile: 'web: node web.js' }), [
      'procfile',
      ['web'],
      undefined,
    ])
    assert.deepEqual(await found({ 'package.json': { name: 'one', main: 'web.js' }, ...web }), [
      'program',
      ['one'],
      4003,
    ])
    // A file that cannot be read, or that starts nothing, does not hide the others.
    assert.deepEqual(
      await found({
        'watt.json': '{',
        'ecosystem.json': [{ script: 'job.js' }],
        'job.js': '',
        'package.json': { name: 'app' },
        'index.js': web['web.js'],
      }),
      ['program', ['app'], 4003],
    )
    assert.equal(await found({ 'notes.txt': '' }), undefined)
  })
})
