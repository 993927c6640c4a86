// The entry of `npm start`, `npm test` and the like. It runs before anything is installed, on the
// Node of the machine, so it is plain CommonJS for Node 18 and newer. It installs the packages of
// the lock file if necessary, then runs a task of `scripts/tasks` on the Node from the lock file.
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
  if (task === undefined) throw new Error('bootstrap.cjs needs the name of a task in scripts/tasks, such as "start"')
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

/** Identifies an installation: the lock file, the platform and the processor architecture. */
function fingerprint() {
  const lock = fs.readFileSync(path.join(root, 'package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
}

/** The stamp is written last, so an interrupted installation is repeated. */
function installed() {
  if (!fs.existsSync(localNode)) return undefined
  try {
    return fs.readFileSync(stamp, 'utf8')
  } catch {
    return undefined
  }
}

async function install(wanted) {
  console.error('Installing the packages of package-lock.json (once)…')
  await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  // The `node` package downloads its binary in an install script, which npm may be configured to
  // skip.
  if (!fs.existsSync(localNode)) await npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts'])
  if (!fs.existsSync(localNode))
    throw new Error(
      `npm installed no Node at ${localNode}: allow the install script of the package "node" and try again`,
    )
  fs.writeFileSync(stamp, wanted)
}

/** The second Node for tests. On a platform without a package for it, its tests are skipped. */
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
  // npm writes to standard error, since standard output belongs to the task.
  const end = await run(command, [...first, ...args, ...cacheFlags()], { stdio: ['ignore', 2, 2], shell: windows })
  if (end.signal !== null) endAs(end)
  if (end.code !== 0) throw new Error(`npm ${args[0]} exited with ${end.code}: see its message above`)
}

/** npm's cache is in HOME. If that is not writable, a folder of this repository is used. */
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

/** Runs a child process, and forwards signals to it. */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options })
    // A terminal signals the whole process group, so the child may get a signal twice. It ignores
    // the second.
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

/** Ends the child if npm was killed, which cannot forward a signal then. */
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

/** Exits like the child: with its code, or by its signal. */
function endAs({ code, signal }) {
  if (signal === null) process.exit(code)
  process.kill(process.pid, signal)
}
