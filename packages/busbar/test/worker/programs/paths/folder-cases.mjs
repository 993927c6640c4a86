import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { promises, done, sorted, entry, collect } from './results.mjs'

export const folderCases = {
  folders: async () => {
    const made = [
      fs.mkdirSync('m/a/b', { recursive: true }),
      (await done('mkdir', 'm/c/d', { recursive: true }))[0],
      await promises.mkdir('m/e/f', { recursive: true }),
      fs.mkdirSync('m/g'),
    ]
    fs.rmdirSync('m/a/b')
    await done('rmdir', 'm/c/d')
    await promises.rmdir('m/e/f')
    fs.rmSync('m/a', { recursive: true })
    await done('rm', 'm/c', { recursive: true })
    await promises.rm('m/e', { recursive: true })
    return [made, fs.readdirSync('m')]
  },
  'temporary folders': async () => {
    const made = [
      fs.mkdtempSync('t-'),
      (await done('mkdtemp', './t-'))[0],
      await promises.mkdtemp('t/../t-').catch(({ code }) => code),
    ]
    const there = made.slice(0, 2).map((one) => fs.statSync(one).isDirectory())
    const disposable = fs.mkdtempDisposableSync?.('t-')
    disposable?.remove()
    const other = await promises.mkdtempDisposable?.('t-')
    await other?.remove()
    const left = [disposable, other].map((one) => one !== undefined && fs.existsSync(one.path))
    return [[...made, disposable?.path, other?.path].map((one) => one?.replace(/[^/]{6}$/, '')), there, left]
  },
  entries: async () => [
    sorted(fs.readdirSync('data')),
    sorted((await done('readdir', 'data'))[0]),
    sorted(await promises.readdir('./data')),
    sorted(fs.readdirSync('data', { withFileTypes: true }).map(entry)),
    sorted((await done('readdir', './data', { withFileTypes: true, recursive: true }))[0].map(entry)),
    sorted((await promises.readdir('.', { withFileTypes: true })).map(entry)).slice(0, 1),
    sorted(fs.readdirSync('data', { recursive: true })),
    sorted(fs.readdirSync('data', 'buffer')).map(String),
  ],
  'open folders': async () => {
    const folders = [
      fs.opendirSync('data'),
      (await done('opendir', 'data'))[0],
      await promises.opendir('data'),
      await promisify(fs.opendir)('data'),
    ]
    return await Promise.all(folders.map(async (folder) => sorted((await collect(folder)).map(({ name }) => name))))
  },
  globs: async () => [
    sorted(fs.globSync('data/*')),
    sorted((await done('glob', 'data/**'))[0]),
    sorted(await collect(promises.glob('**/*.txt', { cwd: 'data' }))),
    sorted(fs.globSync('*', { cwd: pathToFileURL('data/') })),
    sorted(fs.globSync('data/*', { withFileTypes: true }).map(entry)),
    sorted(fs.globSync('*', { withFileTypes: true, cwd: './data' }).map(entry)),
    sorted((await done('glob', '*', { withFileTypes: true, cwd: 'data' }))[0].map(entry)),
    sorted((await collect(promises.glob('data/*', { withFileTypes: true }))).map(entry)),
    sorted(fs.globSync('data/*', { exclude: (name) => name.endsWith('.txt') })),
  ],
  links: async () => {
    fs.symlinkSync('one.txt', 'data/s1')
    await done('symlink', 'one.txt', 'data/s2')
    await promises.symlink('one.txt', 'data/s3')
    fs.linkSync('data/one.txt', 'h1')
    await done('link', 'data/one.txt', 'h2')
    await promises.link('data/one.txt', 'h3')
    const texts = ['data/s1', 'data/s2', 'data/s3', 'h1', 'h2', 'h3'].map((file) => fs.readFileSync(file, 'utf8'))
    const targets = [
      fs.readlinkSync('data/s1'),
      (await done('readlink', 'data/s2'))[0],
      await promises.readlink('data/s3'),
    ]
    for (const name of ['s1', 's2', 's3']) fs.unlinkSync(`data/${name}`)
    return [texts, targets]
  },
  'real paths': async () => {
    const base = fs.realpathSync(process.cwd())
    const all = [
      fs.realpathSync('data/link'),
      fs.realpathSync.native('data/link'),
      (await done('realpath', 'data/link'))[0],
      await promisify(fs.realpath.native)('data/link'),
      await promises.realpath('data/link'),
    ]
    return all.map((one) => path.relative(base, one))
  },
  'moving and copying': async () => {
    fs.copyFileSync('data/one.txt', 'c1')
    await done('copyFile', 'c1', 'c2')
    await promises.copyFile('c2', 'c3')
    fs.renameSync('c1', 'r1')
    await done('rename', 'c2', 'r2')
    await promises.rename('c3', path.resolve('r3'))
    const asked = []
    const filter = (...both) => asked.push(both) > 0
    fs.cpSync('data', 'copy1', { recursive: true, filter })
    await done('cp', 'data', 'copy2', { recursive: true })
    await promises.cp('data', 'copy3', { recursive: true, filter })
    return [
      ['r1', 'r2', 'r3', 'copy2/deep/three.txt', 'copy3/two.txt'].map((file) => fs.readFileSync(file, 'utf8')),
      sorted(asked.map(String)),
    ]
  },
  'rights, sizes and times': async () => {
    fs.writeFileSync('attributes', 'abcdef')
    fs.chmodSync('attributes', 0o600)
    await done('chmod', 'attributes', 0o640)
    await promises.chmod('attributes', 0o644)
    const { uid, gid } = fs.statSync('attributes')
    fs.chownSync('attributes', uid, gid)
    await done('chown', 'attributes', uid, gid)
    await promises.chown('attributes', uid, gid)
    fs.lchownSync('attributes', uid, gid)
    await done('lchown', 'attributes', uid, gid)
    await promises.lchown('attributes', uid, gid)
    fs.utimesSync('attributes', 1, 1)
    await done('utimes', 'attributes', 2, 2)
    await promises.utimes('attributes', 3, 3)
    fs.lutimesSync('attributes', 4, 4)
    await done('lutimes', 'attributes', 5, 5)
    await promises.lutimes('attributes', 6, 6)
    fs.truncateSync('attributes', 5)
    await done('truncate', 'attributes', 4)
    await promises.truncate('attributes', 3)
    const { mode, mtimeMs, size } = fs.statSync('attributes')
    fs.unlinkSync('attributes')
    return [mode, size, mtimeMs > 0]
  },
  blobs: async () => [
    await (await fs.openAsBlob('data/one.txt')).text(),
    await fs.openAsBlobSync?.('data/one.txt').text(),
  ],
  watching: async () => {
    const watcher = fs.watch('data')
    const seen = once(watcher, 'change')
    const aborted = new AbortController()
    const polled = promises.watch('data', { signal: aborted.signal })[Symbol.asyncIterator]().next()
    const changed = new Promise((resolve) => fs.watchFile('data/watched', { interval: 20 }, resolve))
    // The first stat of the file may be late. Later ones are compared with it.
    const writing = setInterval(() => fs.appendFileSync('data/watched', 'x'), 20)
    await Promise.all([seen, polled, changed])
    clearInterval(writing)
    watcher.close()
    aborted.abort()
    fs.unwatchFile('data/watched')
    fs.unlinkSync('data/watched')
    return 'seen'
  },
  ...Object.fromEntries(
    Object.entries({
      readFile: ['nothing'],
      open: ['nothing'],
      stat: ['./nothing'],
      rename: ['nothing', 'else'],
      copyFile: ['nothing', './else'],
      readdir: ['nothing'],
      opendir: ['nothing'],
      mkdir: ['data'],
      rmdir: ['nothing'],
      unlink: ['nothing'],
      symlink: ['one.txt', 'data/one.txt'],
      access: ['nothing'],
      realpath: ['nothing'],
      truncate: ['nothing'],
      cp: ['nothing', 'else'],
      rm: ['nothing'],
    }).flatMap(([name, args]) => [
      [`the error of ${name}Sync`, () => fs[`${name}Sync`](...args)],
      [`the error of ${name}`, () => done(name, ...args)],
      [`the error of promises.${name}`, () => promises[name](...args)],
    ]),
  ),
  'the error of watch': () => fs.watch('nothing'),
  'the error of realpath.native': () => fs.realpathSync.native('nothing'),
}
