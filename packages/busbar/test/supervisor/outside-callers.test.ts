/** Calls by name from what runs outside of the workers: commands, and the threads and processes that programs start. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Service } from '../../src/config/app.ts'
import { type CallerAccess, callsVariable, withPreload } from '../../src/shared/call-access.ts'
import type { InstanceFigures } from '../../src/observe/status.ts'
import type { WorkerStatus } from '../../src/supervisor/running.ts'
import { appOf, type AppSetup, pollUntil, TestApp } from '../support/app.ts'
import { TestFolder } from '../support/folder.ts'

/** The app is in this thread, which must go on. */
const execute = promisify(execFile)

const programs = join(import.meta.dirname, 'programs', 'outside')
const python = has('python3')

const catalog = { file: join(programs, 'catalog.mjs'), run: 'thread' } as const

/** As the loader makes it of `command`. */
function command(name: string, more: Partial<Service> = {}): Partial<Service> & { file: string } {
  const isPython = name.endsWith('.py')
  const file = isPython ? 'python3' : process.execPath
  const entry = { file, args: [join(programs, name)], nodeOptions: [], foundBy: 'command' } as const
  return { file, kind: 'command', run: 'process', path: programs, needs: ['catalog'], entry, ...more }
}

async function started(services: AppSetup['services'], more: Partial<AppSetup> = {}): Promise<TestApp> {
  const routes = Object.keys(services).map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  return await TestApp.start({ services, gateway: { routes, entry: undefined }, ...more })
}

async function ask(app: TestApp, path: string): Promise<{ status: number; body: any }> {
  const response = await fetch(app.url + path, { headers: { connection: 'close' } })
  const text = await response.text()
  try {
    return { status: response.status, body: JSON.parse(text) }
  } catch {
    return { status: response.status, body: text }
  }
}

/** Every client was answered as over the network, and the service saw no header of Busbar's. */
function assertAnswered(answers: Record<string, unknown>): void {
  const { ws, ...others } = answers
  assert.deepEqual(ws, ['hello'])
  for (const [client, answer] of Object.entries(others)) {
    const expected = { service: 'catalog', url: '/item', own: false, remote: '127.0.0.1', data: null }
    assert.deepEqual(answer, expected, client)
  }
}

const placements: Readonly<Record<string, AppSetup['services'][string]>> = {
  'in a shared worker': { ...catalog, run: 'shared' },
  'in a thread': catalog,
  'in a process': { ...catalog, run: 'process' },
  'that is a command': command('catalog.mjs', { needs: [] }),
}

describe('a command of Node', () => {
  for (const [where, service] of Object.entries(placements))
    test(`calls a service ${where} by its name with every client`, async () => {
      await using app = await started({ shop: command('shop.mjs'), catalog: service })
      const { body } = await ask(app, '/shop/')
      if (where !== 'that is a command') assertAnswered(body)
      else assert.equal(body.fetch.service, 'catalog')
    })
})

/** Those that are given an environment, besides those that say so. */
const own = new Set([
  'new Worker with execArgv',
  'spawnSync',
  'exec',
  'execFile',
  'execSync',
  'execFileSync',
  'a child of a child',
])
const ways = [
  ...['', ' with env', ' with NODE_OPTIONS', ' with SHARE_ENV', ' with execArgv', ' with empty execArgv'].map(
    (with_) => `new Worker${with_}`,
  ),
  'new Worker with SHARE_ENV and execArgv',
  ...['', ' with env', ' with NODE_OPTIONS', ' with execArgv'].map((with_) => `fork${with_}`),
  ...['', ' with env', ' in a shell'].map((with_) => `spawn${with_}`),
  'spawnSync',
  'exec',
  'exec with a callback',
  'execFile',
  'execSync',
  'execFileSync',
  'a child of a child',
  'a thread of a child',
]

const placed: Readonly<Record<string, readonly string[]>> = {
  thread: ways,
  process: ['new Worker', 'new Worker with SHARE_ENV', 'fork with env', 'spawn', 'exec', 'spawnSync'],
  shared: ['new Worker', 'new Worker with SHARE_ENV', 'fork with env', 'spawn', 'exec', 'execFile'],
}

for (const [run, tried] of Object.entries(placed) as [Service['run'], string[]][])
  test(`a program that runs as ${run} starts what calls by name`, async (context) => {
    await using app = await started({ host: { file: join(programs, 'host.mjs'), run }, catalog })
    for (const way of tried)
      await context.test(`by ${way}: every client is answered, and what it was given survives`, async () => {
        const { status, body } = await ask(app, `/host/${encodeURIComponent(way)}`)
        assert.equal(status, 200, body)
        assertAnswered(body.answers)
        assert.equal(body.own, hasOwn(way) ? 'mine' : null)
        assert.equal(body.titled, /NODE_OPTIONS|\bexecArgv$/.test(way) && !way.includes('empty'))
      })
  })

function hasOwn(way: string): boolean {
  return own.has(way) || /with (env|NODE_OPTIONS)$/.test(way)
}

describe('a command that is no program of Node', () => {
  test('calls a service that it needs by a variable', { skip: !python }, async () => {
    await using app = await started({ shop: command('shop.py'), catalog })
    const { status, body } = await ask(app, '/shop/')
    assert.deepEqual([status, body.service, body.url], [200, 'catalog', '/item'])
  })

  test('does so behind a proxy, too', { skip: !python }, async () => {
    const env = { http_proxy: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' }
    await using app = await started({ shop: command('shop.py', { env }), catalog })
    assert.equal((await ask(app, '/shop/')).status, 200)
  })

  test('is answered 503 with the reason where the service is down', async () => {
    using folder = new TestFolder()
    await using app = await started({ shop: command('shop.mjs'), catalog: fragileIn(folder) })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    await endCatalog(app, folder)
    const response = await fetch(url)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.match(((await response.json()) as { detail: string }).detail, /service catalog has stopped/)
  })
})

describe('the variables of a command', () => {
  const pair = { 'stock-levels': catalog, catalog, other: catalog }
  const needs = ['stock-levels', 'catalog']

  test('name the services that it needs, and no other', async () => {
    await using app = await started({ shop: command('shop.mjs', { needs }), ...pair })
    const { variables } = (await ask(app, '/shop/env')).body
    assert.deepEqual(Object.keys(variables).sort(), ['CATALOG_URL', 'STOCK_LEVELS_URL'])
    for (const url of Object.values<string>(variables)) {
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      const { stdout } = await execute('curl', ['-sS', `${url}/by-curl?a=1`])
      assert.deepEqual(JSON.parse(stdout).url, '/by-curl?a=1')
    }
  })

  test('give way to its own env', async () => {
    const env = { CATALOG_URL: 'http://elsewhere:80' }
    await using app = await started({ shop: command('shop.mjs', { needs, env }), ...pair })
    assert.equal((await ask(app, '/shop/env')).body.variables['CATALOG_URL'], 'http://elsewhere:80')
  })

  test('stay the same whatever is restarted, and answer in between', async () => {
    await using app = await started({ shop: command('shop.mjs', { needs }), ...pair })
    const before = (await ask(app, '/shop/env')).body
    const url = before.variables['CATALOG_URL']
    await app.running.restart(undefined, ['catalog'])
    assert.equal((await fetch(url)).status, 200)
    await app.running.restart()
    assert.equal((await fetch(url)).status, 200)
    assert.deepEqual((await ask(app, '/shop/env')).body.variables, before.variables)
  })
})

describe('a name that does not lead to a service', () => {
  const to = (url: string): string => `/shop/?url=${encodeURIComponent(url)}`

  test('fails with the names that there are', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const { body } = await ask(app, to('http://catalogue.internal/'))
    assert.equal(body.code, 'ENOTFOUND')
    assert.match(
      body.message,
      /no service is called by this name; there are http:\/\/catalog\.internal, http:\/\/shop\.internal/,
    )
  })

  test('fails with the reason where its service is down', async () => {
    using folder = new TestFolder()
    await using app = await started({ shop: command('shop.mjs'), catalog: fragileIn(folder) })
    await endCatalog(app, folder)
    const { body } = await ask(app, to('http://catalog.internal/'))
    assert.equal(body.code, 'ECONNREFUSED')
    assert.equal(body.message, 'connect ECONNREFUSED catalog.internal:80 (service catalog has stopped)')
  })

  test('fails with what to write where it is called with TLS', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const { body } = await ask(app, to('https://catalog.internal/'))
    assert.equal(body.code, 'HTTPS_TO_SERVICE')
    assert.match(body.message, /write http:\/\/catalog\.internal/)
  })

  test('fails with the reason where the app has ended', async () => {
    const app = await started({ shop: command('shop.mjs'), catalog })
    const environment = await environmentOf(app)
    await app.running.stop()
    const said = await runNode(
      `fetch('http://catalog.internal/').catch(({ cause }) => console.log(cause.message))`,
      environment,
    )
    assert.equal(
      said,
      'connect ECONNREFUSED catalog.internal:80 (the app that this program belongs to does not run any more)\n',
    )
  })
})

describe('the private ports', () => {
  test('take no connection that does not know the token', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const environment = await environmentOf(app)
    const access = JSON.parse(environment[callsVariable]!) as CallerAccess
    const ask = `fetch('http://catalog.internal/').then((answer) => console.log(answer.status), ({ cause }) => console.log(cause.code))`
    assert.equal(await runNode(ask, environment), '200\n')
    const stranger = { ...environment, [callsVariable]: JSON.stringify({ ...access, token: 'guessed' }) }
    assert.equal(await runNode(ask, stranger), 'ECONNREFUSED\n')
  })

  test('are no part of a program that says so', async () => {
    await using app = await started({ shop: command('shop.mjs', { env: { [callsVariable]: '' } }), catalog })
    const { body } = await ask(app, `/shop/?url=${encodeURIComponent('http://catalog.internal/')}`)
    assert.equal(body.code, 'ENOTFOUND')
  })
})

describe('calls from outside', () => {
  test('are counted, and timed with who made them', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    for (let call = 0; call < 3; call++) assertAnswered((await ask(app, '/shop/')).body)
    const { instances, calls } = app.running.status()
    const own = instances.find(({ service }) => service === 'catalog')!
    // The nine clients, and the upgrade.
    assert.equal(own.calls, 30)
    assert.equal(calls.find(({ caller, callee }) => caller === 'shop' && callee === 'catalog')?.count, 27)
  })

  test('go to the instance with the fewest in flight', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog: { ...catalog, instances: 2 } })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    using folder = new TestFolder()
    const figures = (): InstanceFigures[] => app.running.status().instances.filter((one) => one.service === 'catalog')
    const held = ask(app, `/shop/?url=${encodeURIComponent(`${url}/?until=${folder.at('go')}`)}`)
    const untilOneIsLeft = (): Promise<void> =>
      pollUntil(() => figures().reduce((sum, { inFlight }) => sum + inFlight, 0) === 1, figures)
    await untilOneIsLeft()
    for (let call = 0; call < 6; call++) {
      await fetch(url, { headers: { connection: 'close' } })
      // A call counts for a moment longer than its client waits for it.
      await untilOneIsLeft()
    }
    const counts = figures().map(({ inFlight, calls }) => ({ inFlight, calls }))
    assert.deepEqual(
      counts.toSorted((one, other) => one.calls - other.calls),
      [
        { inFlight: 1, calls: 1 },
        { inFlight: 0, calls: 6 },
      ],
    )
    folder.write('go', '')
    assert.equal((await held).status, 200)
  })

  test('wait for a service with a limit, and are refused where too many wait', async () => {
    const limited = { ...catalog, concurrency: 1, queue: 1 }
    await using app = await started({ shop: command('shop.mjs'), catalog: limited })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    using folder = new TestFolder()
    const calls = [1, 2, 3].map(() => fetch(`${url}/?until=${folder.at('go')}`, { headers: { connection: 'close' } }))
    const refused = await Promise.race(calls)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
    folder.write('go', '')
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 2)
  })

  test('end in a chain that has no end', async () => {
    const loop = { file: join(programs, 'loop.mjs'), run: 'thread' } as const
    const limits = { ...appOf({ services: {} }).limits, maxHops: 4 }
    const shop = command('loop.mjs', { needs: [], env: { NEXT: 'loop' } })
    await using app = await started({ shop, loop }, { limits })
    for (const path of ['/shop/fetch', '/shop/http', '/shop/list', '/loop/thread', '/loop/process'])
      assert.deepEqual(await ask(app, path), { status: 508, body: 'HOP_LIMIT' }, path)
  })

  test('are answered while all of the app stops', async () => {
    const app = await started({ shop: command('shop.mjs'), catalog })
    using folder = new TestFolder()
    const slow = ask(app, `/shop/?url=${encodeURIComponent(`http://catalog.internal/?until=${folder.at('go')}`)}`)
    const inFlight = (): number => app.running.status().instances.find(({ service }) => service === 'catalog')!.inFlight
    await pollUntil(() => inFlight() === 1)
    const stopped = app.running.stop()
    folder.write('go', '')
    await stopped
    assert.equal((await slow).status, 200)
  })

  for (const [what, service] of Object.entries({ 'the service': 'catalog', 'the worker that relays them': 'web' }))
    test(`are all answered while ${what} is restarted`, async () => {
      const web = { ...catalog, run: 'shared' } as const
      await using app = await started({ shop: command('shop.mjs'), catalog, web })
      const calling = execute(process.execPath, [join(programs, 'many.mjs')], { env: await environmentOf(app) })
      const calls = (): number => app.running.status().instances.find((one) => one.service === 'catalog')!.calls
      await pollUntil(() => calls() > 20, calls)
      await app.running.restart(undefined, [service])
      assert.equal((await calling).stdout, '{"failed":[]}\n')
    })
})

/** The environment of a command, by which others of its user reach the app as well. */
async function environmentOf(app: TestApp): Promise<NodeJS.ProcessEnv> {
  const { calls } = (await ask(app, '/shop/env')).body
  return { PATH: process.env['PATH'], [callsVariable]: calls, NODE_OPTIONS: withPreload() }
}

async function runNode(code: string, env: NodeJS.ProcessEnv): Promise<string> {
  return (await execute(process.execPath, ['-e', code], { env })).stdout
}

/** A catalog that can end for good. */
function fragileIn(folder: TestFolder): AppSetup['services'][string] {
  return { file: join(programs, '..', 'fragile.js'), run: 'thread', env: { BROKEN: folder.at('broken') } }
}

async function endCatalog(app: TestApp, folder: TestFolder): Promise<void> {
  folder.write('broken', '')
  await ask(app, '/catalog/die')
  const catalog = (): WorkerStatus => app.running.workers.find(({ name }) => name === 'catalog')!
  await pollUntil(() => catalog().lastExit?.why === 'start', catalog)
}

function has(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
