import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { findSockets, runtimeFolder } from '../../../src/supervisor/admin/admin-socket.ts'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `
require('node:http').createServer((request, response) => {
  if (request.url === '/loop') for (;;);
  if (request.url === '/throw') setImmediate(() => { throw new Error('thrown \\u001b[31mon purpose') })
  else response.end('ok')
}).listen(3000)`

const files = {
  'busbar.config.json': {
    gateway: { port: 0, routes: { '/web': 'web', '/render': 'render', '/billing': 'billing' } },
    services: {
      web: { path: './web', run: 'shared' },
      render: { path: './render', instances: 2 },
      billing: { path: './billing', run: 'process' },
    },
  },
  'web/index.js': program,
  'render/index.js': program,
  'billing/index.js': program,
}

/** A running app, with a runtime folder of its own. */
class RunningApp implements AsyncDisposable {
  readonly folder: TestFolder
  readonly env: { readonly XDG_RUNTIME_DIR: string }
  readonly busbar: BusbarProcess

  constructor(services: object = {}) {
    const config = files['busbar.config.json']
    const more = { ...config, services: { ...config.services, ...services } }
    this.folder = new TestFolder({ ...files, 'busbar.config.json': more })
    this.env = { XDG_RUNTIME_DIR: this.folder.at('run') }
    this.busbar = new BusbarProcess(['start', this.folder.path, '--once'], { env: this.env })
  }

  ps(...args: string[]): Promise<Ended> {
    return BusbarProcess.run(['ps', this.folder.path, ...args], { env: this.env })
  }

  async status(): Promise<AppStatus> {
    const { stdout } = await this.ps('--json')
    return (JSON.parse(stdout) as { runs: AppStatus[] }).runs[0]!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.busbar[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

describe('busbar ps', () => {
  test('shows each instance of a running app, its placement and state', async () => {
    await using app = new RunningApp()
    const url = await app.busbar.url()
    for (const service of ['web', 'render', 'billing']) await (await fetch(`${url}/${service}/`)).text()
    // On an overloaded machine a worker may be silent for a second, and is then called blocked.
    let ended = await app.ps()
    while (/blocked for/.test(ended.stdout)) ended = await app.ps()
    const { code, stdout, stderr } = ended
    assert.deepEqual([code, stderr], [0, ''])
    const [title, , head, ...rows] = stdout.trimEnd().split('\n')
    assert.match(title!, new RegExp(`${app.folder.path}, process ${app.busbar.child.pid}, up \\d+ s$`))
    assert.deepEqual(head!.split(/ {2,}/), [
      'service',
      '#',
      'runs in',
      'state',
      'cpu',
      'memory',
      'loop',
      'calls/s',
      'in flight',
      'restarts',
    ])
    assert.deepEqual(
      rows.map((row) => row.split(/ {2,}/).slice(0, 4)),
      [
        ['web', '0', 'shared 0', 'serving'],
        ['render', '0', 'render 0', 'serving'],
        ['render', '1', 'render 1', 'serving'],
        ['billing', '0', rows[3]!.split(/ {2,}/)[2], 'serving'],
      ],
    )
    assert.match(rows[3]!, /process \d+ /)
  })

  test('shows a spare below its worker', async () => {
    await using app = new RunningApp({ render: { path: './render', spare: true } })
    await app.busbar.url()
    while ((await app.status()).workers.find(({ name }) => name === 'render')?.spare?.state !== 'ready');
    const { stdout } = await app.ps()
    const rows = stdout.trimEnd().split('\n').slice(3)
    assert.deepEqual(rows.map((row) => row.split(/ {2,}/).slice(0, 4)).slice(1, 3), [
      ['render', '0', 'render', 'serving'],
      ['render', '0', 'render', 'spare'],
    ])
  })

  test('prints the status of the app as JSON, with all calls counted', async () => {
    await using app = new RunningApp()
    const url = await app.busbar.url()
    for (let call = 0; call < 4; call++) await (await fetch(`${url}/render/`)).text()
    const { app: about, workers, instances, calls } = await app.status()
    assert.equal(about.pid, app.busbar.child.pid)
    assert.deepEqual(
      workers.map(({ name, kind }) => [name, kind]),
      [
        ['shared 0', 'shared'],
        ['render 0', 'thread'],
        ['render 1', 'thread'],
        ['billing', 'process'],
      ],
    )
    assert.deepEqual(
      instances.filter(({ service }) => service === 'render').map(({ calls }) => calls),
      [2, 2],
    )
    assert.deepEqual(
      calls.map(({ caller, callee, count }) => [caller, callee, count]),
      [['', 'render', 4]],
    )
  })

  test('shows a blocked worker while its service blocks the thread', async () => {
    await using app = new RunningApp()
    const url = await app.busbar.url()
    // A share of a processor needs two readings.
    while ((await app.status()).workers.some(({ cpu, memory }) => cpu === null || memory === null));
    const stuck = fetch(`${url}/render/loop`).catch(() => {})
    let row: string | undefined
    while (row === undefined) row = (await app.ps()).stdout.split('\n').find((line) => line.includes('blocked for'))
    assert.match(row, /^render +[01] +render [01] +blocked for \d+ s +\d+ % .+ 100 % +[01] +1 +0$/)
    const { workers } = await app.status()
    assert.equal(workers.filter(({ state }) => state === 'blocked').length, 1)
    await app.busbar[Symbol.asyncDispose]()
    await stuck
  })

  test('shows how often a worker was restarted, and the last cause', async () => {
    await using app = new RunningApp()
    const url = await app.busbar.url()
    await fetch(`${url}/web/throw`).catch(() => {})
    await app.busbar.message('serves again')
    const { stdout } = await app.ps()
    // The message may hold what a client has sent.
    assert.match(stdout, /^web .+ 1, last: .*thrown \\u001b\[31mon purpose$/m)
  })

  test('shows two runs of one app separately', async () => {
    await using app = new RunningApp()
    await using second = new BusbarProcess(['start', app.folder.path, '--once'], { env: app.env })
    await Promise.all([app.busbar.url(), second.url()])
    const { stdout } = await app.ps('--json')
    const { runs } = JSON.parse(stdout) as { runs: AppStatus[] }
    assert.deepEqual(new Set(runs.map((run) => run.app.pid)), new Set([app.busbar.child.pid, second.child.pid]))
  })
})

describe('busbar ps of an app that does not run', () => {
  test('reports that no app runs, also after one was killed', async () => {
    await using app = new RunningApp()
    await app.busbar.url()
    const [socket] = findSockets(runtimeFolder(app.env), app.folder.path)
    app.busbar.child.kill('SIGKILL')
    await app.busbar.ended
    assert.ok(existsSync(socket!.path))
    const { code, stdout, stderr } = await app.ps()
    assert.deepEqual([code, stdout], [4, ''])
    assert.match(stderr, /no app runs in .+ \(APP_NOT_RUNNING\)/)
  })

  test('reports an app that does not answer', async () => {
    using folder = new TestFolder({ 'index.js': program })
    const env = { XDG_RUNTIME_DIR: folder.at('run') }
    folder.write('run/busbar/.keep', '')
    const { claimSocket } = await import('../../../src/supervisor/admin/admin-socket.ts')
    const path = await claimSocket(runtimeFolder(env), folder.path)
    const silent = createServer((socket) => void socket.resume()).listen(path)
    await once(silent, 'listening')
    const { code, stderr } = await BusbarProcess.run(['ps', folder.path], { env })
    assert.equal(code, 4)
    assert.match(stderr, new RegExp(`process ${process.pid}\\) does not answer`))
    silent.close()
    await once(silent, 'close')
  })
})
