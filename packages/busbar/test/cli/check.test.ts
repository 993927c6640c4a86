import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckReport } from '../../src/cli/commands/check.ts'
import { acceleratorNames, acceleratorsText } from '../../src/shared/accelerators.ts'
import { isWanted } from '../support/mesh/wanted-accelerators.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const whyOff = (name: string): string =>
  name === 'batch-writes'
    ? 'gateway.batchWrites does not ask for it'
    : 'the config or BUSBAR_ACCELERATORS leaves it out'

const accelerators = isWanted('stream')
  ? 'on: exchange, stream, handover; off: batch-writes (gateway.batchWrites does not ask for it)'
  : acceleratorsText(acceleratorNames.map((name) => ({ name, on: false, why: whyOff(name) })))

const program = `throw new Error('check must not start it')`

const files = {
  'busbar.config.json': {
    workers: 2,
    defaults: { run: 'shared' },
    gateway: { port: 3999, routes: { '/shop': 'web' }, entry: 'stock' },
    services: { web: { path: './web', needs: ['stock'] }, stock: { path: './stock', expose: 3998 } },
  },
  'web/package.json': { scripts: { start: 'node src/main.js' } },
  'web/src/main.js': program,
  'stock/index.js': program,
}

test('prints the plan as an aligned table and starts nothing', async () => {
  using folder = new TestFolder(files)
  const { code, stdout, stderr } = await BusbarProcess.run(['check', folder.path])
  assert.deepEqual([code, stderr], [0, ''])
  const name = folder.path.split('/').at(-1)
  assert.equal(
    stdout,
    `${name} ${folder.path}/busbar.config.json

service  runs               entry            found by       address                routes   needs
stock    shared, 2 workers  stock/index.js   index.js       http://stock.internal  /*       –
web      shared, 2 workers  web/src/main.js  scripts.start  http://web.internal    /shop/*  stock

http://127.0.0.1:3999  stock, /shop → web
http://127.0.0.1:3998  stock

accelerators ${accelerators}
`,
  )
})

test('shows services of other apps, also if there are no others', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 3999, entry: 'far' },
      services: {
        far: { remote: ['tcp://10.0.0.7:7001', 'tcp://[::1]:7002'], versions: { '1': 90, '2': 10 } },
        near: { remote: 'tcp://10.0.0.7:7001' },
      },
    },
  })
  const { stdout } = await BusbarProcess.run(['check', folder.path])
  const lines = stdout.split('\n').slice(1, 6)
  assert.deepEqual(lines, [
    '',
    'remote service  address                               versions',
    'far             tcp://10.0.0.7:7001 tcp://[::1]:7002  1: 90, 2: 10',
    'near            tcp://10.0.0.7:7001                   –',
    '',
  ])
  const { remotes } = JSON.parse((await BusbarProcess.run(['check', folder.path, '--json'])).stdout) as CheckReport
  assert.deepEqual(remotes[1], { service: 'near', addresses: ['tcp://10.0.0.7:7001'], versions: null })
})

test('marks routes that forward the path unchanged', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { routes: { '/shop': { service: 'web', strip: false }, '/api': { service: 'web' } } },
      services: { web: './web' },
    },
    'web/index.js': program,
  })
  const { stdout } = await BusbarProcess.run(['check', folder.path])
  assert.match(stdout, / \/shop\/\* \(strip: false\) \/api\/\* /)
  assert.match(stdout, /\/shop → web \(strip: false\), \/api → web$/m)
  const report = JSON.parse((await BusbarProcess.run(['check', folder.path, '--json'])).stdout)
  assert.deepEqual(report.services[0].routes, ['/shop/*', '/api/*'])
  assert.deepEqual(report.services[0].unstripped, ['/shop/*'])
})

test('prints the plan as JSON in a stable shape', async () => {
  using folder = new TestFolder(files)
  const { code, stdout } = await BusbarProcess.run(['check', folder.path, '--json', '--workers', '3'])
  assert.equal(code, 0)
  const { entrance, ...report } = JSON.parse(stdout) as Record<string, unknown> & { entrance: { uses: string } }
  assert.equal(entrance.uses, 'portable')
  assert.deepEqual(report, {
    ok: true,
    app: { name: folder.path.split('/').at(-1), root: folder.path, config: folder.at('busbar.config.json') },
    workers: 3,
    places: [0, 1, 2].map((worker) => ({ name: `shared ${worker}`, kind: 'shared', hosts: ['stock', 'web'] })),
    accept: 'balanced',
    listeners: [
      { id: 'gateway', url: 'http://127.0.0.1:3999', serves: 'stock, /shop → web' },
      { id: 'expose:stock', url: 'http://127.0.0.1:3998', serves: 'stock' },
    ],
    services: [
      {
        name: 'stock',
        run: 'shared',
        group: null,
        instances: 3,
        path: folder.at('stock'),
        entry: folder.at('stock/index.js'),
        foundBy: 'index.js',
        address: 'http://stock.internal',
        routes: ['/*'],
        unstripped: [],
        needs: [],
      },
      {
        name: 'web',
        run: 'shared',
        group: null,
        instances: 3,
        path: folder.at('web'),
        entry: folder.at('web/src/main.js'),
        foundBy: 'scripts.start',
        address: 'http://web.internal',
        routes: ['/shop/*'],
        unstripped: [],
        needs: ['stock'],
      },
    ],
    remotes: [],
    accelerators: acceleratorNames.map((name) => ({
      name,
      on: isWanted(name),
      why: isWanted(name) ? null : whyOff(name),
    })),
    warnings: [],
  })
})

test('prints warnings as a table and as JSON', async () => {
  using folder = new TestFolder({ ...files, 'web/src/main.js': `require('node:cluster')` })
  const table = await BusbarProcess.run(['check', folder.path])
  assert.equal(table.code, 0)
  assert.match(table.stdout, /\nwarning: .*\(CLUSTER\)\n {2}hint: /)
  const { warnings } = JSON.parse((await BusbarProcess.run(['check', folder.path, '--json'])).stdout) as {
    warnings: { code: string }[]
  }
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['CLUSTER'],
  )
})

test('exits with 3 for an invalid config, also with --json', async () => {
  using folder = new TestFolder({ ...files, 'busbar.config.json': { services: { web: './nowhere' } } })
  const { code, stdout, stderr } = await BusbarProcess.run(['check', folder.path, '--json'])
  assert.equal(code, 3)
  const { ok, error } = JSON.parse(stdout) as { ok: boolean; error: { code: string; message: string } }
  assert.deepEqual([ok, error.code], [false, 'SERVICE_NOT_FOUND'])
  assert.match(stderr, /\(SERVICE_NOT_FOUND\)/)
})

test('does not fail when the reader closes the pipe after the first line', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['check', folder.path])
  busbar.child.stdout!.destroy()
  const { code, stderr } = await busbar.ended
  assert.deepEqual([code, stderr], [0, ''])
})

test('reports a config whose loading never settles', async () => {
  for (const text of ['export default new Promise(() => {})', 'await new Promise(() => {})\nexport default {}']) {
    using folder = new TestFolder({ 'busbar.config.mjs': text })
    for (const command of ['check', 'start']) {
      const { code, stderr } = await BusbarProcess.run([command, folder.path])
      assert.equal(code, 3, command)
      assert.match(stderr, /awaits a promise that never settles \(CONFIG_UNREADABLE\)/)
    }
  }
})

test('a config that calls process.exit(0) fails a check and a start, after all that it has printed', async () => {
  const lines = "for (let line = 0; line < 3_000; line++) console.log('line ' + line)\n"
  using folder = new TestFolder({ 'busbar.config.mjs': `${lines}process.exit(0)` })
  for (const command of ['check', 'start']) {
    const { code, stdout, stderr } = await BusbarProcess.run([command, folder.path])
    assert.equal(code, 3, command)
    assert.match(stderr, /cannot be read: it calls process\.exit\(0\) \(CONFIG_UNREADABLE\)/)
    assert.match(stdout, /^line 2999$/m)
  }
})

test('says which binary an app with the native entrance would use, or how to get one', async () => {
  const config = { gateway: { port: 3999, entrance: 'native' }, services: { web: './web' } }
  using folder = new TestFolder({ 'busbar.config.json': config, 'web/index.js': program })
  const { code, stdout } = await BusbarProcess.run(['check', folder.path])
  assert.equal(code, 0)
  assert.match(stdout, /entrance native \(.*entrance.*\)|there is no binary .*\n {2}hint: Install @busbar\/entrance-/)
})
test(
  'says that a path which exists is neither a file nor a folder',
  { skip: process.platform === 'win32' },
  async () => {
    const { code, stderr } = await BusbarProcess.run(['check', '/dev/null'])
    assert.equal(code, 3)
    assert.match(stderr, /\/dev\/null is neither a file nor a folder \(CONFIG_NOT_FOUND\)/)
  },
)
