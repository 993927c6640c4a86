import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import process, { cwd, env } from 'node:process'
import { SHARE_ENV, Worker } from 'node:worker_threads'

const atImport = { name: process.env.NAME, cwd: process.cwd(), imported: env.NAME, importedCwd: cwd() }

const questions = {
  '/': () => ({
    atImport,
    name: process.env.NAME,
    cwd: process.cwd(),
    path: resolve('x'),
    argv: process.argv.slice(1),
  }),
  '/timer': () => new Promise((done) => setTimeout(() => done({ name: process.env.NAME }), 1)),
  '/write': () => {
    process.env.WRITTEN = 12
    const written = process.env.WRITTEN
    const seen = Object.keys(process.env).includes('WRITTEN') && 'WRITTEN' in process.env && { ...process.env }.WRITTEN
    return { written, seen }
  },
  '/read': () => ({ written: process.env.WRITTEN ?? null }),
  '/delete': () => {
    delete process.env.WRITTEN
    return { gone: !('WRITTEN' in process.env) }
  },
  '/child': () =>
    new Promise((done) => {
      const child = spawn(process.execPath, ['-p', 'process.env.NAME + " " + process.cwd()'])
      child.stdout.setEncoding('utf8').on('data', (text) => done({ says: text.trim() }))
    }),
  '/child-sync': () => ({ says: execFileSync(process.execPath, ['-p', 'process.env.NAME']).toString().trim() }),
  '/thread': () =>
    new Promise((done) => {
      const code = 'require("worker_threads").parentPort.postMessage(process.env.NAME)'
      new Worker(code, { eval: true }).on('message', (name) => done({ name }))
    }),
  '/thread-that-shares': () =>
    new Promise((done) => {
      const code = 'require("worker_threads").parentPort.postMessage(process.env.NAME)'
      new Worker(code, { eval: true, env: SHARE_ENV }).on('message', (name) => done({ name }))
    }),
  '/pwd': () => ({ pwd: process.env.PWD ?? null }),
  '/events': () => {
    const emitted = ['uncaughtException', 'unhandledRejection'].map((event) =>
      process.emit(event, new Error('emitted')),
    )
    process.on('SIGUSR2', () => {}).on('own event', () => {})
    const names = process.eventNames()
    const isSeen = ['SIGUSR2', 'own event', 'uncaughtException', 'SIGTERM'].map((name) => names.includes(name))
    process.removeAllListeners('SIGUSR2').removeAllListeners('own event')
    return { emitted, isSeen }
  },
  '/chdir': () => {
    const before = process.cwd()
    process.chdir('.')
    process.chdir(before)
    process.chdir('/')
    const inside = [process.cwd(), resolve('x'), existsSync('index.mjs')]
    process.chdir(before)
    return { inside, after: [process.cwd(), existsSync('index.mjs')] }
  },
}

createServer(async (req, res) => res.end(JSON.stringify(await questions[req.url]()))).listen(3000)
