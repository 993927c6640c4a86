import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'

/** Copies its source into `dist`, and appends its name to the file `order` of the app. */
const builder = `
const fs = require('node:fs')
fs.mkdirSync('dist', { recursive: true })
fs.copyFileSync('source.js', 'dist/index.js')
fs.appendFileSync('../order', require('node:path').basename(process.cwd()) + ' ' + process.env.MODE + '\\n')`

const program = `require('node:http').createServer((_, response) => response.end('built')).listen(3000)`

const files: Files = {
  'busbar.config.json': {
    gateway: { port: 0, entry: 'web' },
    defaults: { env: { MODE: 'm' } },
    services: {
      web: { path: './web', needs: ['stock'] },
      stock: { path: './stock', build: 'node build.js' },
      plain: './plain',
    },
  },
  'web/package.json': {
    main: 'dist/index.js',
    scripts: { prebuild: 'node -e 0', build: 'node build.js && node -e 0' },
  },
  'web/build.js': builder,
  'web/source.js': program,
  'stock/package.json': { main: 'dist/index.js' },
  'stock/build.js': builder,
  'stock/source.js': program,
  'plain/index.js': program,
}

test('start refuses an app whose services are not built, by their names', async () => {
  using folder = new TestFolder(files)
  const { code, stderr } = await BusbarProcess.run(['start', folder.path])
  assert.equal(code, 3)
  assert.match(stderr, /SERVICE_NOT_BUILT: service 'web' is not built: .*dist\/index\.js/)
  assert.match(stderr, /SERVICE_NOT_BUILT: service 'stock' is not built/)
  assert.match(stderr, /Run busbar build\./)
})

test('build builds each service that has a build, those that others need first; then start runs', async () => {
  using folder = new TestFolder(files)
  const { code, stdout } = await BusbarProcess.run(['build', folder.path, '--json'])
  assert.equal(code, 0)
  const { built } = JSON.parse(stdout) as { built: { service: string; command: string }[] }
  assert.deepEqual(
    built.map(({ service, command }) => [service, command]),
    [
      ['stock', 'node build.js'],
      ['web', 'scripts.build: node build.js && node -e 0'],
    ],
  )
  assert.equal(folder.read('order'), 'stock m\nweb m\n')
  await using busbar = new BusbarProcess(['start', folder.path])
  assert.equal(await (await fetch(await busbar.url())).text(), 'built')
})

test('a build that fails is named, and the services after it are not built', async () => {
  using folder = new TestFolder({ ...files, 'stock/build.js': 'console.error("no"); process.exit(7)' })
  const { code, stderr } = await BusbarProcess.run(['build', folder.path])
  assert.equal(code, 1)
  assert.match(stderr, /^no$/m)
  assert.match(stderr, /the build of service 'stock' \(node build\.js\) failed: exit code 7/)
  assert.match(stderr, /BUILD_FAILED/)
})

test('a build that creates no entry is refused', async () => {
  using folder = new TestFolder({ ...files, 'stock/build.js': '' })
  const { code, stderr } = await BusbarProcess.run(['build', folder.path])
  assert.equal(code, 3)
  assert.match(stderr, /SERVICE_NOT_BUILT: service 'stock'|service 'stock' is not built/)
})

test("a command's missing build.output is refused by name", async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      services: { pages: { command: 'node server.js', path: './pages', build: { command: 'true', output: '.next' } } },
    },
    'pages/server.js': program,
  })
  const { code, stderr } = await BusbarProcess.run(['check', folder.path])
  assert.equal(code, 3)
  assert.match(stderr, /service 'pages' is not built: .*\.next \(build\.output\) does not exist/)
})
