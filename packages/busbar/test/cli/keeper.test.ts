import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarProcess } from '../support/busbar-process.ts'
import { TestFolder } from '../support/folder.ts'
import { runs } from '../support/process-table.ts'

const files = {
  'index.js': `
    require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)
    console.log('pid', process.pid)`,
  'package.json': { name: 'only' },
}

const skip = process.platform === 'win32'

test(
  'an app whose whole process crashes is back at once, in the same outer process, and the reason is told',
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

test('one huge allocation in a thread, which nothing in the process can contain, is survived', { skip }, async () => {
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

test('with --once it ends instead', { skip }, async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--once'])
  assert.equal(Number(await textAt(await busbar.url())), busbar.child.pid)
  busbar.child.kill('SIGKILL')
  assert.equal((await busbar.ended).signal, 'SIGKILL')
})

test('one that crashes before it serves does not start again', { skip }, async () => {
  using folder = new TestFolder({ 'index.js': `console.log('pid', process.pid); setInterval(() => {}, 1000)` })
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  const { msg } = await busbar.message('pid ')
  process.kill(Number(String(msg).slice(4)), 'SIGKILL')
  const { code, stdout } = await busbar.ended
  assert.equal(code, 1)
  assert.match(stdout, /before it served/)
})

test('the app stops when the outer process is killed', { skip }, async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['start', folder.path, '--port', '0'])
  const inner = Number(await textAt(await busbar.url()))
  busbar.child.kill('SIGKILL')
  // It still says so: both write to the same pipe, which closes when the last of them has ended.
  const { stdout } = await busbar.ended
  assert.match(stdout, /"msg":"stopped"/)
  while (runs(inner)) await sleep(20)
})

test(
  'nothing is left when the outer process is killed while the inner one is stopped, and it stops in order',
  { skip },
  async () => {
    const text = `require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)`
    const config = { gateway: { port: 0 }, services: { only: { path: './only', run: 'process' } } }
    using folder = new TestFolder({ 'busbar.config.json': config, 'only/index.js': text })
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

test('a second signal ends an inner process that hears none, and what it started', { skip }, async () => {
  const text = `require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(3000)`
  const config = { gateway: { port: 0 }, services: { only: { path: './only', run: 'process' } } }
  using folder = new TestFolder({ 'busbar.config.json': config, 'only/index.js': text })
  await using busbar = new BusbarProcess(['start', folder.path])
  const service = Number(await textAt(await busbar.url()))
  const inner = parentOf(service)
  process.kill(inner, 'SIGSTOP')
  busbar.child.kill('SIGTERM')
  // Further off than signals that are the same wish.
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
        await busbar.message('the app did not start again and ended with 1; it starts again in', seen)
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
