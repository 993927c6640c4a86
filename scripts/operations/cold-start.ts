/**
 * The time from the start of a command to the first answer of the fan-out app (a request that calls
 * four other services), and the processor time until then: Busbar in each placement, PM2 and Watt,
 * in alternating rounds:
 *
 *     npm install --prefix /tmp/peers pm2@7.0.4 wattpm@3.67.0 @platformatic/node@3.65.0
 *     node scripts/operations/cold-start.ts --peers /tmp/peers [--rounds 7] [--arms shared,thread,process,pm2,watt]
 *         [--busbar /tmp/packed/node_modules/busbar]
 *
 * The programs are those of the lab's fan-out scenario. `--busbar` is the folder of an installed
 * package (`npm run pack`), to be compared with the build of the repository: its arms are
 * `packed-shared`, `packed-thread` and `packed-process`. Needs a build, and Linux or macOS.
 */
import { freePort, freePorts } from '../../packages/busbar/test/support/http/free-ports.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    peers: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    arms: { type: 'string', default: 'shared,thread,process,pm2,watt' },
    busbar: { type: 'string' },
  },
})

const root = fileURLToPath(new URL('../..', import.meta.url))
const builtHere = join(root, 'packages/busbar')
const programs = join(root, 'packages/lab/arms/fanout')
const leaves = [0, 1, 2, 3]
const limit = 60_000

/** A command that serves the app at a port. */
interface Launch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Prepares a start in `folder`; nothing of it is measured. */
type Arm = (folder: string, port: number) => Promise<Launch> | Launch

const arms: Readonly<Record<string, Arm>> = {
  shared: (folder, port) => underBusbar(folder, port, 'shared'),
  thread: (folder, port) => underBusbar(folder, port, 'thread'),
  process: (folder, port) => underBusbar(folder, port, 'process'),
  'packed-shared': (folder, port) => underBusbar(folder, port, 'shared', packed()),
  'packed-thread': (folder, port) => underBusbar(folder, port, 'thread', packed()),
  'packed-process': (folder, port) => underBusbar(folder, port, 'process', packed()),
  pm2: underPm2,
  watt: underWatt,
}

/** Milliseconds until the first answer. */
interface Start {
  readonly time: number
  /**
   * Of a processor, by all processes: it depends less on what else the machine does. Linux only.
   */
  readonly cpu: number
}

const results = new Map<string, Start[]>()
const chosen = values.arms.split(',')
for (let round = 0; round < Number(values.rounds); round++)
  for (const name of rotated(chosen, round)) {
    const start = await measure(arms[name]!)
    results.set(name, [...(results.get(name) ?? []), start])
    console.error(`${name} ${start.time.toFixed(0)} ms, ${start.cpu.toFixed(0)} ms of a processor`)
  }
console.log('| arm | median ms | from | to | processor ms | from | to |\n|---|---|---|---|---|---|---|')
for (const name of chosen) {
  const starts = results.get(name)!
  const cells = [starts.map(({ time }) => time), starts.map(({ cpu }) => cpu)].flatMap(spreadOf)
  console.log(`| ${[name, ...cells].join(' | ')} |`)
}

/** Median, least, most. */
function spreadOf(figures: readonly number[]): string[] {
  const all = figures.toSorted((one, other) => one - other)
  return [all[all.length >> 1]!, all[0]!, all.at(-1)!].map((value) => value.toFixed(0))
}

async function measure(arm: Arm): Promise<Start> {
  const folder = mkdtempSync(join(tmpdir(), 'cold-'))
  const port = await freePort()
  const { args, env } = await arm(folder, port)
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, XDG_RUNTIME_DIR: folder, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
    // A group of its own: whatever it starts ends with it.
    detached: true,
  })
  try {
    while (!(await answers(port))) {
      if (performance.now() - began > limit || child.exitCode !== null)
        throw new Error(`${args.join(' ')} does not serve`)
      await sleep(5)
    }
    return { time: performance.now() - began, cpu: processorTime(child.pid!) }
  } finally {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of a process and all that it has started, with those that have ended. */
function processorTime(root: number): number {
  if (process.platform !== 'linux') return NaN
  // The fields after the name of the program, from the third on: proc_pid_stat(5).
  const fieldsOf = new Map(
    readdirSync('/proc').flatMap((name) =>
      /^\d+$/.test(name) ? [[Number(name), statOf(name).split(' ')] as const] : [],
    ),
  )
  const ticksOf = (pid: number): number => {
    const own = fieldsOf.get(pid)!.slice(11, 15).map(Number)
    const children = [...fieldsOf].filter(([, fields]) => Number(fields[1]) === pid).map(([child]) => ticksOf(child))
    return [...own, ...children].reduce((sum, one) => sum + one, 0)
  }
  return ticksOf(root) * 10
}

/** Empty for a process that has just ended. */
function statOf(pid: string): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = child.exitCode === null ? once(child, 'exit') : undefined
  child.kill('SIGTERM')
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 10_000)
  await exited
  clearTimeout(late)
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const sent = request({ port, host: '127.0.0.1', path: '/ipc', agent: false, timeout: 2000 }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode === 200))
  })
  sent.on('timeout', () => sent.destroy()).on('error', () => resolve(false))
  sent.end()
  return promise
}

function underBusbar(folder: string, port: number, run: string, from = builtHere): Launch {
  const leafServices = leaves.map((index) => [
    `leaf${index}`,
    { path: programs, entry: 'leaf.ts', env: { LEAF: `${index}` } },
  ])
  const env = { WAY: 'request', ORIGINS: JSON.stringify(leaves.map((index) => `http://leaf${index}.internal`)) }
  const config = {
    gateway: { port, entry: 'entry' },
    defaults: { run },
    services: { entry: { path: programs, entry: 'entry.ts', env }, ...Object.fromEntries(leafServices) },
  }
  writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
  return { args: [join(from, 'bin/busbar.js'), 'start'], env: {} }
}

/**
 * Five processes, as PM2 starts programs by default; `pm2-runtime` is its own way without a daemon.
 */
async function underPm2(folder: string, port: number): Promise<Launch> {
  const ports = await freePorts(leaves.length)
  const origins = JSON.stringify(ports.map((one) => `http://127.0.0.1:${one}`))
  const app = (name: string, file: string, env: object): object => ({
    name,
    script: join(programs, file),
    interpreter: process.execPath,
    env,
  })
  const apps = [
    ...leaves.map((index) => app(`leaf${index}`, 'leaf.ts', { LEAF: `${index}`, PORT: `${ports[index]}` })),
    app('entry', 'entry.ts', { WAY: 'pool', ORIGINS: origins, PORT: `${port}` }),
  ]
  writeFileSync(join(folder, 'pm2.json'), JSON.stringify({ apps }))
  return {
    args: [join(peers(), 'node_modules/pm2/bin/pm2-runtime'), 'start', join(folder, 'pm2.json')],
    env: { PM2_HOME: join(folder, 'pm2'), PM2_DISABLE_VERSION_CHECK: 'true' },
  }
}

function underWatt(folder: string, port: number): Launch {
  const origins = JSON.stringify(leaves.map((index) => `http://leaf${index}.plt.local`))
  const services: Readonly<Record<string, { file: string; env: object }>> = {
    entry: { file: 'entry.ts', env: { WAY: 'request', ORIGINS: origins } },
    ...Object.fromEntries(
      leaves.map((index) => [`leaf${index}`, { file: 'leaf.ts', env: { LEAF: `${index}`, PORT: '0' } }]),
    ),
  }
  const write = (file: string, content: object): void => writeFileSync(join(folder, file), JSON.stringify(content))
  const schema = (name: string, version: string): string => `https://schemas.platformatic.dev/${name}/${version}.json`
  for (const [name, { file, env }] of Object.entries(services)) {
    mkdirSync(join(folder, name))
    write(join(name, 'package.json'), { name, type: 'module', main: 'index.js' })
    write(join(name, 'watt.json'), { $schema: schema('@platformatic/node', '3.65.0') })
    const assigned = `Object.assign(process.env, ${JSON.stringify(env)})`
    const imported = `await import(${JSON.stringify(pathToFileURL(join(programs, file)))})`
    writeFileSync(join(folder, name, 'index.js'), `${assigned}\n${imported}\n`)
  }
  symlinkSync(join(peers(), 'node_modules'), join(folder, 'node_modules'))
  write('package.json', { name: 'watt', private: true, type: 'module' })
  write('watt.json', {
    $schema: schema('wattpm', '3.67.0'),
    server: { hostname: '127.0.0.1', port },
    logger: { level: 'error' },
    metrics: false,
    healthProbes: false,
    managementApi: false,
    entrypoint: 'entry',
    applications: Object.keys(services).map((id) => ({ id, path: id })),
  })
  return { args: [join(peers(), 'node_modules/wattpm/bin/cli.js'), 'start', folder], env: { TMPDIR: folder } }
}

function packed(): string {
  if (values.busbar === undefined) throw new Error('--busbar names the folder of an installed package')
  return resolve(values.busbar)
}

function peers(): string {
  if (values.peers === undefined) throw new Error('--peers names the folder in which pm2 and wattpm are installed')
  return values.peers
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const at = by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}
