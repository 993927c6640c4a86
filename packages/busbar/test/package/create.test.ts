/** `npm create busbar` from the packed tarballs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { packedIn } from '../support/app/packages.ts'
import { TestFolder } from '../support/app/test-folder.ts'

// The packages have no sources, so imports that need them must fail here.
const env = { NODE_OPTIONS: '' }

test('npm create busbar writes an app that starts with the busbar of its own version', async () => {
  using folder = new TestFolder({})
  const created = await extract(folder, 'create-busbar')
  const busbar = await extract(folder, 'busbar')
  assert.deepEqual(created.dependencies, { busbar: busbar.version })
  linkDependencies(folder, Object.keys(busbar.dependencies))
  const entry = folder.at('node_modules/create-busbar/bin/create-busbar.js')
  const { code, stdout, stderr } = await BusbarProcess.run(['shop', '--template', 'both'], {
    cwd: folder.path,
    env,
    entry,
  })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /cd shop\n +npm install\n +npm run dev/)
  const manifest = JSON.parse(folder.read('shop/package.json')) as Manifest
  assert.equal(manifest.dependencies['busbar'], `^${busbar.version}`)
  const bin = folder.at('node_modules/busbar/bin/busbar.js')
  await using app = new BusbarProcess(['start', '--port', '0'], { cwd: folder.at('shop'), env, entry: bin })
  const answer = await fetch(await app.url())
  assert.equal(await answer.text(), 'a book\n')
})

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

/** Where npm would install it. */
async function extract(folder: TestFolder, name: 'busbar' | 'create-busbar'): Promise<Manifest> {
  const target = folder.at('node_modules', name)
  await mkdir(target, { recursive: true })
  execFileSync('tar', ['-xzf', await packedIn(folder.path, name), '-C', target, '--strip-components=1'])
  return JSON.parse(await readFile(join(target, 'package.json'), 'utf8')) as Manifest
}

/** As they are installed in this repository. */
function linkDependencies(folder: TestFolder, names: readonly string[]): void {
  const require = createRequire(new URL('../../package.json', import.meta.url))
  for (const name of names) {
    const manifest = require.resolve.paths(name)!.map((path) => join(path, name, 'package.json'))
    const found = manifest.find((path) => existsSync(path))!
    mkdirSync(dirname(folder.at('node_modules', name)), { recursive: true })
    symlinkSync(dirname(found), folder.at('node_modules', name))
  }
}
