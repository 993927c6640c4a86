import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const config = {
  defaults: { run: 'shared' },
  gateway: { port: 0, entry: 'web' },
  services: { web: { path: './web', needs: ['stock'] }, stock: './stock' },
}

const web = `
const http = require('node:http')
http.createServer(async (request, response) => {
  console.log('asked for ' + request.url)
  response.end(await (await fetch('http://stock.internal/')).text())
}).listen(3000)`

const stock = `
const http = require('node:http')
const server = http.createServer((request, response) => response.end('in stock')).listen(3001)
process.on('SIGTERM', () => { console.log('stock was told to stop'); server.close() })`

const app = { 'busbar.config.json': config, 'web/index.js': web, 'stock/index.js': stock }

test('an app starts, prints its addresses and placements, answers, and exits with 0 at SIGINT', async () => {
  using folder = new TestFolder(app)
  await using busbar = new BusbarProcess(['start', folder.path, '--workers', '2'])
  const url = await busbar.url()
  const event = await busbar.event(({ addresses }) => addresses !== undefined)
  assert.equal(event['msg'], `${folder.path.split('/').at(-1)} serves at ${url}`)
  assert.deepEqual(event['services'], [
    { name: 'stock', runs: 'shared, 2 workers' },
    { name: 'web', runs: 'shared, 2 workers' },
  ])
  assert.equal(event['stop'], 'SIGINT or SIGTERM')
  assert.equal(await (await fetch(`${url}/books`)).text(), 'in stock')
  const line = await busbar.message('asked for /books')
  assert.equal(line['service'], 'web')
  busbar.child.kill('SIGINT')
  const { code, stdout, stderr } = await busbar.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /stock was told to stop[\s\S]+"msg":"stopped"\}\n$/)
})

for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  test(`${signal} stops an app with exit code 0`, async () => {
    using folder = new TestFolder(app)
    await using busbar = new BusbarProcess(['start', folder.path])
    await busbar.url()
    busbar.child.kill(signal)
    assert.equal((await busbar.ended).code, 0)
  })

const lingering = `
require('node:http').createServer((request, response) => response.write('begun')).listen(3000)`

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`a second ${signal} ends the app at once with ${code}, unless it comes directly after the first`, async () => {
    using folder = new TestFolder({ 'index.js': lingering })
    await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
    const response = await fetch(await busbar.url())
    const broken = response.text().catch(() => 'broken')
    // npm and the terminal both deliver the signal: neither may end the in-flight request.
    busbar.child.kill(signal)
    busbar.child.kill(signal)
    await busbar.message(`${signal}: stopping`)
    const again = setInterval(() => busbar.child.kill(signal), 50)
    const ended = await busbar.ended
    clearInterval(again)
    assert.equal(ended.code, code)
    assert.equal(await broken, 'broken')
  })

test('a signal during the start exits with 0', async () => {
  using folder = new TestFolder({ 'index.js': `console.log('loading'); setInterval(() => {}, 1000)` })
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  await busbar.message('loading')
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test('a single program runs by its file, and flags override the config', async () => {
  using folder = new TestFolder({ 'only.js': stock })
  await using busbar = new BusbarProcess(['start', 'only.js', '-p', '0', '-w', '2'], { cwd: folder.path })
  assert.equal(await (await fetch(await busbar.url())).text(), 'in stock')
})

test('a program that throws fails the start with 1, and its stack is printed and logged', async () => {
  using folder = new TestFolder({
    ...app,
    'stock/index.js': `function open() { throw new TypeError('no such database') }\nopen()`,
  })
  const { code, stdout, stderr } = await BusbarProcess.run(['start', folder.path])
  assert.equal(code, 1)
  assert.match(stderr, /^busbar: .*stock.*\(PROGRAM_THREW\)\n/)
  assert.match(stderr, /TypeError: no such database\n\s+at open \(.*stock\/index\.js:1:25\)/)
  assert.ok(!/node:internal|src\/worker/.test(stderr), stderr)
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<string, unknown>
  assert.deepEqual([last['level'], last['code'], last['service']], [60, 'PROGRAM_THREW', 'stock'])
})

test('an invalid config exits with 3, without a stack', async () => {
  using folder = new TestFolder({ 'busbar.config.json': { ...config, wokers: 2 } })
  const { code, stderr } = await BusbarProcess.run(['start', folder.path])
  assert.equal(code, 3)
  assert.match(stderr, /wokers[\s\S]*workers/)
  assert.ok(!stderr.includes('    at '), stderr)
})

test('a port in use exits with 1 and names the port', async () => {
  using folder = new TestFolder(app)
  await using first = new BusbarProcess(['start', folder.path])
  const { port } = new URL(await first.url())
  const { code, stderr } = await BusbarProcess.run(['start', folder.path, '--port', port])
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`${port}.*\\(PORT_IN_USE\\)`))
})

test('entries below the log level are dropped', async () => {
  using folder = new TestFolder(app)
  await using busbar = new BusbarProcess(['start', folder.path, '--log-level', 'trace'])
  const url = await busbar.url()
  await (await fetch(url)).text()
  await busbar.message('asked for')
  const quiet = new TestFolder({ 'index.js': `${stock}\nconsole.log('not this'); console.error('but this')` })
  await using other = new BusbarProcess(['start', quiet.path, '-p', '0', '--log-level', 'error'])
  await other.message('but this')
  assert.deepEqual(
    other.events.map(({ msg }) => msg),
    ['but this'],
  )
  quiet[Symbol.dispose]()
})

test('an app goes on when the reader of its standard output has gone', async () => {
  using folder = new TestFolder(app)
  await using busbar = new BusbarProcess(['start', folder.path])
  const url = await busbar.url()
  busbar.child.stdout!.destroy()
  for (let call = 0; call < 3; call++) assert.equal(await (await fetch(url)).text(), 'in stock')
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test('an app answers while the reader of its standard output is stalled', async () => {
  const talkative = `require('node:http').createServer((request, response) => {
    for (let line = 0; line < 2000; line++) console.log('x'.repeat(1000))
    response.end('said')
  }).listen(3000)`
  using folder = new TestFolder({ 'index.js': talkative })
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  const url = await busbar.url()
  busbar.child.stdout!.pause()
  for (let call = 0; call < 5; call++) assert.equal(await (await fetch(url)).text(), 'said')
  busbar.child.stdout!.resume()
  await busbar.message('log lines dropped')
})

const script = '/usr/bin/script'

test(
  'on a terminal it shows address, services and how to stop it, in colour',
  { skip: !existsSync(script) && 'no script(1) to make a terminal' },
  async () => {
    using folder = new TestFolder({
      ...app,
      'web/index.js': `${web}\nsetTimeout(() => require('node:child_process').exec('kill -INT ' + process.pid), 500)`,
    })
    const entry = fileURLToPath(new URL('../../support/busbar.ts', import.meta.url))
    const line = [process.execPath, '--conditions=busbar-source', entry, 'start', folder.path]
      .map((word) => `'${word}'`)
      .join(' ')
    const { promise, resolve } = Promise.withResolvers<string>()
    execFile(
      script,
      ['-qec', line, '/dev/null'],
      { env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, CI: undefined, TERM: 'xterm' } },
      (_error, stdout) => resolve(stdout),
    )
    const shown = await promise
    assert.ok(shown.includes('\u001B[32mhttp://127.0.0.1:'), shown)
    assert.match(shown, /stock.*shared, 1 worker.*stock\/index\.js/)
    assert.match(shown, /Ctrl-C stops it/)
    assert.match(shown, /busbar SIGINT: stopping/)
  },
)

test(
  'without a folder for temporary files it says why services cannot start',
  { skip: process.platform === 'win32' },
  async () => {
    using folder = new TestFolder(app)
    await using busbar = new BusbarProcess(['start', folder.path, '--run', 'process'], {
      // A file, so that not even root can create a folder there.
      env: { TMPDIR: folder.at('web/index.js') },
    })
    const { code, stderr } = await busbar.ended
    assert.equal(code, 3)
    assert.match(stderr, /need a folder for their sockets.+\(PLACEMENT_UNSUPPORTED\)\n {2}hint: Set TMPDIR/)
    const long = folder.at('x'.repeat(90))
    const other = await BusbarProcess.run(['start', folder.path], { env: { TMPDIR: long } })
    assert.match(other.stderr, /the path is too long: .*\(PLACEMENT_UNSUPPORTED\)/)
  },
)
