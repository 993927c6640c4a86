import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findSockets, runtimeFolder } from '../../../src/supervisor/admin/admin-socket.ts'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `require('node:http').createServer((request, response) => response.end('ok')).listen(3000)`

const files = {
  'package.json': { name: 'shop' },
  'busbar.config.json': {
    gateway: { port: 0, routes: { '/web': 'web' } },
    services: { web: { path: './web', env: { GREETING: 'hello', API_TOKEN: 'a secret' } } },
  },
  'web/index.js': program,
}

/** A folder with an app, and a runtime folder that only its commands see. */
class Apps implements Disposable {
  readonly folder: TestFolder
  readonly env: { readonly XDG_RUNTIME_DIR: string; readonly TMPDIR: string }

  constructor(more: Record<string, string | object> = {}) {
    this.folder = new TestFolder({ ...files, ...more })
    this.env = { XDG_RUNTIME_DIR: this.folder.at('run'), TMPDIR: this.folder.path }
  }

  start(...args: string[]): BusbarProcess {
    return new BusbarProcess(['start', ...args], { env: this.env, cwd: this.folder.path })
  }

  run(args: readonly string[], cwd = this.folder.path): Promise<Ended> {
    return BusbarProcess.run(args, { env: this.env, cwd })
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

describe('commands on a running app', () => {
  test('find it by its folder, from within it, and by its name', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    await app.url()
    const places: readonly (readonly [string[], string?])[] = [
      [['describe']],
      [['describe'], apps.folder.at('web')],
      [['describe', apps.folder.path], '/'],
      [['describe', apps.folder.at('busbar.config.json')], '/'],
      [['describe', 'shop'], '/'],
    ]
    for (const [args, cwd] of places) {
      const { code, stdout, stderr } = await apps.run([...args, '--json'], cwd)
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
      assert.equal((JSON.parse(stdout) as { root: string }).root, apps.folder.path)
    }
  })

  test('refuse a name that apps of several folders have', async () => {
    using apps = new Apps({ 'other/package.json': { name: 'shop' }, 'other/index.js': program })
    await using one = apps.start('--once')
    await using other = apps.start('--once', '--port', '0', apps.folder.at('other'))
    await Promise.all([one.url(), other.url()])
    for (const command of ['describe', 'stop']) {
      const { code, stderr } = await apps.run([command, 'shop'], '/')
      assert.equal(code, 2, command)
      assert.match(stderr, /2 apps are named shop \(USAGE\)\n  hint: Give the folder of one: /)
    }
    // One that does not answer has the name, too.
    other.child.kill('SIGSTOP')
    assert.equal((await apps.run(['describe', 'shop'], '/')).code, 2)
    other.child.kill('SIGCONT')
    assert.equal((await apps.run(['stop', apps.folder.at('other')], '/')).code, 0)
  })

  test('a second start in the background says that the app runs already, if it has the port', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    const { port } = new URL(await app.url())
    const { code, stderr } = await apps.run(['start', '-d', '--port', port])
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`\\(PORT_IN_USE\\)\\n  hint: The app runs already, as process ${app.child.pid}: `))
  })

  test('find the run of a program by its file, among others of its folder', async () => {
    using apps = new Apps({ 'jobs/one.js': program, 'jobs/two.js': program })
    const start = (file: string): BusbarProcess => apps.start('--once', '--port', '0', apps.folder.at('jobs', file))
    await using one = start('one.js')
    await using two = start('two.js')
    await Promise.all([one.url(), two.url()])
    let listed = 'does not answer'
    // Within 2 s, which an overloaded machine may exceed.
    while (listed.includes('does not answer')) listed = (await apps.run(['ps'])).stdout
    for (const file of ['one.js', 'two.js'])
      assert.match(listed, new RegExp(` ${apps.folder.at(`jobs/${file}`)}$`, 'm'))
    const stopped = await apps.run(['stop', 'jobs/one.js', '--json'])
    assert.deepEqual(pidsIn(stopped), [one.child.pid])
    assert.equal((await apps.run(['stop', 'jobs/one.js'])).code, 4)
    assert.deepEqual(pidsIn(await apps.run(['stop', 'two.js', '--json'], apps.folder.at('jobs'))), [two.child.pid])
  })

  test('of another runtime folder are not seen', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    await app.url()
    const { code, stdout, stderr } = await BusbarProcess.run(['stop', apps.folder.path, '--json'], {
      env: { XDG_RUNTIME_DIR: apps.folder.at('other') },
    })
    assert.equal(code, 4)
    assert.match(stderr, /no app runs in/)
    const { ok, error } = JSON.parse(stdout) as { ok: boolean; error: { code: string } }
    assert.deepEqual([ok, error.code], [false, 'APP_NOT_RUNNING'])
    assert.equal((await fetch(`${await app.url()}/web/`)).status, 200)
  })

  test('ask which run is meant if there are several', async () => {
    using apps = new Apps()
    await using first = apps.start('--once')
    await using second = apps.start('--once')
    await Promise.all([first.url(), second.url()])
    const { code, stderr } = await apps.run(['describe'])
    assert.equal(code, 2)
    assert.match(stderr, /shop runs 2 times/)
    assert.ok(stderr.includes(`${first.child.pid}`) && stderr.includes(`${second.child.pid}`))
    assert.equal((await apps.run(['describe', '--pid', `${second.child.pid}`])).code, 0)
    const other = await apps.run(['describe', 'shop', '--pid', '1'])
    assert.equal(other.code, 4)
    assert.match(other.stderr, new RegExp(`does not run as process 1 .*\n  hint: It runs as .*${second.child.pid}`))
  })
})

describe('busbar ps without an app', () => {
  test('lists all running apps of the user', async () => {
    using apps = new Apps({ 'other/index.js': program })
    await using shop = apps.start('--once')
    await using other = apps.start('--once', '--port', '0', apps.folder.at('other'))
    await Promise.all([shop.url(), other.url()])
    const { code, stdout } = await apps.run(['ps'])
    assert.equal(code, 0)
    const rows = stdout.trimEnd().split('\n').slice(1)
    assert.deepEqual(
      new Set(rows.map((row) => row.split(/ {2,}/).slice(0, 3).join(' '))),
      new Set([`shop ${shop.child.pid} ready`, `other ${other.child.pid} ready`]),
    )
  })

  test('lists nothing, and removes the sockets and the temporary files of killed processes', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    await app.url()
    app.child.kill('SIGKILL')
    await app.ended
    const [socket] = findSockets(runtimeFolder(apps.env), apps.folder.path)
    assert.ok(existsSync(socket!.path))
    const left = (): string[] => readdirSync(apps.env.TMPDIR).filter((name) => name.startsWith('busbar-links-'))
    assert.equal(left().length, 1)
    // Of a process in another container, as far as can be seen from here.
    mkdirSync(join(apps.env.TMPDIR, 'busbar-links-1-a-b-abcdef'))
    const { code, stdout } = await apps.run(['ps'])
    assert.deepEqual([code, stdout], [0, 'no app runs\n'])
    assert.deepEqual(left(), ['busbar-links-1-a-b-abcdef'])
    assert.deepEqual(readdirSync(runtimeFolder(apps.env)), [])
    const { stdout: json } = await apps.run(['ps', '--json'])
    assert.deepEqual(JSON.parse(json), { runs: [], silent: [], waiting: [] })
  })
})

describe('busbar stop', () => {
  test('stops the app and the process that restarts it, and returns when they have ended', async () => {
    using apps = new Apps()
    await using app = apps.start()
    await app.url()
    const { code, stdout } = await apps.run(['stop'])
    assert.equal(code, 0)
    assert.match(stdout, /^shop \(process \d+\) has stopped after \d+ ms$/m)
    assert.equal((await app.ended).code, 0)
    assert.ok(app.events.some(({ msg }) => msg === 'busbar stop: stopping'))
    assert.deepEqual(findSockets(runtimeFolder(apps.env), apps.folder.path), [])
  })

  test('--all says which processes do not answer, after the others have stopped', async () => {
    using apps = new Apps({ 'other/index.js': program })
    await using shop = apps.start('--once')
    await using other = apps.start('--once', '--port', '0', apps.folder.at('other'))
    await Promise.all([shop.url(), other.url()])
    shop.child.kill('SIGSTOP')
    const { code, stderr } = await apps.run(['stop', '--all'], '/')
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`do not answer: ${shop.child.pid}`))
    assert.equal((await other.ended).code, 0)
  })

  test('--all stops every app', async () => {
    using apps = new Apps({ 'other/index.js': program })
    await using shop = apps.start('--once')
    await using other = apps.start('--once', '--port', '0', apps.folder.at('other'))
    await Promise.all([shop.url(), other.url()])
    const { code, stdout } = await apps.run(['stop', '--all', '--json'], '/')
    assert.equal(code, 0)
    const { stopped } = JSON.parse(stdout) as { stopped: { pid: number }[] }
    assert.deepEqual(new Set(stopped.map(({ pid }) => pid)), new Set([shop.child.pid, other.child.pid]))
    assert.deepEqual([(await shop.ended).code, (await other.ended).code], [0, 0])
  })
})

test('a command waits for an app that is late to answer', async () => {
  using apps = new Apps()
  await using app = apps.start('--once')
  await app.url()
  app.child.kill('SIGSTOP')
  const described = apps.run(['describe', '--json'])
  // It gives an app 2 s, as `describe` does before it waits for 5 s more.
  await apps.run(['ps'])
  app.child.kill('SIGCONT')
  const { code, stderr } = await described
  assert.deepEqual([code, stderr], [0, ''])
})

test('a command means a program that is late by its file, and its other runs with it', async () => {
  using apps = new Apps({ 'jobs/one.js': program, 'jobs/two.js': program })
  const cwd = apps.folder.at('jobs')
  const open = (file: string): BusbarProcess => apps.start(`jobs/${file}`, '--once', '--port', '0')
  await using one = open('one.js')
  await using two = open('two.js')
  for (const app of [one, two]) await app.url()
  two.child.kill('SIGSTOP')
  const described = apps.run(['describe', 'two.js', '--json'], cwd)
  const other = apps.run(['describe', 'one.js', '--json'], cwd)
  const stopped = apps.run(['stop', '--json'], cwd)
  // It gives an app 2 s.
  await apps.run(['ps'])
  two.child.kill('SIGCONT')
  assert.equal((await other).code, 0)
  assert.deepEqual([(await described).code, (await described).stderr], [0, ''])
  const { code, stdout } = await stopped
  assert.deepEqual([code, (JSON.parse(stdout) as { stopped: unknown[] }).stopped.length], [0, 2])
})

describe('busbar describe and env', () => {
  test('show services, addresses and the environment without secrets', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    const url = await app.url()
    const described = await apps.run(['describe'])
    assert.match(described.stdout, /^web \(program\)$/m)
    assert.ok(described.stdout.includes(url))
    const { code, stdout } = await apps.run(['env', 'web'])
    assert.deepEqual([code, stdout], [0, 'web\n  API_TOKEN=[redacted]\n  GREETING=hello\n'])
    assert.ok(!described.stdout.includes('a secret'))
  })

  test('name the nearest service', async () => {
    using apps = new Apps()
    await using app = apps.start('--once')
    await app.url()
    const { code, stderr } = await apps.run(['env', 'wbe'])
    assert.equal(code, 1)
    assert.match(stderr, /the nearest are web \(SERVICE_UNKNOWN\)/)
  })
})

function pidsIn({ stdout, stderr }: Ended): number[] {
  const { stopped } = JSON.parse(stdout) as { stopped?: readonly { readonly pid: number }[] }
  return stopped?.map(({ pid }) => pid) ?? assert.fail(stderr)
}

describe('a command whose output is not read', () => {
  for (const args of [
    ['top', '--json'],
    ['logs', '--follow', '--json'],
  ])
    test(`ends: busbar ${args.join(' ')}`, async () => {
      using apps = new Apps({ 'web/index.js': `setInterval(() => console.log('tick'), 50)\n${program}` })
      await using app = apps.start('--once')
      await app.url()
      await using busbar = new BusbarProcess(args, { env: apps.env, cwd: apps.folder.path })
      await busbar.until(() => busbar.stdout.includes('\n'))
      busbar.child.stdout!.destroy()
      const { code, stderr } = await busbar.ended
      assert.deepEqual([code, stderr], [0, ''])
    })

  test('says that it could not write it, and fails', { skip: !existsSync('/dev/full') }, async () => {
    using apps = new Apps()
    const busbar = new BusbarProcess(['ps'], { env: apps.env, cwd: apps.folder.path })
    await busbar.ended
    const { status, stderr } = spawnSync(busbar.child.spawnfile, busbar.child.spawnargs.slice(1), {
      env: { ...process.env, ...apps.env },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    })
    assert.equal(status, 2)
    assert.match(stderr, /the result could not be written: ENOSPC/)
  })
})
