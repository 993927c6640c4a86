import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { runs } from '../../support/app/process-table.ts'

const files = {
  'index.js': `
    require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)
    console.log('pid', process.pid)`,
  'package.json': { name: 'only' },
}

/** Its only service is a process, which answers with its id. */
const oneProcess = {
  'busbar.config.json': { gateway: { port: 0 }, services: { only: { path: './only', run: 'process' } } },
  'only/index.js': `require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)`,
}

const skip = process.platform === 'win32'

test(
  'an app whose whole process crashes is back at once, in the same outer process, and the reason is printed',
  { skip },
  async () => {
    using folder = new TestFolder(files)
    await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
    const inner = Number(await textAt(await busbar.url()))
    assert.notEqual(inner, busbar.child.pid)
    const seen = busbar.events.length
    process.kill(inner, 'SIGKILL')
    await busbar.message('the whole process was ended by SIGKILL', seen)
    const event = await busbar.event(({ addresses }) => addresses !== undefined, seen)
    assert.notEqual(Number(await textAt((event['addresses'] as { url: string }[])[0]!.url)), inner)
    busbar.child.kill('SIGTERM')
    assert.deepEqual(await busbar.ended.then(({ code }) => code), 0)
  },
)

test('an app survives one huge allocation in a thread, which ends the whole process', { skip }, async () => {
  const greedy = `require('node:http').createServer((request, response) => {
    if (request.url === '/boom') JSON.parse('[' + '1,'.repeat(8e7) + '1]')
    response.end('well')
  }).listen(3000)`
  const config = { gateway: { port: 0 }, services: { greedy: { path: './greedy', memory: '64mb', run: 'thread' } } }
  using folder = new TestFolder({ 'busbar.config.json': config, 'greedy/index.js': greedy })
  await using busbar = new BusbarProcess(['start', folder.path])
  const url = await busbar.url()
  assert.equal(await textAt(url), 'well')
  const seen = busbar.events.length
  await assert.rejects(textAt(`${url}/boom`))
  await busbar.message('the whole process was ended by SIG', seen)
  const event = await busbar.event(({ addresses }) => addresses !== undefined, seen)
  assert.equal(await textAt((event['addresses'] as { url: string }[])[0]!.url), 'well')
})

test('with --once a crash ends it', { skip }, async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--once'])
  assert.equal(Number(await textAt(await busbar.url())), busbar.child.pid)
  busbar.child.kill('SIGKILL')
  assert.equal((await busbar.ended).signal, 'SIGKILL')
})

test('a crash before the app serves is not restarted', { skip }, async () => {
  using folder = new TestFolder({ 'index.js': `console.log('pid', process.pid); setInterval(() => {}, 1000)` })
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  const { msg } = await busbar.message('pid ')
  process.kill(Number(String(msg).slice(4)), 'SIGKILL')
  const { code, stdout } = await busbar.ended
  assert.equal(code, 1)
  assert.match(stdout, /before it served/)
})

test('the inner process stops when the outer one is killed', { skip }, async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  const inner = Number(await textAt(await busbar.url()))
  busbar.child.kill('SIGKILL')
  // Both processes write to the same pipe, which closes when the last of them has ended.
  const { stdout } = await busbar.ended
  assert.match(stdout, /"msg":"stopped"/)
  while (runs(inner)) await sleep(20)
})

test(
  'nothing is left when the outer process is killed while the inner one is stopped, and it stops in order',
  { skip },
  async () => {
    using folder = new TestFolder(oneProcess)
    await using busbar = new BusbarProcess(['start', folder.path])
    const service = Number(await textAt(await busbar.url()))
    const inner = parentOf(service)
    assert.notEqual(inner, busbar.child.pid)
    process.kill(inner, 'SIGSTOP')
    busbar.child.kill('SIGKILL')
    const { stdout } = await busbar.ended
    assert.match(stdout, /"msg":"stopped"/)
    while (runs(inner) || runs(service)) await sleep(20)
  },
)

test(
  'nothing is left when both processes are killed, also of an app without processes of its own',
  { skip },
  async () => {
    using folder = new TestFolder({ ...files, 'tmp/.keep': '' })
    await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'], { env: { TMPDIR: folder.at('tmp') } })
    const inner = Number(await textAt(await busbar.url()))
    const links = (): string[] => readdirSync(folder.at('tmp')).filter((name) => name.startsWith('busbar-links-'))
    assert.equal(links().length, 1)
    busbar.child.kill('SIGKILL')
    process.kill(inner, 'SIGKILL')
    await busbar.ended
    while (links().length > 0) await sleep(20)
  },
)

test('a second signal kills an inner process that ignores signals, and its children', { skip }, async () => {
  using folder = new TestFolder(oneProcess)
  await using busbar = new BusbarProcess(['start', folder.path])
  const service = Number(await textAt(await busbar.url()))
  const inner = parentOf(service)
  process.kill(inner, 'SIGSTOP')
  busbar.child.kill('SIGTERM')
  // Later than signals that count as the same request.
  await sleep(500)
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).signal, 'SIGKILL')
  while (runs(inner) || runs(service)) await sleep(20)
})

function parentOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', `${pid}`], { encoding: 'utf8' }))
}

async function textAt(url: string): Promise<string> {
  return await (await fetch(url, { headers: { connection: 'close' } })).text()
}

test(
  'an app that cannot start again after a crash is tried until it can, or as often as maxRestarts says',
  { skip },
  async () => {
    const program = `
    if (require('node:fs').existsSync(process.env.BROKEN)) throw new Error('no database')
    require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)`
    for (const maxRestarts of [undefined, 1]) {
      const config = { gateway: { port: 0 }, maxRestarts, services: { web: { path: './web', run: 'shared' } } }
      using folder = new TestFolder({ 'busbar.config.json': config, 'web/index.js': program })
      const broken = folder.at('broken')
      await using busbar = new BusbarProcess(['start', folder.path], { env: { BROKEN: broken } })
      const inner = Number(await textAt(await busbar.url()))
      folder.write('broken', '')
      const seen = busbar.events.length
      process.kill(inner, 'SIGKILL')
      await busbar.message('no database', seen)
      if (maxRestarts === undefined) {
        await busbar.message('the restart of the app failed with exit code 1; it restarts in', seen)
        rmSync(broken)
        const event = await busbar.event(({ addresses }) => addresses !== undefined, seen)
        assert.notEqual(Number(await textAt((event['addresses'] as { url: string }[])[0]!.url)), inner)
        busbar.child.kill('SIGTERM')
        assert.equal((await busbar.ended).code, 0)
      } else {
        const { code, stdout } = await busbar.ended
        assert.equal(code, 1)
        assert.match(stdout, /after 1 restarts in a row \(maxRestarts\)/)
      }
    }
  },
)

test('an app that does not start again after busbar restart is tried until it can', { skip }, async () => {
  const program = `
    if (require('node:fs').existsSync(process.env.BROKEN)) throw new Error('no database')
    require('node:http').createServer((_, response) => response.end('well')).listen(3000)`
  using folder = new TestFolder({ 'package.json': { name: 'only' }, 'index.js': program })
  const env = { BROKEN: folder.at('broken'), XDG_RUNTIME_DIR: folder.at('run') }
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'], { env })
  await busbar.url()
  folder.write('broken', '')
  const seen = busbar.events.length
  const { code, stderr } = await BusbarProcess.run(['restart', folder.path], { env })
  assert.deepEqual([code, /only has stopped, and could not start again/.test(stderr)], [4, true])
  rmSync(env.BROKEN)
  const event = await busbar.event(({ addresses }) => addresses !== undefined, seen)
  assert.equal(await textAt((event['addresses'] as { url: string }[])[0]!.url), 'well')
})
