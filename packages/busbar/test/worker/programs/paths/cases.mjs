import childProcess from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'

const require = createRequire(import.meta.url)
const { promises } = fs
const call = (name, ...args) => promisify(fs[name])(...args)
const done = (name, ...args) =>
  new Promise((resolve, reject) => fs[name](...args, (error, ...results) => (error ? reject(error) : resolve(results))))
const sorted = (names) => [...names].sort((one, other) => (String(one) < String(other) ? -1 : 1))
const entry = ({ parentPath, path, name }) => `${parentPath}|${path}|${name}`
const collect = async (found) => {
  const all = []
  for await (const one of found) all.push(one)
  return all
}
const closed = async (stream) => {
  const [error] = await Promise.race([
    once(stream, 'close'),
    once(stream, 'error').then(([error]) => Promise.reject(error)),
  ])
  return error
}

export const cases = {
  reading: async () => [
    fs.readFileSync('data/one.txt', 'utf8'),
    await done('readFile', './data/one.txt', 'utf8'),
    await promises.readFile('data/../data/one.txt', 'utf8'),
    await call('readFile', 'data/one.txt', 'utf8'),
  ],
  'writing and appending': async () => {
    fs.writeFileSync('out.txt', 'a')
    await done('appendFile', 'out.txt', 'b')
    await promises.appendFile('out.txt', 'c')
    fs.appendFileSync('out.txt', 'd')
    await promises.writeFile('out2.txt', fs.readFileSync('out.txt'))
    await done('writeFile', 'out3.txt', fs.readFileSync('out2.txt'))
    return fs.readFileSync('out3.txt', 'utf8')
  },
  opening: async () => {
    const one = fs.openSync('data/one.txt')
    const [other] = await done('open', 'data/one.txt')
    const handle = await promises.open('data/one.txt')
    const all = [fs.readFileSync(one, 'utf8'), fs.readFileSync(other, 'utf8'), await handle.readFile('utf8')]
    fs.closeSync(one)
    fs.closeSync(other)
    await handle.close()
    return all
  },
  streams: async () => {
    const from = fs.createReadStream('data/one.txt')
    const to = fs.createWriteStream('streamed.txt')
    await once(from.pipe(to), 'finish')
    const direct = new fs.ReadStream('data/one.txt', 'utf8')
    const written = new fs.WriteStream('written.txt')
    written.end('w')
    await closed(written)
    return [
      from.path,
      to.path,
      direct.path,
      fs.readFileSync('streamed.txt', 'utf8'),
      await text(direct),
      fs.readFileSync('written.txt', 'utf8'),
    ]
  },
  'a stream of nothing': async () => await closed(fs.createReadStream('nothing/at-all')),
  'a stream into nothing': async () => await closed(fs.createWriteStream('nothing/at-all')),
  'a fast stream': async () => {
    if (fs.Utf8Stream === undefined) return
    const stream = new fs.Utf8Stream({ dest: 'fast/log.txt', mkdir: true, sync: true })
    stream.write('line')
    stream.flushSync()
    stream.destroy()
    return fs.readFileSync('fast/log.txt', 'utf8')
  },
  'is it there': async () => [
    fs.existsSync('data'),
    fs.existsSync(''),
    fs.existsSync('elsewhere'),
    await new Promise((resolve) => fs.exists('data', resolve)),
    await promisify(fs.exists)('data'),
    fs.accessSync('data'),
    await done('access', 'data'),
    await promises.access('data'),
    fs.statSync('data').isDirectory(),
    (await done('stat', 'data'))[0].isDirectory(),
    (await promises.stat('data')).isDirectory(),
    fs.lstatSync('data/link').isSymbolicLink(),
    (await done('lstat', 'data/link'))[0].isSymbolicLink(),
    (await promises.lstat('data/link')).isSymbolicLink(),
    fs.statfsSync('data').bsize > 0,
    (await done('statfs', 'data'))[0].bsize > 0,
    (await promises.statfs('data')).bsize > 0,
  ],
  'a path that goes through a link': () => fs.readFileSync('data/link-to-deep/../two.txt', 'utf8'),
  'a slash behind a file': () => fs.statSync('data/one.txt/'),
  'no path': () => fs.readFileSync(''),
  'a null byte': () => fs.readFileSync('data\0'),
  'no string': () => fs.readFileSync({}),
  'a URL': () => fs.readFileSync(pathToFileURL('data/one.txt'), 'utf8'),
  'an absolute path': () => fs.readFileSync(path.resolve('data/one.txt'), 'utf8'),
  'a buffer of an absolute path': () => fs.readFileSync(Buffer.from(path.resolve('data/one.txt')), 'utf8'),
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
    // The first look at a file may come late, and is what others are compared with.
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
  'processes in their folder': async () => {
    const { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } = childProcess
    const here = process.cwd()
    const name = (folder) => path.relative(here, String(folder).trim())
    const heard = (child) => text(child.stdout)
    const forked = fork('./child.mjs', { silent: true })
    return [
      ...[
        execSync('pwd'),
        execFileSync('pwd'),
        spawnSync('pwd').stdout,
        execFileSync('pwd', { encoding: 'utf8' }),
        spawnSync('pwd', undefined, { encoding: 'utf8' }).stdout,
      ].map(name),
      ...[
        execSync('pwd', { cwd: 'data' }),
        execFileSync('pwd', [], { cwd: 'data' }),
        spawnSync('pwd', { cwd: './data' }).stdout,
      ].map(name),
      ...(
        await Promise.all([
          heard(spawn('pwd')),
          heard(spawn('pwd', { cwd: 'data' })),
          heard(spawn('pwd', [], { cwd: pathToFileURL(here) })),
          heard(forked),
        ])
      ).map(name),
      ...(
        await Promise.all([
          promisify(exec)('pwd'),
          promisify(exec)('pwd', { cwd: 'data' }),
          promisify(execFile)('pwd'),
          promisify(execFile)('pwd', ['-L'], { cwd: 'data' }),
        ])
      ).map(({ stdout }) => name(stdout)),
      ...(
        await Promise.all([
          new Promise((resolve) => exec('pwd', (_, out) => resolve(out))),
          new Promise((resolve) => exec('pwd', { cwd: 'data' }, (_, out) => resolve(out))),
          new Promise((resolve) => execFile('pwd', (_, out) => resolve(out))),
          new Promise((resolve) => execFile('pwd', ['-L'], (_, out) => resolve(out))),
          new Promise((resolve) => execFile('pwd', undefined, { cwd: 'data' }, (_, out) => resolve(out))),
        ])
      ).map(name),
    ]
  },
  'a program by a relative name': () => [
    String(childProcess.execFileSync('./hello.sh')),
    String(childProcess.execFileSync('./hello.sh', { cwd: 'data' })),
  ],
  'a folder that is not there': () => childProcess.execFileSync('pwd', { cwd: 'nothing' }),
  'options that are none': () => childProcess.spawn('pwd', [], 'x'),
  threads: async () => {
    const worker = new Worker('./thread.mjs', { workerData: 'w' })
    const [said] = await once(worker, 'message')
    return said
  },
  'a thread by no path': () => new Worker('thread.mjs'),
  databases: async () => {
    const { DatabaseSync, backup } = await import('node:sqlite')
    const required = require('node:sqlite').DatabaseSync === DatabaseSync
    const write = (...args) => {
      const database = new DatabaseSync(...args)
      database.exec('create table if not exists t (n); insert into t values (1)')
      const rows = database.prepare('select count(*) as n from t').get().n
      database.close()
      return rows
    }
    const files = [
      write('one.db'),
      write('data/two.db'),
      write(':memory:'),
      write('file:three.db?mode=rwc'),
      write(''),
      write(pathToFileURL('four.db')),
      write('file::memory:'),
    ]
    const database = new DatabaseSync('one.db')
    if (backup !== undefined) await backup(database, 'backup.db')
    const is = database instanceof DatabaseSync
    database.close()
    return [
      required,
      is,
      DatabaseSync.name,
      DatabaseSync.length,
      files,
      ['one.db', 'data/two.db', 'three.db', 'four.db', 'backup.db', ':memory:'].map((file) => fs.existsSync(file)),
    ]
  },
  'environment files': () => {
    process.loadEnvFile()
    process.loadEnvFile('data/other.env')
    return [process.env.FROM_FILE, process.env.FROM_OTHER, process.env.SET_BEFORE]
  },
  'an environment file that is not there': () => process.loadEnvFile('nothing.env'),
  sockets: async () => {
    const server = net.createServer((socket) => socket.end('hello'))
    await once(server.listen('./raw.sock'), 'listening')
    const said = [
      await text(net.connect('raw.sock')),
      await text(net.connect({ path: './raw.sock' })),
      await text(new net.Socket().connect('raw.sock')),
    ]
    const there = fs.existsSync('raw.sock')
    server.close()
    return [said, there]
  },
  'a report': () => {
    const file = process.report.writeReport('report.json')
    return [file, fs.statSync('report.json').size > 0, process.report.directory]
  },
  'paths by Node': () => [
    path.relative('', 'x'),
    path.resolve('x') === `${process.cwd()}/x`,
    pathToFileURL('x').pathname === `${process.cwd()}/x`,
  ],
  'another folder': () => {
    const before = process.cwd()
    process.chdir('data')
    try {
      return [
        path.relative(before, process.cwd()),
        fs.readFileSync('one.txt', 'utf8'),
        String(childProcess.execSync('cat one.txt')),
        path.resolve('x') === path.join(before, 'data', 'x'),
      ]
    } finally {
      process.chdir('..')
    }
  },
  'a folder that is not there, entered': () => process.chdir('nothing'),
  'a file, entered': () => process.chdir('data/one.txt'),
  'a compile cache': () => typeof enableCompileCache('cache').status,
}
