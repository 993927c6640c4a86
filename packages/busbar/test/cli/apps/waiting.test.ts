import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { announceWaiting, listWaiting } from '../../../src/cli/background/waiting-apps.ts'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const files = {
  'package.json': { name: 'shop' },
  'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
  'web/index.js': `require('node:http').createServer((request, response) => response.end('ok')).listen(3000)`,
}

interface Listed {
  readonly runs: readonly { readonly app: { readonly pid: number } }[]
  readonly waiting: readonly { readonly name: string; readonly pid: number }[]
}

test('an app whose process has crashed is shown, saved and stopped while it waits for its restart', async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }
  const run = (...args: string[]): Promise<Ended> => BusbarProcess.run(args, { env, cwd: folder.path })
  const list = async (): Promise<Listed> => JSON.parse((await run('ps', '--json')).stdout) as Listed
  await using app = new BusbarProcess(['start'], { env, cwd: folder.path })
  await app.url()
  const before = await list()
  assert.deepEqual(before.waiting, [])
  folder.write('web/index.js', `throw new Error('broken')`)
  process.kill(before.runs[0]!.app.pid, 'SIGKILL')
  let listed = before
  while (listed.waiting.length === 0) listed = await list()
  assert.deepEqual(listed.waiting, [{ name: 'shop', root: folder.path, pid: app.child.pid }])
  // Each attempt to start it is shown as a run, which may have just ended.
  let described = await run('describe')
  while (described.code === 0 || described.stderr.includes('has ended')) described = await run('describe')
  assert.equal(described.code, 4)
  assert.match(described.stderr, /shop \(process \d+\) waits for its restart: its process has crashed/)
  const saved = await run('save', '--json')
  assert.equal(saved.code, 0, saved.stderr)
  const { code, stderr } = await run('stop', 'shop')
  assert.equal(code, 0, stderr)
  await app.ended
  assert.deepEqual(await list(), { runs: [], silent: [], waiting: [] })
})

test('an app that serves again after a crash is not shown as one that waits', async () => {
  using folder = new TestFolder(files)
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }
  await using app = new BusbarProcess(['start'], { env, cwd: folder.path })
  await app.url()
  const list = async (): Promise<Listed> =>
    JSON.parse((await BusbarProcess.run(['ps', '--json'], { env, cwd: folder.path })).stdout) as Listed
  const { pid } = (await list()).runs[0]!.app
  const from = app.events.length
  process.kill(pid, 'SIGKILL')
  await app.event((event) => Array.isArray(event['addresses']), from)
  const { runs, waiting } = await list()
  assert.deepEqual([runs.length, waiting], [1, []])
  assert.notEqual(runs[0]!.app.pid, pid)
})

test('records in a folder that others can change are not believed, and none is written there', () => {
  using folder = new TestFolder({ 'run/other': '' })
  const env = { XDG_RUNTIME_DIR: folder.at('run') }
  const record = { name: 'shop', root: folder.path, args: [], folder: folder.path, isDetached: true }
  mkdirSync(folder.at('run', 'busbar'), { mode: 0o700 })
  using _waiting = announceWaiting(env, record)
  assert.deepEqual(
    listWaiting(env).map(({ name, pid }) => [name, pid]),
    [['shop', process.pid]],
  )
  // As if another user had made the folder: the link is not the folder's owner's.
  renameSync(folder.at('run', 'busbar'), folder.at('run', 'elsewhere'))
  symlinkSync(folder.at('run', 'elsewhere'), folder.at('run', 'busbar'))
  assert.deepEqual(listWaiting(env), [])
})

test('a record of another PID namespace is neither shown nor removed', () => {
  using folder = new TestFolder({ 'run/other': '' })
  const env = { XDG_RUNTIME_DIR: folder.at('run') }
  mkdirSync(folder.at('run', 'busbar'), { mode: 0o700 })
  const file = folder.at('run', 'busbar', `busbar-waits-${process.pid}.json`)
  using _waiting = announceWaiting(env, { name: 'shop', root: '/', args: [], folder: '/', isDetached: true })
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), namespace: 'pid:[1]' }))
  assert.deepEqual(listWaiting(env), [])
  assert.ok(existsSync(file))
})
