import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { takeSockets } from '../../../src/cli/startup/activation.ts'
import { findSockets } from '../../../src/supervisor/admin/admin-socket.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `require('node:http').createServer((request, response) => response.end(process.env.NOTIFY_SOCKET ?? 'none')).listen(3000)`

/** A folder with an app, and a `systemd-notify` that records how it is called. */
class Notified implements Disposable {
  readonly folder = new TestFolder({
    'app/index.js': program,
    'bin/systemd-notify': `#!/bin/sh\nprintf '%s %s\\n' "$NOTIFY_SOCKET" "$*" >> "\${0%/*}/../sent"\n`,
    sent: '',
  })
  readonly env = {
    XDG_RUNTIME_DIR: this.folder.at('run'),
    NOTIFY_SOCKET: '/run/fake',
    PATH: `${this.folder.at('bin')}:${process.env['PATH']}`,
  }

  constructor() {
    chmodSync(this.folder.at('bin', 'systemd-notify'), 0o755)
  }

  start(env: NodeJS.ProcessEnv = this.env): BusbarProcess {
    return new BusbarProcess(['start', this.folder.at('app'), '--port', '0'], { env })
  }

  get sent(): string[] {
    return readFileSync(this.folder.at('sent'), 'utf8').trimEnd().split('\n')
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

describe('an app under systemd', () => {
  test('reports when it serves and when it stops, and hides the socket from its programs', async () => {
    using notified = new Notified()
    await using app = notified.start()
    const url = await app.url()
    await pollUntil(() => notified.sent.length === 1 && notified.sent[0] !== '')
    assert.deepEqual(notified.sent, [`/run/fake READY=1 STATUS=serves at ${url}`])
    assert.equal(await (await fetch(url)).text(), 'none')
    app.child.kill('SIGTERM')
    assert.equal((await app.ended).code, 0)
    assert.deepEqual(notified.sent.slice(1), ['/run/fake STOPPING=1'])
  })

  test('runs without systemd-notify, with a warning', async () => {
    using notified = new Notified()
    await using app = notified.start({ ...notified.env, PATH: notified.folder.at('none') })
    await app.url()
    await app.message('systemd-notify is not installed')
    app.child.kill('SIGTERM')
    assert.equal((await app.ended).code, 0)
  })
})

describe('socket activation', () => {
  const app = {
    'busbar.config.json': {
      gateway: { port: 1, entry: 'web' },
      services: { web: { path: './web', expose: 0 }, other: { path: './web', expose: 3 } },
    },
    'web/index.js': `
const own = () => Object.keys(process.env).filter((name) => /^LISTEN_|^BUSBAR_SOCKETS/.test(name))
require('node:http').createServer((request, response) => response.end(own().join() + process.ppid)).listen(3000)`,
  }

  test('serves at the sockets, and requests wait while the app starts and restarts', async () => {
    using folder = new TestFolder(app)
    await using activated = await Activated.start(folder, ['shop.socket', 'other'])
    // Sent before the app listens.
    assert.deepEqual(await Promise.all([activated.ask(0), activated.ask(1)]), [activated.pid, activated.pid])
    const restarted = BusbarProcess.run(['restart', folder.path], { env: { XDG_RUNTIME_DIR: folder.at('run') } })
    for (let isOver = false; !isOver; await sleep(50)) {
      isOver = (await Promise.race([restarted.then(() => true), activated.ask(0)])) === true
    }
    assert.equal((await restarted).code, 0)
    assert.equal(await activated.ask(0), activated.pid)
    activated.child.kill('SIGTERM')
    assert.equal((await activated.ended)[0], 0)
  })

  test('requests wait while the app restarts after a crash', async () => {
    using folder = new TestFolder(app)
    await using activated = await Activated.start(folder, ['gateway'])
    await activated.ask(0)
    const [socket] = findSockets(folder.at('run', 'busbar'), folder.path)
    process.kill(socket!.pid, 'SIGKILL')
    assert.equal(await activated.ask(0), activated.pid)
  })

  for (const [what, config, names, message] of [
    ['more sockets than ports', {}, ['1', '2', '3', '4'], /systemd passed 4 sockets, and the app has 3 ports/],
    ['workers that open the ports', { accept: 'reusePort' }, ['1'], /each worker opens the ports itself/],
  ] as const)
    test(`is refused: ${what}`, async () => {
      const { 'busbar.config.json': shop, ...files } = app
      using folder = new TestFolder({ ...files, 'busbar.config.json': { ...shop, ...config } })
      await using activated = await Activated.start(folder, names)
      assert.equal((await activated.ended)[0], 2)
      assert.match(activated.errors, message)
    })

  test('the units of the service and of its sockets are valid', async () => {
    using folder = new TestFolder({ ...app, 'package.json': { name: 'shop' } })
    const env = { XDG_CONFIG_HOME: folder.at('config') }
    const args = ['startup', 'systemd', folder.path, '--user', '--socket', '--json']
    const zero = await BusbarProcess.run(args, { env })
    assert.deepEqual([zero.code, /systemd cannot open 127.0.0.1:0/.test(zero.stderr)], [2, true])
    const services = { web: { path: './web', expose: { host: '::1', port: 3101 } }, other: './web' }
    folder.write('busbar.config.json', { gateway: { port: 3000, entry: 'web' }, services })
    const { stdout } = await BusbarProcess.run(args, { env })
    const { files, next } = JSON.parse(stdout) as { files: string[]; next: string[] }
    const [service, socket] = files.map((file) => readFileSync(file, 'utf8'))
    assert.match(service!, /^Requires=busbar-shop\.socket$/m)
    assert.match(socket!, /^ListenStream=127\.0\.0\.1:3000\nListenStream=\[::1\]:3101$/m)
    assert.ok(next.includes('systemctl --user enable --now busbar-shop.service busbar-shop.socket'))
    if (existsSync('/usr/bin/systemd-analyze'))
      await promisify(execFile)('/usr/bin/systemd-analyze', ['verify', '--user', ...files], {
        env: { ...process.env, XDG_RUNTIME_DIR: folder.path },
      })
  })
})

/** An app that is started as systemd does it, with sockets on which nobody has listened yet. */
class Activated implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<unknown[]>
  readonly #ports: readonly number[]
  errors = ''

  constructor(folder: TestFolder, servers: readonly Server[], names: readonly string[]) {
    const busbar = new URL('../../support/busbar.ts', import.meta.url).pathname
    const variables = `LISTEN_PID=$$ LISTEN_FDS=${names.length} LISTEN_FDNAMES=${names.join(':')}`
    const command = [process.execPath, '--conditions=busbar-source', busbar, 'start', folder.path]
    this.child = spawn('/bin/sh', ['-c', `export ${variables}; exec "$@"`, 'sh', ...command], {
      stdio: ['ignore', 'ignore', 'pipe', ...servers.map(descriptorOf)],
      env: { ...process.env, XDG_RUNTIME_DIR: folder.at('run'), TMPDIR: folder.path },
    })
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.errors += text))
    this.ended = once(this.child, 'close')
    this.#ports = servers.map((server) => (server.address() as AddressInfo).port)
    for (const server of servers) server.close()
  }

  static async start(folder: TestFolder, names: readonly string[]): Promise<Activated> {
    return new Activated(folder, await Promise.all(names.map(listenAnywhere)), names)
  }

  get pid(): string {
    return `${this.child.pid}`
  }

  async ask(port: number): Promise<string> {
    const url = `http://127.0.0.1:${this.#ports[port]}`
    return await (await fetch(url, { headers: { connection: 'close' } })).text()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGTERM')
    await this.ended
  }
}

async function listenAnywhere(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Node documents no way to get it. */
function descriptorOf(server: Server): number {
  return (server as unknown as { _handle: { fd: number } })._handle.fd
}

describe('busbar completion', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const { code, stdout } = await BusbarProcess.run(['completion', 'words', '--', ...words])
    assert.equal(code, 0)
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t')[0]!)
  }

  test('suggests commands, flags, values and operands', async () => {
    assert.deepEqual(await complete('sta'), ['start', 'startup'])
    assert.deepEqual(await complete('logs', '--le'), ['--level'])
    assert.deepEqual(await complete('logs', '--level', 'wa'), ['warn'])
    assert.deepEqual(await complete('profile', ''), ['cpu', 'heap'])
    assert.deepEqual(await complete('signal', '-a', 'shop', 'web', 'SIGUSR'), ['SIGUSR1', 'SIGUSR2'])
    assert.deepEqual(await complete('start', 'fol'), [])
    assert.deepEqual(await complete('nothing', ''), [])
  })

  test('suggests the names of running apps and their services', async () => {
    using folder = new TestFolder({
      'package.json': { name: 'shop' },
      'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
      'web/index.js': program,
    })
    const env = { XDG_RUNTIME_DIR: folder.at('run') }
    await using app = new BusbarProcess(['start', '--once'], { env, cwd: folder.path })
    await app.url()
    const words = async (...given: string[]): Promise<string> =>
      (await BusbarProcess.run(['completion', 'words', '--', ...given], { env, cwd: '/' })).stdout
    assert.equal(await words('stop', 'sh'), `shop\t${folder.path}\n`)
    assert.equal(await words('inject', '-a', 'shop', ''), 'web\t\n')
    assert.equal(await words('inject', ''), '')
  })

  test('the script of bash completes words', async () => {
    const { stdout: script } = await BusbarProcess.run(['completion', 'bash'])
    const busbar = new URL('../../support/busbar.ts', import.meta.url).pathname
    const line = `busbar() { "${process.execPath}" --conditions=busbar-source "${busbar}" "$@"; }
${script}
COMP_WORDS=(busbar prof) COMP_CWORD=1
_busbar
printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', line])
    assert.equal(stdout, 'profile\n')
  })

  test('has scripts for zsh and fish, and for no other shell', async () => {
    for (const shell of ['zsh', 'fish'])
      assert.match((await BusbarProcess.run(['completion', shell])).stdout, /busbar completion words -- /)
    assert.equal((await BusbarProcess.run(['completion', 'tcsh'])).code, 2)
  })
})

test('a count of sockets that no app has is refused at once', () => {
  const env = { LISTEN_PID: `${process.pid}`, LISTEN_FDS: '999999999' }
  assert.equal(takeSockets(env).length, 1024)
  assert.deepEqual(env, {})
})

test('a unit for a folder that does not exist is refused like its start', async () => {
  using folder = new TestFolder()
  const { code, stderr } = await BusbarProcess.run(['startup', 'systemd', folder.at('none'), '--print'])
  assert.equal(code, 3)
  assert.match(stderr, /\(CONFIG_NOT_FOUND\)/)
})
