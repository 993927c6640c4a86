/** Commands: programs that are started by a command line and listen on a port of their own. */
import { hasCommand } from '../../support/has-command.ts'
import { freePort } from '../../support/http/free-ports.ts'
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { mock, test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { BusbarError } from '../../../src/contract/errors.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { behindEntrance, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { runs } from '../../support/app/process-table.ts'

const posix = process.platform !== 'win32'
const node = JSON.stringify(process.execPath)

/** Answers with its own process ID and that of a child. */
const program = `
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
process.on('SIGTERM', () => { console.log('asked to stop'); process.exit() })
require('node:http')
  .createServer((request, response) => response.end(JSON.stringify({ pids: [process.pid, child.pid], url: request.url, arg: process.argv[2] })))
  .listen(process.env.PORT, '127.0.0.1')`

interface PagesResponse {
  readonly pids: number[]
  readonly url: string
  readonly arg: string
}

const config = (command: string, more: object = {}): object => ({
  gateway: { port: 0, routes: { '/pages': 'pages' } },
  services: { pages: { path: './pages', command, ...more } },
})

async function started(folder: TestFolder): Promise<TestApp> {
  return await TestApp.startLoaded(behindEntrance(await loadApp(folder.path, { env: {} })))
}

test('a command answers by name and through the gateway, on its port', async () => {
  using folder = new TestFolder({ 'pages/index.js': program, 'busbar.config.json': config(`${node} index.js $PORT`) })
  await using app = await started(folder)
  const said = await get(app)
  assert.equal(said.url, '/x')
  assert.match(said.arg, /^\d+$/)
  assert.equal(app.running.workers.find(({ kind }) => kind === 'command')?.pid, said.pids[0])
})

test('a command gets SIGTERM, and its children end with it', async () => {
  using folder = new TestFolder({ 'pages/index.js': program, 'busbar.config.json': config(`${node} index.js`) })
  const app = await started(folder)
  const { pids } = await get(app)
  await app.running.stop()
  assert.ok(app.log.some(({ line, service }) => line === 'asked to stop' && service === 'pages'))
  await untilGone(pids)
})

test('a killed command is restarted, and nothing is left of the previous one', async () => {
  using folder = new TestFolder({ 'pages/index.js': program, 'busbar.config.json': config(`${node} index.js`) })
  await using app = await started(folder)
  const before = await get(app)
  const { worker } = app.running.workers.find(({ kind }) => kind === 'command')!
  process.kill(before.pids[0]!, 'SIGKILL')
  const { lastExit } = await app.untilReplaced(worker)
  assert.equal(lastExit?.why, 'signal')
  await untilGone(before.pids)
  assert.notDeepEqual((await get(app)).pids, before.pids)
})

test('a command with a configured port is replaced by one on the same port', async () => {
  const port = await freePort()
  const fixed = program.replace('process.env.PORT', String(port))
  using folder = new TestFolder({ 'pages/index.js': fixed, 'busbar.config.json': config(`${node} index.js`, { port }) })
  await using app = await started(folder)
  const before = await get(app)
  await app.running.replace()
  await untilGone(before.pids)
  assert.notDeepEqual((await get(app)).pids, before.pids)
})

const failures = {
  PROGRAM_EXITED: `${node} -e 'process.exit(3)'`,
  PROGRAM_START_TIMEOUT: `${node} -e 'setInterval(() => {}, 1000)'`,
  PROGRAM_THREW: 'no-such-program-anywhere',
} as const

for (const [code, command] of Object.entries(failures))
  test(`a command that cannot start fails the start with ${code}`, async () => {
    const more = { startTimeout: '1500ms' }
    using folder = new TestFolder({ 'pages/page.html': '', 'busbar.config.json': config(command, more) })
    await assert.rejects(
      started(folder),
      (error) => BusbarError.is(error) && error.code === code && error.service === 'pages',
    )
  })

test('a command that does not listen where it should is told of `port`, or of the one that is stated', async () => {
  const fixed = await freePort()
  const listens = `${node} -e "require('http').createServer().listen(${fixed})"`
  for (const [more, hint] of [
    [{}, /environment variable PORT.*If it listens on a fixed port, set services\.pages\.port/],
    [{ port: await freePort() }, /^It must listen on the port that services\.pages\.port states/],
  ] as const) {
    const written = config(listens, { startTimeout: '1500ms', ...more })
    using folder = new TestFolder({ 'pages/page.html': '', 'busbar.config.json': written })
    await assert.rejects(started(folder), (error) => BusbarError.is(error) && hint.test(error.hint ?? ''))
  }
})

test('a program in another language is a service', { skip: !hasCommand('python3') }, async () => {
  const command = 'python3 -m http.server --bind 127.0.0.1 $PORT'
  using folder = new TestFolder({ 'pages/page.txt': 'from python', 'busbar.config.json': config(command) })
  await using app = await started(folder)
  assert.equal(await (await fetch(`${app.url}/pages/page.txt`)).text(), 'from python')
})

test('a command that listens on both loopback addresses is reached over IPv4, whenever it begins', async () => {
  const port = await freePort()
  const { connect } = Socket.prototype as unknown as { connect: (this: Socket, ...args: unknown[]) => Socket }
  const mocked = mock.method(Socket.prototype, 'connect', function (this: Socket, ...args: unknown[]) {
    const [{ host, port: to }] = args[0] as [{ host?: string; port?: number }]
    // Between the attempts on the one address and on the other.
    if (host === '::1' && to === port && !dual.listening) dual.listen(port)
    return Reflect.apply(connect, this, args)
  })
  const dual = createServer((request, response) => response.end(request.socket.remoteAddress))
  using folder = new TestFolder({
    'busbar.config.json': config(`${node} -e "setInterval(() => {}, 1000)"`, { port, path: '.' }),
  })
  try {
    await using app = await started(folder)
    assert.equal(await (await fetch(`${app.url}/pages`)).text(), '::ffff:127.0.0.1')
  } finally {
    mocked.mock.restore()
    dual.close()
  }
})

test(
  'nothing is left when Busbar itself is killed, not even of what is stopped or deaf',
  { skip: !posix },
  async () => {
    const deaf = `process.on('SIGTERM', () => {}); ${program.replace(/process\.on.*\n/, '')}`
    using folder = new TestFolder({
      'pages/index.js': deaf,
      'web/index.js': `require('node:http').createServer((_, res) => res.end(String(process.pid))).listen(3000)`,
      'busbar.config.json': {
        gateway: { port: 0 },
        services: { pages: { path: './pages', command: `${node} index.js` }, web: { path: './web', run: 'process' } },
      },
    })
    await using busbar = new BusbarProcess(['start', folder.path], { env: { TMPDIR: folder.path } })
    const url = await busbar.url()
    const { pids } = (await (await fetch(`${url}/pages`)).json()) as PagesResponse
    const web = Number(await (await fetch(`${url}/web`)).text())
    process.kill(web, 'SIGSTOP')
    busbar.child.kill('SIGKILL')
    await busbar.ended
    await untilGone([...pids, web])
    await until(() => readdirSync(folder.path).every((name) => !name.startsWith('busbar-links-')))
  },
)

async function get(app: TestApp): Promise<PagesResponse> {
  return (await (await fetch(`${app.url}/pages/x`, { headers: { connection: 'close' } })).json()) as PagesResponse
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(() => pids.every((pid) => !runs(pid)))
}

/** Polls: the end of a foreign process is no event. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20)
}
