/** An app that gets more connections than it has file descriptors. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { askStatus } from '../../../src/supervisor/admin/api-client.ts'
import { findSockets, runtimeFolder } from '../../../src/supervisor/admin/admin-socket.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { type Answer, type Connection, openMany } from '../../support/http/raw-connection.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const server = `
import { createServer } from 'node:http'
import { closeSync, openSync } from 'node:fs'
const held = []
const actions = {
  '/hoard': () => {
    try { for (;;) held.push(openSync('/dev/null')) } catch { return held.length }
  },
  '/release': () => held.splice(0).map((one) => closeSync(one)).length,
  '/pid': () => process.pid,
  '/exit': () => process.exit(7),
  '/stock': async () => (await fetch('http://stock.internal/')).text(),
}
// The gateway keeps connections to a command.
createServer({ keepAliveTimeout: process.env.PORT ? 1000 : 60_000 }, async (request, response) => {
  try {
    const body = String((await actions[request.url]?.()) ?? 'ok')
    response.setHeader('content-length', body.length).end(body)
  } catch (error) {
    response.writeHead(502, { 'content-length': error.message.length }).end(error.message)
  }
}).listen(process.env.PORT ?? 3000)`

/** Frees descriptors below those that services take which start after it. */
const gaps = `
import { createServer } from 'node:http'
import { closeSync, openSync } from 'node:fs'
const held = Array.from({ length: 24 }, () => openSync('/dev/null'))
createServer((request, response) => {
  held.splice(0).forEach((one) => closeSync(one))
  response.setHeader('content-length', 2).end('ok')
}).listen(3000)`
const afterGaps = `
await fetch('http://gaps.internal/')
await import('./index.js')`

const routes = { '/any': 'any' }
const run = (how: string, more: object = {}) => ({ services: { any: { path: './any', run: how, ...more } } })

/**
 * With the least share of the limit that must be served: a command takes two descriptors per
 * connection.
 */
const placements: Readonly<
  Record<string, { readonly config: object; readonly part: number; readonly limits: readonly number[] }>
> = {
  'a shared worker': { config: { gateway: { routes }, ...run('shared') }, part: 0.25, limits: [64, 256, 1024] },
  'four shared workers': { config: { workers: 4, gateway: { routes }, ...run('shared') }, part: 0.5, limits: [256] },
  'two shared workers': { config: { workers: 2, gateway: { routes }, ...run('shared') }, part: 0.2, limits: [64] },
  'a thread': { config: { gateway: { routes }, ...run('thread') }, part: 0.2, limits: [64, 256] },
  'a process': { config: { gateway: { routes }, ...run('process') }, part: 0.2, limits: [64, 256] },
  'a command': {
    config: { gateway: { routes }, services: { any: { path: './any', command: 'node index.js', run: 'process' } } },
    part: 0.15,
    limits: [64, 256],
  },
  'a raw entry in two threads': {
    config: { gateway: { entry: 'any' }, ...run('thread', { instances: 2 }) },
    part: 0.2,
    limits: [64, 256],
  },
  'a raw entry in a process': {
    config: { gateway: { entry: 'any' }, ...run('process') },
    part: 0.3,
    limits: [64, 256],
  },
  'a raw entry that listens by itself': {
    // Each instance listens on a private socket.
    config: { accept: 'reusePort', workers: 2, gateway: { entry: 'any' }, ...run('shared') },
    part: 0.15,
    limits: [64, 256],
  },
  'gateways that listen by themselves': {
    config: { accept: 'reusePort', workers: 4, gateway: { routes }, ...run('shared') },
    part: 0.5,
    limits: [256],
  },
}

const skip = process.platform !== 'linux' && 'it counts in /proc'

for (const [name, { config, part, limits }] of Object.entries(placements))
  for (const limit of limits)
    test(
      `a burst of twice the limit of ${limit} descriptors: ${name} serves what it can, and all afterwards`,
      { skip },
      async () => {
        await using app = await LimitedApp.start(config, limit)
        for (const round of [1, 2]) {
          await app.untilQuiet()
          using burst = await openMany(app.port, 2 * limit)
          const answers = await Promise.all(burst.map((connection) => ask(connection, '/any')))
          const statuses = answers.map((answer) => answer?.status ?? 'closed')
          const served = statuses.filter((status) => status === 200).length
          // Busbar has reserved descriptors for itself.
          const status = await app.status()
          assert.ok(served >= part * limit, `${served} served in round ${round}: ${[...new Set(statuses)].join()}`)
          assert.ok(served < 2 * limit)
          assert.deepEqual(new Set(statuses), new Set([200, 503]))
          for (const { state, restarts } of status.workers) assert.deepEqual([state, restarts], ['serving', 0])
          // Accepted connections keep being served.
          const again = burst.filter((_, index) => statuses[index] === 200)
          const later = await Promise.all(again.map((connection) => ask(connection, '/any')))
          assert.ok(later.every((answer) => answer?.status === 200))
        }
        await app.untilQuiet()
        using later = await openMany(app.port, limit / 8)
        for (const connection of later) assert.equal((await ask(connection, '/any'))?.status, 200)
      },
    )

test(
  'connections to a command are no more than can be served at once, if descriptors have gaps',
  { skip },
  async () => {
    const config = {
      gateway: { routes: { '/any': 'any', '/gaps': 'gaps' } },
      services: {
        gaps: { path: './gaps', run: 'shared' },
        web: { path: './any', run: 'thread', instances: 3, needs: ['gaps'] },
        any: { path: './any', command: 'node after-gaps.js', run: 'process', needs: ['web'] },
      },
    }
    await using app = await LimitedApp.start(config, 96)
    await app.untilQuiet()
    using burst = await openMany(app.port, 96)
    const answers = await Promise.all(burst.map((connection) => ask(connection, '/gaps')))
    const accepted = burst.filter((_, index) => answers[index]?.status === 200)
    assert.ok(accepted.length > 0)
    const later = await Promise.all(accepted.map((connection) => ask(connection, '/any')))
    assert.deepEqual(new Set(later.map((answer) => answer?.status)), new Set([200]))
  },
)

test(
  'while connections take all that they may, a worker that dies is replaced, and linked with the others',
  { skip },
  async () => {
    const config = {
      gateway: { routes: { '/any': 'any', '/stock': 'stock', '/web': 'web' } },
      services: {
        any: { path: './any', run: 'shared' },
        stock: { path: './any', run: 'process' },
        web: { path: './any', run: 'thread' },
      },
    }
    await using app = await LimitedApp.start(config, 128)
    using burst = await openMany(app.port, 256)
    const answers = await Promise.all(burst.map((connection) => ask(connection, '/any')))
    const [one, other] = burst.filter((_, index) => answers[index]?.status === 200)
    const pid = Number((await ask(one!, '/stock/pid'))?.body)
    process.kill(pid, 'SIGKILL')
    await app.busbar.message('worker 2 (stock) serves again')
    assert.notEqual(Number((await ask(one!, '/stock/pid'))?.body), pid)
    assert.equal((await ask(one!, '/web/exit'))?.status, 502)
    await app.busbar.message('worker 1 (web) serves again')
    assert.equal((await ask(other!, '/web/stock'))?.body, 'ok')
  },
)

test('an app recovers after a program has taken every descriptor, whatever died meanwhile', { skip }, async () => {
  const config = {
    gateway: { routes: { '/any': 'any', '/stock': 'stock', '/web': 'web', '/page': 'page' } },
    services: {
      any: { path: './any', run: 'shared' },
      stock: { path: './any', run: 'process' },
      web: { path: './any', run: 'thread' },
      page: { path: './any', command: 'node index.js', run: 'process' },
    },
  }
  await using app = await LimitedApp.start(config, 128)
  using connections = await openMany(app.port, 4)
  const [one, other, third, fourth] = connections
  const [stock, page] = [Number((await ask(one!, '/stock/pid'))?.body), Number((await ask(other!, '/page/pid'))?.body)]
  assert.ok(Number((await ask(one!, '/any/hoard'))?.body) > 10)
  process.kill(stock, 'SIGKILL')
  process.kill(page, 'SIGKILL')
  // Every attempt but the first comes after a wait.
  await app.busbar.message('worker 2 (stock) restarts in')
  await app.busbar.message('worker 3 (page) restarts in')
  assert.equal((await ask(one!, '/stock'))?.status, 503)
  assert.equal((await ask(third!, '/any'))?.status, 200)
  await ask(one!, '/any/release')
  await app.busbar.message('worker 2 (stock) serves again')
  await app.busbar.message('worker 3 (page) serves again')
  for (const path of ['/any', '/stock', '/web', '/page', '/web/stock'])
    assert.equal((await ask(fourth!, path))?.status, 200, path)
})

test(
  'a process that takes every descriptor of its own leaves connections to others, and serves when it has some',
  { skip },
  async () => {
    const config = { gateway: { entry: 'any' }, ...run('process', { instances: 2 }) }
    await using app = await LimitedApp.start(config, 64)
    using first = await openMany(app.port, 2)
    const pids = await Promise.all(first.map(async (connection) => (await ask(connection, '/pid'))?.body))
    assert.equal(new Set(pids).size, 2)
    await ask(first[0]!, '/hoard')
    {
      using others = await openMany(app.port, 8)
      for (const connection of others) assert.equal((await ask(connection, '/pid'))?.body, pids[1])
    }
    // Closing one later would free a descriptor.
    await app.untilQuiet(2)
    await ask(first[1]!, '/hoard')
    using refused = await openMany(app.port, 4)
    for (const connection of refused) assert.equal((await ask(connection, '/'))?.status, 503)
    await Promise.all(first.map((connection) => ask(connection, '/release')))
    await pollUntilServed(app.port, new Set(pids))
  },
)

/** Resolves when each of them answers a new connection again. */
async function pollUntilServed(port: number, pids: Set<string | undefined>): Promise<void> {
  const end = performance.now() + 30_000
  while (pids.size > 0) {
    assert.ok(performance.now() < end, `${[...pids].join()} serve no more`)
    using connections = await openMany(port, 2)
    for (const connection of connections) pids.delete((await ask(connection, '/pid'))?.body)
  }
}

async function ask(connection: Connection, path: string): Promise<Answer | undefined> {
  connection.send(path)
  return await connection.answer()
}

/** `busbar start` with a limit of file descriptors. */
class LimitedApp implements AsyncDisposable {
  readonly busbar: BusbarProcess
  readonly port: number
  readonly #folder: TestFolder
  readonly #env: { readonly XDG_RUNTIME_DIR: string }
  /** The descriptors that it has open without connections, plus some that it opens briefly. */
  readonly #idle: number

  private constructor(busbar: BusbarProcess, port: number, folder: TestFolder, env: { XDG_RUNTIME_DIR: string }) {
    this.busbar = busbar
    this.port = port
    this.#folder = folder
    this.#env = env
    this.#idle = this.#descriptors + 6
  }

  static async start(config: { readonly gateway?: object }, descriptors: number): Promise<LimitedApp> {
    const folder = new TestFolder({
      'busbar.config.json': { ...config, gateway: { port: 0, ...config.gateway } },
      'any/index.js': server,
      'any/package.json': { type: 'module' },
      'any/after-gaps.js': afterGaps,
      'gaps/index.js': gaps,
      'gaps/package.json': { type: 'module' },
    })
    const env = { XDG_RUNTIME_DIR: folder.at('run') }
    const busbar = new BusbarProcess(['start', folder.path, '--once'], { env, descriptors })
    return new LimitedApp(busbar, Number(new URL(await busbar.url()).port), folder, env)
  }

  get #descriptors(): number {
    return readdirSync(`/proc/${this.busbar.child.pid}/fd`).length
  }

  /** Resolves when it has closed all connections but `left`. */
  async untilQuiet(left = 0): Promise<void> {
    const end = performance.now() + 30_000
    for (;;) {
      const { workers } = await this.status()
      const open = workers.reduce((sum, { connections }) => sum + connections, 0)
      const more = this.#descriptors - this.#idle
      if (open === left && more <= left) return
      assert.ok(performance.now() < end, `${open} connections are open, and ${more} descriptors more than at first`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async status(): Promise<AppStatus> {
    const [socket] = findSockets(runtimeFolder(this.#env), this.#folder.path)
    return await askStatus(socket!.path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.busbar.child.kill('SIGTERM')
    await this.busbar.ended
    this.#folder[Symbol.dispose]()
  }
}
