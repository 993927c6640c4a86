import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = (text: string): string =>
  `require('node:http').createServer((_, response) => response.end('${text} ' + process.pid)).listen(3000)`

const configOf = (gateway: object, web: object = {}): object => ({
  gateway: { port: 0, ...gateway },
  services: { web: { path: './web', run: 'thread', ...web }, cart: { path: './cart', run: 'thread' } },
})

test('reload, scale, move and restart change a running app', async () => {
  using folder = new TestFolder({
    'package.json': { name: 'shop' },
    'busbar.config.json': configOf({ entry: 'web' }),
    'web/index.js': program('one'),
    'cart/index.js': program('cart'),
  })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await BusbarProcess.run([...args, '--json'], where)
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    return JSON.parse(stdout) as Record<string, unknown>
  }
  await using app = new BusbarProcess(['start', '--once'], where)
  const url = await app.url()
  const ask = async (at = url): Promise<string> => await (await fetch(at, { headers: { connection: 'close' } })).text()
  assert.equal(await ask(), `one ${app.child.pid}`)

  folder.write('web/index.js', program('two'))
  const { ok, generation, replaced, kept } = await run('reload', 'web')
  assert.deepEqual([ok, generation, replaced, kept], [true, 2, 1, 1])
  assert.equal(await ask(), `two ${app.child.pid}`)

  assert.equal((await run('scale', 'web', '+1'))['added'], 1)
  const moved = await run('move', 'web', '--run', 'process', '--instances', '1')
  assert.deepEqual([moved['added'], moved['removed']], [1, 2])
  assert.notEqual(await ask(), `two ${app.child.pid}`)

  folder.write('busbar.config.json', configOf({ entry: 'web', host: 'localhost' }))
  const refused = await BusbarProcess.run(['reload'], where)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /only a restart of the whole app can change gateway\.host/)

  const from = app.events.length
  assert.equal((await run('restart'))['pid'], app.child.pid)
  const again = await app.event((event) => Array.isArray(event['addresses']), from)
  assert.equal(await ask((again['addresses'] as { url: string }[])[0]!.url), `two ${app.child.pid}`)
})

test('restart waits for the run that it is asked for, not for another run of the folder', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0 }, services: { web: { path: './web', run: 'thread' } } },
    'web/index.js': program('one'),
  })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  await using first = new BusbarProcess(['start', '--once'], where)
  await first.url()
  await using second = new BusbarProcess(['start', '--once'], where)
  await second.url()
  const from = first.events.length
  const { stdout } = await BusbarProcess.run(['restart', '--json', '--pid', `${first.child.pid}`], where)
  assert.equal((JSON.parse(stdout) as { pid: number }).pid, first.child.pid)
  assert.ok(first.events.slice(from).some((event) => Array.isArray(event['addresses'])))
})

test('an app of one service, which has the working directory, is reloaded from where it was started', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0 }, services: { web: { path: './web', run: 'thread' } } },
    'web/index.js': program('one'),
  })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  await using app = new BusbarProcess(['start', '--once'], where)
  const url = await app.url()
  folder.write('web/index.js', program('two'))
  const { code, stderr } = await BusbarProcess.run(['reload'], where)
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(await (await fetch(url)).text(), `two ${app.child.pid}`)
})

test('a wrong number, a placement that is missing and a config that is wrong change nothing', async () => {
  using folder = new TestFolder({ 'package.json': { name: 'one' }, 'index.js': program('one') })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  await using app = new BusbarProcess(['start', '--once', '--port', '0'], where)
  const url = await app.url()
  for (const [args, code] of [
    [['scale', 'one', 'many'], 2],
    [['scale', 'one', '0'], 2],
    [['logs', 'two'], 1],
    [['scale', 'two', '2'], 1],
    [['move', 'one'], 2],
  ] as const)
    assert.equal((await BusbarProcess.run([...args], where)).code, code, args.join(' '))
  folder.write('index.js', 'throw new Error("a mistake")')
  assert.equal((await BusbarProcess.run(['reload'], where)).code, 1)
  assert.equal((await fetch(url)).status, 200)
})

test('a reload whose config calls process.exit() is refused, and the app serves on', async () => {
  using folder = new TestFolder({
    'busbar.config.mjs': "export default { gateway: { port: 0 }, services: { web: { path: './web', run: 'thread' } } }",
    'web/index.js': program('one'),
  })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  await using app = new BusbarProcess(['start', '--once'], where)
  const url = await app.url()
  for (const exitCode of [0, 1]) {
    folder.write('busbar.config.mjs', `console.error('SETTING is missing')\nprocess.exit(${exitCode})`)
    const { code, stderr } = await BusbarProcess.run(['reload'], where)
    assert.equal(code, 3)
    assert.match(stderr, new RegExp(`it calls process\\.exit\\(${exitCode}\\) \\(CONFIG_UNREADABLE\\)`))
    assert.equal(await (await fetch(url)).text(), `one ${app.child.pid}`)
  }
  assert.match(app.stderr + app.stdout, /SETTING is missing/)
})

test('an app accepts connections while its config blocks the thread that reads it', async () => {
  const config = `
    export default { gateway: { port: 0, entrance: 'portable' }, services: { web: { path: './web', run: 'thread' } } }`
  using folder = new TestFolder({
    'busbar.config.mjs': config,
    'web/index.js': `
      const { existsSync, writeFileSync } = require('node:fs')
      require('node:http').createServer((request, response) => {
        if (existsSync(process.cwd() + '/../begun')) writeFileSync(process.cwd() + '/../answered', '')
        response.end('one')
      }).listen(3000)`,
  })
  const where = { env: { XDG_RUNTIME_DIR: folder.at('run') }, cwd: folder.path }
  await using app = new BusbarProcess(['start', '--once'], where)
  const url = await app.url()
  folder.write(
    'busbar.config.mjs',
    `import { existsSync, writeFileSync } from 'node:fs'
    writeFileSync(new URL('begun', import.meta.url), '')
    const cell = new Int32Array(new SharedArrayBuffer(4))
    for (let turn = 0; !existsSync(new URL('answered', import.meta.url)); turn++) {
      if (turn > 500) throw new Error('no request was answered')
      Atomics.wait(cell, 0, 0, 20)
    }
    ${config}`,
  )
  let isOver = false
  const reload = BusbarProcess.run(['reload'], where).finally(() => (isOver = true))
  while (!isOver) assert.equal(await (await fetch(url, { headers: { connection: 'close' } })).text(), 'one')
  const { code, stderr } = await reload
  assert.deepEqual([code, stderr], [0, ''])
})
