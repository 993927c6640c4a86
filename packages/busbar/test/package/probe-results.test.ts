/**
 * The results of probes are kept for the next start. Each test replaces what is kept by something
 * that no probe finds, and looks whether an app believes it.
 */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, constants, readdirSync, rmSync, utimesSync } from 'node:fs'
import { after, before, beforeEach, describe, test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { installPacked } from '../support/app/packed-package.ts'
import { TestFolder } from '../support/app/test-folder.ts'

let folder: TestFolder

before(async () => {
  folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
    'web/index.mjs': `import { createServer } from 'node:http'; createServer((_, res) => res.end()).listen(3000)`,
  })
  await installPacked(folder.path)
})

beforeEach(() => rmSync(folder.at('cache'), { recursive: true, force: true }))

after(() => folder[Symbol.dispose]())

const found = /accelerators on: exchange, stream, handover;/
const believed = /accelerators off: exchange \(so it was kept\)/

const clean = { NODE_OPTIONS: undefined, BUSBAR_ACCELERATORS: undefined }

interface Start {
  readonly env?: NodeJS.ProcessEnv
  readonly node?: string
}

/** What the log of an app says of accelerators. */
async function accelerators({ env, node }: Start = {}): Promise<string> {
  await using busbar = new BusbarProcess(['start', '--once'], {
    cwd: folder.path,
    entry: folder.at('node_modules/busbar/bin/busbar.js'),
    env: { ...clean, XDG_CACHE_HOME: folder.at('cache'), XDG_RUNTIME_DIR: folder.path, ...env },
    ...(node !== undefined && { node }),
  })
  const { msg } = await busbar.message('accelerators ')
  return String(msg)
}

function keptFile(): string {
  const names = readdirSync(folder.at('cache/busbar')).filter((name) => name.startsWith('probes-'))
  assert.equal(names.length, 1, names.join())
  return `cache/busbar/${names[0]}`
}

/** Starts once, so that there are results, and replaces them. Returns their file. */
async function replaceResults(start: Start = {}): Promise<string> {
  assert.match(await accelerators(start), found)
  const file = keptFile()
  const { identity } = JSON.parse(folder.read(file)) as { identity: string }
  folder.write(file, { identity, states: [{ name: 'exchange', on: false, why: 'so it was kept' }] })
  return file
}

describe('the results of probes', { skip: process.platform === 'win32' }, () => {
  test('are used by the next start, and in a file of this user', async () => {
    const file = await replaceResults()
    assert.match(await accelerators(), believed)
    assert.match(await accelerators({ env: { NODE_OPTIONS: '--no-warnings' } }), found)
    assert.match(await accelerators({ env: { NODE_PENDING_DEPRECATION: '1' } }), found)
    rmSync(folder.at(file))
    assert.match(await accelerators(), found)
  })

  test('are not used from a file that another user may write', async () => {
    const file = await replaceResults()
    chmodSync(folder.at(file), 0o622)
    assert.match(await accelerators(), found)
  })

  test('are not kept in a folder that another user may write', async () => {
    await replaceResults()
    chmodSync(folder.at('cache/busbar'), 0o777)
    assert.match(await accelerators(), found)
  })

  test('are not used by another version of Busbar, or after a change of its code', async () => {
    await replaceResults()
    const manifest = folder.read('node_modules/busbar/package.json')
    folder.write('node_modules/busbar/package.json', manifest.replace(/"version": "[^"]+"/, '"version": "0.0.1"'))
    assert.match(await accelerators(), found)
    folder.write('node_modules/busbar/package.json', manifest)
    await replaceResults()
    const code = 'node_modules/busbar/dist/accelerators/stream/index.js'
    folder.write(code, `${folder.read(code)}\n`)
    assert.match(await accelerators(), found)
  })

  test('are not used after a change of the binary of Node', async () => {
    const node = folder.at('node')
    copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE)
    await replaceResults({ node })
    assert.match(await accelerators({ node }), believed)
    utimesSync(node, 1, 1)
    assert.match(await accelerators({ node }), found)
  })

  test('are not kept if a probe fails', async () => {
    rmSync(folder.at('node_modules/busbar/dist/accelerators/handover'), { recursive: true })
    assert.match(await accelerators(), /off: handover \(this Busbar comes without it\)/)
    assert.deepEqual(
      readdirSync(folder.at('cache/busbar')).filter((name) => name.startsWith('probes-')),
      [],
    )
  })
})
