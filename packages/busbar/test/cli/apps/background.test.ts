import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Background, shop, type Started } from '../../support/app/background.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { pollUntil } from '../../support/app/test-app.ts'

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
