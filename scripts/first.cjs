// The first thing that `npm start` and `npm test` run, before anything is installed and on whatever Node the
// machine has: so this file is plain CommonJS that any Node >= 18 reads. It installs what the lock file names
// when that has not been done yet, then hands over to a script that runs on the Node that the lock file brought.
'use strict'
const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.dirname(__dirname)
const modules = path.join(root, 'node_modules')
const stamp = path.join(modules, '.busbar-installed')
const windows = process.platform === 'win32'
const localNode = path.join(modules, 'node', 'bin', windows ? 'node.exe' : 'node')

main(process.argv[2], process.argv.slice(3)).catch((error) => {
  console.error(error.message)
  process.exit(1)
})

async function main(task, args) {
  if (task === undefined) throw new Error('first.cjs needs the name of a task in scripts/tasks, such as "start"')
  const wanted = fingerprint()
  if (installed() !== wanted) await install(wanted)
  if (task.startsWith('test')) await installNode26()
  const env = {
    ...process.env,
    PATH: [path.join(modules, '.bin'), process.env.PATH].filter(Boolean).join(path.delimiter),
  }
  const file = path.join(root, 'scripts', 'tasks', `${task}.ts`)
  endAs(await run(localNode, [file, ...args], { stdio: 'inherit', env }))
}

/** What an installation depends on: the lock file, and the machine it was made for. */
function fingerprint() {
  const lock = fs.readFileSync(path.join(root, 'package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
}

/** The stamp is written last, so an installation that was interrupted has none and is done again. */
function installed() {
  if (!fs.existsSync(localNode)) return undefined
  try {
    return fs.readFileSync(stamp, 'utf8')
  } catch {
    return undefined
  }
}

async function install(wanted) {
  console.error('Installing what package-lock.json names (once)…')
  await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  // The `node` package fetches its binary in an install script, which a careful npm may have skipped.
  if (!fs.existsSync(localNode)) await npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts'])
  if (!fs.existsSync(localNode))
    throw new Error(`npm left no Node at ${localNode}: allow the install script of "node" and try again`)
  fs.writeFileSync(stamp, wanted)
}

/** The second Node that tests run on. Where its platform has no package, tests of it say that they are skipped. */
async function installNode26() {
  const folder = path.join(root, 'scripts', 'node-26')
  const file = path.join(folder, 'node_modules', '.busbar-installed')
  const lock = fs.readFileSync(path.join(folder, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === wanted) return
  console.error('Installing Node 26 for tests (once)…')
  await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder])
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, wanted)
}

async function npm(args) {
  const cli = process.env.npm_execpath
  const [command, first] = cli && /\.c?js$/.test(cli) ? [process.execPath, [cli]] : [windows ? 'npm.cmd' : 'npm', []]
  // Standard output is the task's: what npm says goes to standard error.
  const end = await run(command, [...first, ...args, ...cacheFlags()], { stdio: ['ignore', 2, 2], shell: windows })
  if (end.signal !== null) endAs(end)
  if (end.code !== 0) throw new Error(`npm ${args[0]} ended with ${end.code}: its own message is above`)
}

/** npm keeps its cache below HOME; where nothing can be written there, it gets a folder of this repository. */
function cacheFlags() {
  const cache = process.env.npm_config_cache || path.join(os.homedir(), '.npm')
  try {
    fs.mkdirSync(cache, { recursive: true })
    fs.rmdirSync(fs.mkdtempSync(path.join(cache, 'probe-')))
    return []
  } catch {
    return ['--cache', path.join(root, '.busbar', 'npm-cache')]
  }
}

/** Runs a child to its end. Signals meant for us reach it, and it decides what to do about them. */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options })
    // A terminal signals the whole group, so the child may get the same one twice within a moment: it ignores that.
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [signal, () => child.kill(signal)])
    for (const [signal, pass] of signals) process.on(signal, pass)
    const stopWatching = endWithParent(child)
    child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}`)))
    child.on('exit', (code, signal) => {
      for (const [name, pass] of signals) process.removeListener(name, pass)
      stopWatching()
      resolve({ code, signal })
    })
  })
}

/** An npm that was killed can pass nothing on: what it started must not outlive it. */
function endWithParent(child) {
  const parent = process.ppid
  if (windows || process.env.npm_lifecycle_event === undefined) return () => {}
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    child.kill('SIGTERM')
  }, 200)
  return () => clearInterval(timer)
}

/** As the child ended, so do we. */
function endAs({ code, signal }) {
  if (signal === null) process.exit(code)
  process.kill(process.pid, signal)
}
