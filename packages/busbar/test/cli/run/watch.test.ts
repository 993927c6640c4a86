import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { type Unseen, type WatchOptions, watchFiles } from '../../../src/cli/watch/watch-files.ts'
import { type Files, TestFolder } from '../../support/app/test-folder.ts'

const files: Files = {
  'web/index.js': '',
  'web/lib/deep/x.js': '',
  'web/node_modules/dep/index.js': '',
  'app.json': '',
  'other.json': '',
}

const watchModule = new URL('../../../src/cli/watch/watch-files.ts', import.meta.url).href
const script = `
const { watchFiles } = await import(process.argv[1])
const watching = await watchFiles({ folders: [process.argv[2]], files: [], changed() {} })
console.log(...watching.unseen)
watching.close()`

test('changes at the same time are reported together', async () => {
  await using watched = await Watched.open()
  watched.folder.write('web/index.js', '1')
  watched.folder.write('web/lib/deep/x.js', '2')
  assert.deepEqual(await watched.changes(), ['web/index.js', 'web/lib/deep/x.js'])
})

test('a single file is watched without its neighbours, also when it is saved by a rename', async () => {
  await using watched = await Watched.open()
  watched.folder.write('other.json', '1')
  watched.folder.write('app.json', '2')
  assert.deepEqual(await watched.changes(), ['app.json'])
  rmSync(watched.folder.at('app.json'))
  watched.folder.write('app.json', '3')
  assert.deepEqual(await watched.changes(), ['app.json'])
})

test('files written by an installation, a build or an editor are ignored', async () => {
  await using watched = await Watched.open()
  for (const name of [
    'web/node_modules/dep/index.js',
    'web/.git/HEAD',
    'web/dist/out.js',
    'web/index.js~',
    'web/.index.js.swp',
  ])
    watched.folder.write(name, '1')
  watched.folder.write('web/lib/deep/x.js', '2')
  assert.deepEqual(await watched.changes(), ['web/lib/deep/x.js'])
})

test('a folder in the options is watched even if its name is ignored elsewhere', async () => {
  await using watched = await Watched.open({ folders: ['web', 'web/node_modules/dep'] })
  watched.folder.write('web/node_modules/dep/index.js', '1')
  assert.deepEqual(await watched.changes(), ['web/node_modules/dep/index.js'])
})

test('new and recreated folders are watched', async () => {
  await using watched = await Watched.open()
  for (const name of ['new', 'lib']) {
    rmSync(watched.folder.at('web', name), { recursive: true, force: true })
    mkdirSync(watched.folder.at('web', name))
    await watched.changes()
    watched.folder.write(`web/${name}/y.js`, '1')
    assert.deepEqual(await watched.changes(), [`web/${name}/y.js`])
  }
})

test('folders beyond the limit are not watched, which is reported', async () => {
  await using watched = await Watched.open({ most: 2 })
  assert.deepEqual([...watched.unseen], ['limit'])
})

test('folders that the user may not read are reported as such', { skip: process.platform === 'win32' }, () => {
  using folder = new TestFolder(files)
  chmodSync(folder.path, 0o755)
  folder.forbid('web/lib')
  // Root may read everything.
  const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {}
  const args = ['--conditions=busbar-source', '--input-type=module', '-e', script, watchModule, folder.at('web')]
  const out = execFileSync(process.execPath, args, { ...user, cwd: '/', encoding: 'utf8' })
  chmodSync(folder.at('web/lib'), 0o755)
  assert.equal(out.trim(), 'permission')
})

test('a folder that does not exist is no error', async () => {
  await using watched = await Watched.open({ folders: ['web', 'nowhere'] })
  watched.folder.write('web/index.js', '1')
  assert.deepEqual(await watched.changes(), ['web/index.js'])
})

class Watched implements AsyncDisposable {
  readonly folder = new TestFolder(files)
  unseen: ReadonlySet<Unseen> = new Set()
  #told: string[][] = []
  #waiting: (() => void) | undefined
  #close = (): void => {}

  static async open(options: Partial<WatchOptions> = {}): Promise<Watched> {
    const watched = new Watched()
    const { folder } = watched
    const watching = await watchFiles({
      files: [folder.at('app.json')],
      ...options,
      folders: (options.folders ?? ['web']).map((name) => folder.at(name)),
      changed: (paths) => watched.#tell(paths),
    })
    watched.unseen = watching.unseen
    watched.#close = () => watching.close()
    return watched
  }

  /** The next changes, relative and in order. */
  async changes(): Promise<string[]> {
    if (this.#told.length === 0) await new Promise<void>((resolve) => (this.#waiting = resolve))
    return this.#told
      .shift()!
      .map((path) => path.slice(this.folder.path.length + 1))
      .toSorted()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    this.folder[Symbol.dispose]()
  }

  #tell(paths: readonly string[]): void {
    this.#told.push([...paths])
    this.#waiting?.()
  }
}
