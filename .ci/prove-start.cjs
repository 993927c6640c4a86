// Proves that `npm start` works in a fresh clone with the machine's Node: the app answers, and a
// signal to npm ends all processes. What it has installed then serves this folder, too. Plain
// CommonJS, since nothing is installed yet.
'use strict'
const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

const root = path.dirname(__dirname)
const url = 'http://127.0.0.1:3043/tsfastify/ipc'
const expected = '{"success":true}'
// The first start installs and builds.
const startLimit = 10 * 60_000
const stopLimit = 30_000

main().catch((error) => {
  console.error(`✖ npm start: ${error.message}`)
  process.exitCode = 1
})

async function main() {
  // With a space in the name, to test quoting.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'busbar start '))
  try {
    copyTo(folder)
    for (const signal of ['SIGINT', 'SIGTERM']) await prove(folder, signal)
    keepPackages(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies the committed files, or without a Git repository all files. */
function copyTo(folder) {
  const archive = path.join(folder, 'copy.tar')
  try {
    execFileSync('git', ['archive', '--output', archive, 'HEAD'], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch {
    const skipped = ['node_modules', 'dist', 'target', '.git'].map((name) => `--exclude=${name}`)
    execFileSync('tar', ['-cf', archive, ...skipped, '-C', root, '.'])
  }
  execFileSync('tar', ['-xf', archive, '-C', folder])
  fs.rmSync(archive)
}

/**
 * Moves the packages of the lock file here, unless some are installed: a second `npm ci` would take
 * half a minute. The root's come last, since `bootstrap.cjs` looks for its stamp there.
 */
function keepPackages(folder) {
  if (fs.existsSync(path.join(root, 'node_modules'))) return
  const workspaces = ['packages', 'examples'].flatMap((parent) =>
    fs.readdirSync(path.join(folder, parent)).map((name) => path.join(parent, name)),
  )
  for (const owner of [...workspaces, '.']) {
    const [from, to] = [folder, root].map((place) => path.join(place, owner, 'node_modules'))
    try {
      if (fs.existsSync(from) && !fs.existsSync(to)) fs.renameSync(from, to)
    } catch (error) {
      // On another file system. `npm test` installs them.
      console.error(`– packages not reused: ${error.message}`)
      return
    }
  }
}

async function prove(folder, signal) {
  if (await isOpen()) throw new Error('port 3043 is in use')
  const began = Date.now()
  const app = spawn('npm', ['start'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: cleanEnv(),
  })
  const output = keepTail(app)
  const exited = new Promise((resolve) => app.on('exit', (code, by) => resolve({ code, by })))
  try {
    const answer = await until(firstAnswer, startLimit, exited)
    if (answer !== expected) throw new Error(`${url} answered ${answer}`)
    const ready = Date.now() - began
    const asked = Date.now()
    process.kill(app.pid, signal)
    await within(exited, stopLimit, `it still ran ${stopLimit / 1000} s after ${signal}`)
    await until(() => !groupRuns(app.pid), stopLimit)
    if (await isOpen()) throw new Error(`the port was still open after ${signal}`)
    const [answered, ended] = [ready, Date.now() - asked].map((time) => `${(time / 1000).toFixed(1)} s`)
    console.error(
      `✔ npm start on Node ${process.versions.node}: answered after ${answered}, ${signal} ended it in ${ended}`,
    )
  } catch (error) {
    if (groupRuns(app.pid)) process.kill(-Number(app.pid), 'SIGKILL')
    throw new Error(`${error.message}\n${output()}`, { cause: error })
  }
}

/** The environment of a user's shell: without variables of npm and Node. */
function cleanEnv() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_)|^NODE_OPTIONS$|^INIT_CWD$/i.test(name),
  )
  return Object.fromEntries(entries)
}

function keepTail(child) {
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (data) => (text = (text + data).slice(-8000)))
  return () => text
}

/** Resolves to the first result that is not false. */
async function until(ask, limit, exited) {
  const last = Date.now() + limit
  let end
  if (exited) exited.then((result) => (end = result))
  for (;;) {
    const result = await ask()
    if (result !== false) return result
    if (end) throw new Error(`it exited early (${end.by || end.code})`)
    if (Date.now() > last) throw new Error(`nothing after ${limit / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/**
 * False before the port is open. An open port is not enough: the start opens and closes each port
 * for a moment before it starts any service, to find out whether they are free.
 */
function firstAnswer() {
  return get().catch((error) => {
    if (['ECONNREFUSED', 'ECONNRESET'].includes(error.code)) return false
    throw error
  })
}

function within(promise, limit, message) {
  let timer
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(message)), limit)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function isOpen() {
  return new Promise((resolve) => {
    const socket = net.connect(3043, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

function get() {
  return new Promise((resolve, reject) => {
    const request = http.get(url, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (data) => (body += data))
      response.on('end', () => resolve(response.statusCode === 200 ? body : `${response.statusCode}: ${body}`))
    })
    request.setTimeout(30_000, () => request.destroy(new Error(`${url} did not answer`)))
    request.on('error', reject)
  })
}

/** npm leads a process group, to which all its processes belong. */
function groupRuns(pid) {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}
