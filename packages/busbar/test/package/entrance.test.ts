/** The packed native entrance, installed beside the packed `busbar`, where there is no cargo. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { mkdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import { entrancePackage } from '../../src/entrance/load.ts'
import { builtAddon } from '../entrance/served.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { packedIn } from '../support/app/packages.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
// The package has no sources, so imports that need them must fail here.
const env = { NODE_OPTIONS: '', PATH: dirname(process.execPath) }

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Extracts a tarball where npm would install it. */
async function install(folder: TestFolder, name: string, tarball: string): Promise<Manifest> {
  const target = folder.at(`node_modules/${name}`)
  await mkdir(target, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
  return JSON.parse(await readFile(join(target, 'package.json'), 'utf8')) as Manifest
}

/** As they are installed in this repository. */
async function linkDependencies(folder: TestFolder, { dependencies = {} }: Manifest): Promise<void> {
  const require = createRequire(new URL('../../package.json', import.meta.url))
  for (const name of Object.keys(dependencies)) {
    const found = require.resolve.paths(name)!.map((path) => join(path, name))
    for (const path of found) {
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined) continue
      await mkdir(dirname(folder.at(`node_modules/${name}`)), { recursive: true })
      symlinkSync(real, folder.at(`node_modules/${name}`))
      break
    }
  }
}

describe('the packed native entrance', options, () => {
  it('serves an app in an empty folder', async () => {
    using folder = new TestFolder({
      'busbar.config.json': { gateway: { port: 0, entrance: 'native' }, services: { web: './web' } },
      'web/index.js': "require('node:http').createServer((_, response) => response.end('hello')).listen(3000)",
    })
    const busbar = await install(folder, 'busbar', await packedIn(folder.path, 'busbar'))
    await linkDependencies(folder, busbar)
    const entrance = await install(folder, entrancePackage, await packedIn(folder.path, 'entrance'))
    assert.deepEqual(busbar.optionalDependencies, { [entrancePackage]: entrance.version })
    const entry = folder.at('node_modules/busbar/bin/busbar.js')
    await using started = new BusbarProcess(['start'], { cwd: folder.path, env, entry })
    const url = await started.url()
    assert.equal(await (await fetch(url)).text(), 'hello')
    started.child.kill('SIGTERM')
    assert.equal((await started.ended).code, 0)
  })

  it('is named only in packed manifests', async () => {
    for (const file of ['../../package.json', '../../../../package.json', '../../../../package-lock.json']) {
      const text = await readFile(new URL(file, import.meta.url), 'utf8')
      assert.doesNotMatch(text, /@busbar\/entrance/)
    }
  })
})

it('without its package, an app with the native entrance does not start, and says how to get it', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0, entrance: 'native' }, services: { web: './web' } },
    'web/index.js': "require('node:http').createServer((_, response) => response.end('hello')).listen(3000)",
  })
  const busbar = await install(folder, 'busbar', await packedIn(folder.path, 'busbar'))
  await linkDependencies(folder, busbar)
  const entry = folder.at('node_modules/busbar/bin/busbar.js')
  const { code, stderr } = await BusbarProcess.run(['start'], { cwd: folder.path, env, entry })
  assert.equal(code, 1)
  assert.match(stderr, /there is no binary of the native entrance.*\n.*Install @busbar\/entrance-/s)
})
