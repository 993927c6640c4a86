/**
 * Three apps and a NATS server on this machine: `shop` calls `stock` on two hosts. Under load one
 * of these is killed and comes back. Prints who has answered how many requests, and what failed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of each of the three parts: both hosts, one of them, both again. */
const part = 1000 * Number(process.argv[2] ?? 5)
const clients = 4
const busbar = process.env['BUSBAR_ENTRY'] ?? entryOf('busbar')

const children: ChildProcess[] = []
async function run(): Promise<void> {
  const nats = `nats://127.0.0.1:${await startServer()}`
  const [killed] = await Promise.all([
    startApp('stock', { NATS: nats, HOST: 'first' }),
    startApp('stock', { NATS: nats, HOST: 'second' }),
  ])
  const { url } = await startApp('shop', { NATS: nats, PORT: '0' })
  const load = new Load(url)
  await load.during('both hosts', () => sleep(part))
  await load.during('first killed', async () => {
    killed.child.kill('SIGKILL')
    await sleep(part)
  })
  await load.during('first starts again', async () => void (await startApp('stock', { NATS: nats, HOST: 'first' })))
  await load.during('both hosts again', () => sleep(part))
}

/** Requests one after the other, by a few clients. */
class Load {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async during(name: string, phase: () => Promise<void>): Promise<void> {
    const hosts: Record<string, number> = {}
    const failed: Record<string, number> = {}
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) {
        const response = await fetch(this.#url)
        const text = await response.text()
        const [counts, key] = response.ok ? [hosts, (JSON.parse(text) as { host: string }).host] : [failed, text.trim()]
        counts[key] = (counts[key] ?? 0) + 1
      }
    }
    const requests = Promise.all(Array.from({ length: clients }, client))
    await phase()
    isOver = true
    await requests
    console.log(JSON.stringify({ phase: name, hosts, failed }))
  }
}

async function startServer(): Promise<string> {
  const path = `${process.env['PATH']}:/usr/sbin:/usr/local/sbin`
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', '-1'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path },
  })
  const found = await lineOf(child, (line) => /client connections on .*:(\d+)$/.exec(line)?.[1])
  return found
}

async function startApp(name: string, env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const args = [...process.execArgv, busbar, 'start', join(import.meta.dirname, name), '--once']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  const url = await lineOf(child, (line) => {
    const { addresses } = line.startsWith('{') ? (JSON.parse(line) as { addresses?: { url: string }[] }) : {}
    return addresses?.[0]?.url
  })
  return { child, url }
}

/** The command line of the installed package. */
function entryOf(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', `${name}.js`)
}

/** What the first line says that says something. */
async function lineOf(child: ChildProcess, read: (line: string) => string | undefined): Promise<string> {
  children.push(child)
  const output = child.stdout ?? child.stderr!
  const lines = createInterface({ input: output })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  lines.on('line', (line) => {
    const found = read(line)
    if (found !== undefined) resolve(found)
  })
  void once(child, 'exit').then(() => reject(new Error(`${child.spawnargs.join(' ')} has ended`)), reject)
  return await promise
}

try {
  await run()
} finally {
  for (const child of children) child.kill('SIGKILL')
}
