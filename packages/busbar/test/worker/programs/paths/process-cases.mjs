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

export const processCases = {
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
