import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { limitCompileCache } from '../../../src/cli/background/compile-cache-limit.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Answers with what a program, and a process that it starts, know of the cache. */
const program = `
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { getCompileCacheDir } from 'node:module'
const names = (env) => Object.keys(env).filter((name) => name.includes('COMPILE_CACHE'))
const script = 'console.log(JSON.stringify(Object.keys(process.env).filter((name) => name.includes("COMPILE_CACHE"))))'
createServer((request, response) => {
  const child = JSON.parse(execFileSync(process.execPath, ['-e', script]))
  response.end(JSON.stringify({ folder: getCompileCacheDir() ?? null, own: names(process.env), child }))
}).listen(3000)`

const runs = ['shared', 'thread', 'process'] as const

const files = {
  'busbar.config.json': {
    gateway: { port: 0, routes: Object.fromEntries(runs.map((run) => [`/${run}`, run])) },
    services: Object.fromEntries(runs.map((run) => [run, { path: `./${run}`, run }])),
  },
  ...Object.fromEntries(runs.map((run) => [`${run}/index.mjs`, program])),
}

interface Seen {
  readonly folder: string | null
  readonly own: readonly string[]
  readonly child: readonly string[]
}

/** What each service answers. Ends the app. */
async function seenIn(folder: TestFolder, env: NodeJS.ProcessEnv = {}): Promise<Record<string, Seen>> {
  const own = { XDG_RUNTIME_DIR: folder.at('run'), XDG_CACHE_HOME: folder.at('cache'), NODE_COMPILE_CACHE: undefined }
  await using busbar = new BusbarProcess(['start'], { cwd: folder.path, env: { ...own, ...env } })
  const url = await busbar.url()
  const seen: Record<string, Seen> = {}
  for (const run of runs) seen[run] = (await (await fetch(`${url}/${run}`)).json()) as Seen
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
  return seen
}

function allHave(folder: string | null, names: readonly string[] = []): Record<string, Seen> {
  return Object.fromEntries(runs.map((run) => [run, { folder, own: names, child: names }]))
}

describe('the compile cache', () => {
  test('is in a folder of this user, and programs hand it on to nobody', async () => {
    using folder = new TestFolder(files)
    const compiled = folder.at('cache/busbar/compiled')
    for (const { folder: used, own, child } of Object.values(await seenIn(folder))) {
      assert.ok(used?.startsWith(compiled), String(used))
      assert.deepEqual([own, child], [[], []])
    }
    const [version] = readdirSync(compiled)
    assert.notEqual(readdirSync(folder.at(`cache/busbar/compiled/${version}`)).length, 0)
    if (process.platform !== 'win32') assert.equal(statSync(compiled).mode & 0o777, 0o700)
  })

  test('is not used in a folder in which others can write', { skip: process.platform === 'win32' }, async () => {
    using folder = new TestFolder(files)
    mkdirSync(folder.at('cache/busbar'), { recursive: true })
    chmodSync(folder.at('cache/busbar'), 0o777)
    assert.deepEqual(await seenIn(folder), allHave(null))
    assert.equal(existsSync(folder.at('cache/busbar/compiled')), false)
  })

  test('is switched off by the variable of Node', async () => {
    using folder = new TestFolder(files)
    const name = 'NODE_DISABLE_COMPILE_CACHE'
    assert.deepEqual(await seenIn(folder, { [name]: '1' }), allHave(null, [name]))
  })

  test('of the user stays as it is', async () => {
    using folder = new TestFolder(files)
    const seen = await seenIn(folder, { NODE_COMPILE_CACHE: folder.at('own') })
    for (const { folder: used, own, child } of Object.values(seen)) {
      assert.ok(used?.startsWith(folder.at('own')), String(used))
      assert.deepEqual([own, child], [['NODE_COMPILE_CACHE'], ['NODE_COMPILE_CACHE']])
    }
    assert.equal(existsSync(folder.at('cache/busbar/compiled')), false)
  })

  const limits = { files: 2, bytes: 2000 }
  for (const [what, less] of [
    ['large', { ...limits, bytes: 1999 }],
    ['many files', { ...limits, files: 1 }],
  ] as const)
    test(`is removed when it is too ${what}`, async () => {
      using folder = new TestFolder({})
      const compiled = folder.at('busbar/compiled')
      mkdirSync(`${compiled}/v24`, { recursive: true })
      for (const name of ['one', 'other']) writeFileSync(`${compiled}/v24/${name}`, 'x'.repeat(1000))
      const env = { XDG_CACHE_HOME: folder.path, LOCALAPPDATA: folder.path }
      await limitCompileCache(env, limits)
      assert.equal(existsSync(compiled), true)
      await limitCompileCache(env, less)
      assert.equal(existsSync(compiled), false)
      // There is none any more.
      await limitCompileCache(env, less)
    })
})
