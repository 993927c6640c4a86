// The first thing that `npm start` and `npm test` run, before anything is installed and on whatever Node the
// machine has: so this file is plain CommonJS that any Node >= 18 reads. It installs what the lock file names
// when that has not been done yet, then hands over to a script that runs on the Node that the lock file brought.
'use strict'
const { spawn, spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.dirname(__dirname)
const modules = path.join(root, 'node_modules')
const stamp = path.join(modules, '.busbar-installed')
const windows = process.platform === 'win32'
const localNode = path.join(modules, 'node', 'bin', windows ? 'node.exe' : 'node')

main(process.argv[2], process.argv.slice(3))

function main(task, args) {
  if (task === undefined) fail('first.cjs needs the name of a task in scripts/tasks, such as "start"')
  const wanted = fingerprint()
  if (installed() !== wanted) install(wanted)
  run(path.join(root, 'scripts', 'tasks', `${task}.ts`), args)
}

/** What an installation depends on: the lock file, and the machine it was made for. */
function fingerprint() {
  const lock = fs.readFileSync(path.join(root, 'package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
}

function installed() {
  if (!fs.existsSync(localNode)) return undefined
  try {
    return fs.readFileSync(stamp, 'utf8')
  } catch {
    return undefined
  }
}

function install(wanted) {
  console.error('Installing what package-lock.json names (once)…')
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error', ...cacheFlags()])
  // The `node` package fetches its binary in an install script, which a careful npm may have skipped.
  if (!fs.existsSync(localNode))
    npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts', ...cacheFlags()])
  if (!fs.existsSync(localNode))
    fail(`npm left no Node at ${localNode}: allow the install script of "node" and try again`)
  fs.writeFileSync(stamp, wanted)
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

function npm(args) {
  const cli = process.env.npm_execpath
  const [command, first] = cli && /\.c?js$/.test(cli) ? [process.execPath, [cli]] : [windows ? 'npm.cmd' : 'npm', []]
  // Standard output is the task's: what npm says goes to standard error.
  const { status, signal, error } = spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: windows,
  })
  if (error) fail(`npm could not be started: ${error.message}`)
  if (signal !== null) fail(`npm ${args[0]} was ended by ${signal}: the next run installs anew`)
  if (status !== 0) fail(`npm ${args[0]} ended with ${status}: its own message is above`)
}

/** Runs the task in the installed Node and ends as it ends; signals meant for us reach it. */
function run(file, args) {
  const bin = path.join(modules, '.bin')
  const env = { ...process.env, PATH: [bin, process.env.PATH].filter(Boolean).join(path.delimiter) }
  const child = spawn(localNode, [file, ...args], { cwd: root, stdio: 'inherit', env })
  // A terminal signals the whole group, so the child may get the same one twice within a moment: it ignores that.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${localNode} could not be started: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
