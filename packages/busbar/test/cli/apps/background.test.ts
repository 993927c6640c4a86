import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `
const { NAME = '' } = process.env
console.log('started ' + NAME)
require('node:http').createServer((request, response) => response.end('ok ' + process.pid)).listen(3000)`

const shop = { gateway: { port: 0, routes: { '/web': 'web' } }, services: { web: './web' } }

const files = {
  'shop/package.json': { name: 'shop' },
  'shop/busbar.config.json': shop,
  'shop/web/index.js': program,
  'other/package.json': { name: 'other' },
  'other/index.js': program,
  'throws/package.json': { name: 'throws' },
  'throws/index.js': `throw new Error('thrown on purpose')`,
  'killed/package.json': { name: 'killed' },
  'killed/index.js': `require('node:child_process').execFileSync('kill', ['-9', String(process.pid)])`,
  'wrong/busbar.config.json': { servces: {} },
}

interface Started {
  readonly pid: number
  readonly addresses: readonly { readonly url: string }[]
  readonly entrance: string
  readonly logs: string
}

/** Folders of apps, and of what Busbar keeps for them. Stops what runs at the end of its scope. */
class Background implements AsyncDisposable {
  readonly folder = new TestFolder(files)
  readonly env = {
    XDG_RUNTIME_DIR: this.folder.at('run'),
    XDG_STATE_HOME: this.folder.at('state'),
    XDG_CONFIG_HOME: this.folder.at('config'),
  }

  run(args: readonly string[], cwd = this.folder.path): Promise<Ended> {
    return BusbarProcess.run(args, { env: this.env, cwd })
  }

  async start(...args: string[]): Promise<Started> {
    const { code, stdout, stderr } = await this.run(['start', '-d', '--json', ...args])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Started
  }

  async running(): Promise<string[]> {
    const { stdout } = await this.run(['ps', '--json'])
    return (JSON.parse(stdout) as { runs: { app: { name: string } }[] }).runs.map(({ app }) => app.name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(['stop', '--all'])
    this.folder[Symbol.dispose]()
  }
}

describe('busbar start -d', () => {
  test('returns when the app serves, which goes on and keeps its log in files', async () => {
    await using background = new Background()
    const { pid, addresses, entrance, logs } = await background.start('shop')
    assert.equal(entrance, 'portable')
    assert.match(await (await fetch(`${addresses[0]!.url}/web/`)).text(), /^ok /)
    const described = await background.run(['describe', 'shop', '--json'])
    const { command } = JSON.parse(described.stdout) as { command: { isDetached: boolean; args: string[] } }
    assert.deepEqual([command.isDetached, command.args], [true, [background.folder.at('shop')]])
    const { code, stdout } = await background.run(['stop', 'shop', '--json'])
    assert.equal(code, 0)
    assert.equal((JSON.parse(stdout) as { stopped: { pid: number }[] }).stopped[0]!.pid, pid)
    const log = readFileSync(`${logs}/app.log`, 'utf8')
    assert.match(log, /"msg":"started "/)
    assert.match(log, /"msg":"stopped"/)
    assert.equal(statSync(background.folder.at('state', 'busbar')).mode & 0o777, 0o700)
  })

  test('survives the end of the terminal', async () => {
    await using background = new Background()
    const busbar = fileURLToPath(new URL('../../support/busbar.ts', import.meta.url))
    const line = [process.execPath, '--conditions=busbar-source', busbar, 'start', '-d', 'shop', '--json']
    // A shell that leads a session, as a terminal starts it.
    const shell = spawn('/bin/sh', ['-c', '"$@"; read -r _', 'sh', ...line], {
      cwd: background.folder.path,
      env: { ...process.env, ...background.env },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    })
    const exited = once(shell, 'exit')
    let text = ''
    for await (const chunk of shell.stdout.setEncoding('utf8')) if ((text += chunk as string).includes('\n}')) break
    const { addresses } = JSON.parse(text) as Started
    process.kill(-shell.pid!, 'SIGHUP')
    process.kill(-shell.pid!, 'SIGINT')
    assert.equal((await exited)[1], 'SIGHUP')
    assert.equal((await fetch(`${addresses[0]!.url}/web/`)).status, 200)
  })

  test('restarts after a crash, with nobody waiting', async () => {
    await using background = new Background()
    const { pid, logs } = await background.start('shop')
    process.kill(pid, 'SIGKILL')
    const log = (): string => readFileSync(`${logs}/app.log`, 'utf8')
    await pollUntil(() => (log().match(/shop serves at/g) ?? []).length === 2, log)
    const { stdout } = await background.run(['ps', 'shop', '--json'])
    assert.notEqual((JSON.parse(stdout) as { runs: { app: { pid: number } }[] }).runs[0]!.app.pid, pid)
  })

  test('fails with the reason, and leaves nothing behind', async () => {
    await using background = new Background()
    const thrown = await background.run(['start', '-d', 'throws', '--port', '0', '--json'])
    assert.equal(thrown.code, 1)
    assert.match(thrown.stderr, /thrown on purpose.*\(PROGRAM_THREW\)/)
    assert.equal((JSON.parse(thrown.stdout) as { error: { code: string } }).error.code, 'PROGRAM_THREW')
    const killed = await background.run(['start', '-d', 'killed', '--port', '0'])
    assert.equal(killed.code, 1)
    assert.match(killed.stderr, /the whole process was ended by SIGKILL .* before it served/)
    const wrong = await background.run(['start', '-d', 'wrong'])
    assert.equal(wrong.code, 3)
    assert.match(wrong.stderr, /CONFIG_KEY_UNKNOWN/)
    assert.deepEqual(await background.running(), [])
  })
})

describe('busbar save and resurrect', () => {
  test('start the apps of the background again, with their flags', async () => {
    await using background = new Background()
    await background.start('shop')
    await background.start('--port', '0', '--once', 'other')
    await using foreground = new BusbarProcess(['start', 'other', '--port', '0', '--once'], {
      env: background.env,
      cwd: background.folder.path,
    })
    await foreground.url()
    const saved = await background.run(['save', '--json'])
    const { file, apps } = JSON.parse(saved.stdout) as { file: string; apps: { name: string; args: string[] }[] }
    assert.deepEqual(
      apps.map(({ name }) => name),
      ['shop', 'other'],
    )
    assert.deepEqual(apps[1]!.args, ['--port=0', '--once', background.folder.at('other')])
    assert.equal(statSync(file).mode & 0o777, 0o600)
    await background.run(['stop', '--all'])
    await foreground.ended
    const { code, stdout } = await background.run(['resurrect', '--json'], '/')
    assert.equal(code, 0)
    const outcomes = (JSON.parse(stdout) as { apps: { outcome: string }[] }).apps.map(({ outcome }) => outcome)
    assert.deepEqual(outcomes, ['started', 'started'])
    assert.deepEqual(await background.running(), ['shop', 'other'])
    const again = await background.run(['resurrect'])
    assert.deepEqual([again.code, again.stdout], [0, 'shop runs already\nother runs already\n'])
  })

  test('say which app fails, and start the others', async () => {
    await using background = new Background()
    await background.start('shop')
    await background.start('--port', '0', 'other')
    await background.run(['save'])
    await background.run(['stop', '--all'])
    background.folder.write('shop/web/index.js', `throw new Error('thrown on purpose')`)
    const { code, stdout } = await background.run(['resurrect'])
    assert.equal(code, 1)
    assert.match(stdout, /^shop failed : .*thrown on purpose/m)
    assert.match(stdout, /^other started \(process \d+\)$/m)
  })

  test('say that the folder of an app is gone', async () => {
    await using background = new Background()
    const folder = background.folder.at('other')
    assert.equal((await background.run(['start', '-d', '--port', '0'], folder)).code, 0)
    await background.run(['save'])
    await background.run(['stop', '--all'])
    rmSync(folder, { recursive: true })
    const { code, stdout } = await background.run(['resurrect'])
    assert.equal(code, 1)
    assert.match(stdout, /^other failed : its folder .* does not exist any more.*busbar save again$/m)
  })

  test('a suspended app is in the list, and not started a second time', async () => {
    await using background = new Background()
    const { pid } = await background.start('shop')
    process.kill(pid, 'SIGSTOP')
    const saved = await background.run(['save', '--json'])
    const { apps } = JSON.parse(saved.stdout) as { apps: { name: string; args: string[] }[] }
    assert.deepEqual([apps[0]?.name, apps[0]?.args], ['shop', [background.folder.at('shop')]])
    assert.equal((await background.run(['resurrect'])).stdout, 'shop runs already\n')
    assert.match(
      (await background.run(['ps'])).stdout,
      new RegExp(`^shop +${pid} +does not answer .*${apps[0]!.args[0]}$`, 'm'),
    )
    const described = await background.run(['describe', 'shop'], '/')
    assert.equal(described.code, 4)
    assert.match(described.stderr, new RegExp(`process ${pid}\\) does not answer`))
    process.kill(pid, 'SIGCONT')
    assert.deepEqual(await background.running(), ['shop'])
  })

  test('resurrect without a list says so', async () => {
    await using background = new Background()
    const { code, stderr } = await background.run(['resurrect'])
    assert.equal(code, 2)
    assert.match(stderr, /run busbar save/)
  })
})

describe('busbar startup systemd', () => {
  test('writes a unit of the user, and says how to enable it', async () => {
    await using background = new Background()
    const { code, stdout } = await background.run(['startup', 'systemd', 'shop', '--user', '--json'])
    assert.equal(code, 0)
    const { file, unit, next } = JSON.parse(stdout) as { file: string; unit: string; next: string[] }
    assert.deepEqual(
      [unit, file],
      ['busbar-shop.service', background.folder.at('config/systemd/user/busbar-shop.service')],
    )
    assert.deepEqual(next.slice(0, 2), [
      'systemctl --user daemon-reload',
      'systemctl --user enable --now busbar-shop.service',
    ])
    const text = readFileSync(file, 'utf8')
    assert.match(text, /^Type=notify$/m)
    assert.match(text, new RegExp(`^ExecStart=${process.execPath} .* start ${background.folder.at('shop')}$`, 'm'))
    assert.match(text, /^TimeoutStopSec=15$/m)
    assert.match(text, /^WantedBy=default.target$/m)
    assert.deepEqual(await background.running(), [])
  })

  test('prints the unit of the machine, and the one of the saved apps, without writing', async () => {
    await using background = new Background()
    const saved = await background.run(['startup', 'systemd', '--saved', '--print', '--user'])
    assert.match(saved.stdout, /^ExecStart=.* resurrect$/m)
    assert.match(saved.stdout, /^ExecStop=.* stop --all$/m)
    assert.ok(!existsSync(background.folder.at('config')))
    const other = await background.run(['startup', 'upstart'])
    assert.equal(other.code, 2)
  })

  test('quotes what systemd would interpret', async () => {
    const { appUnit, unitName } = await import('../../../src/cli/startup/systemd-unit.ts')
    const command = ['/usr/bin/node', '/srv/my "shop"/50%/$HOME']
    const text = appUnit({
      description: 'a\nb',
      command,
      reload: ['/usr/bin/busbar', 'reload'],
      folder: '/srv/50%',
      stopTimeout: 1,
      target: { kind: 'system', user: 'shop' },
    })
    assert.match(text, /^ExecStart=\/usr\/bin\/node "\/srv\/my \\"shop\\"\/50%%\/\$\$HOME"$/m)
    assert.match(text, /^WorkingDirectory=\/srv\/50%%$/m)
    assert.match(text, /^Description=a b$/m)
    assert.match(text, /^User=shop$/m)
    assert.equal(unitName('@acme/shop'), 'busbar--acme-shop.service')
  })
})

describe('busbar doctor', () => {
  const findings = (stdout: string) =>
    (JSON.parse(stdout) as { findings: { check: string; state: string; found: string; advice?: string }[] }).findings

  test('checks the machine and the app', async () => {
    await using background = new Background()
    const { code, stdout } = await background.run(['doctor', 'shop', '--json'])
    assert.equal(code, 0)
    const checks = new Set(findings(stdout).map(({ check }) => check))
    for (const check of ['config', 'port of gateway', 'Node', 'descriptors', 'memory', 'processors', 'sockets', 'disk'])
      assert.ok(checks.has(check), check)
    assert.ok(findings(stdout).every(({ state, advice }) => (state === 'ok') === (advice === undefined)))
    assert.deepEqual(readdirSync(background.env.XDG_RUNTIME_DIR + '/busbar'), [])
  })

  test('ends with 1 and says what to do about a port in use and a wrong config', async () => {
    await using background = new Background()
    const { createServer } = await import('node:net')
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    background.folder.write('shop/busbar.config.json', { ...shop, gateway: { ...shop.gateway, port } })
    const used = await background.run(['doctor', 'shop'])
    server.close()
    assert.equal(used.code, 1)
    assert.match(
      used.stdout,
      new RegExp(`^fail +port of gateway +${port} is in use by another program\n +Find it`, 'm'),
    )
    const wrong = await background.run(['doctor', 'wrong'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stdout, /^fail +config [^]*\(CONFIG_KEY_UNKNOWN\)/m)
  })

  test('says so if few descriptors are allowed', async () => {
    await using background = new Background()
    const { code, stdout } = await BusbarProcess.run(['doctor'], {
      env: background.env,
      cwd: background.folder.path,
      descriptors: 200,
    })
    assert.equal(code, 1)
    assert.match(stdout, /^fail +descriptors +200 .*\n +Raise it: ulimit/m)
  })
})
