/**
 * Calls by name from outside of the workers: commands, and threads and processes that programs
 * start.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Service } from '../../../src/config/app.ts'
import { type CallerAccess, callsVariable } from '../../../src/shared/calls/call-access.ts'
import type { AppSetup } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import {
  execute,
  programs,
  python,
  catalog,
  command,
  started,
  ask,
  assertAnswered,
  environmentOf,
  runNode,
  fragileIn,
  endCatalog,
} from './support/outside-app.ts'

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
  test(`children that a program in a ${run} starts call by name`, async (context) => {
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

describe('a command that is not a program of Node', () => {
  test('calls a service that it needs by a variable', { skip: !python }, async () => {
    await using app = await started({ shop: command('shop.py'), catalog })
    const { status, body } = await ask(app, '/shop/')
    assert.deepEqual([status, body.service, body.url], [200, 'catalog', '/item'])
  })

  test('does so with a proxy configured, too', { skip: !python }, async () => {
    const env = { http_proxy: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' }
    await using app = await started({ shop: command('shop.py', { env }), catalog })
    assert.equal((await ask(app, '/shop/')).status, 200)
  })

  test('gets a 503 with the reason while the service is down', async () => {
    using folder = new TestFolder()
    await using app = await started({ shop: command('shop.mjs'), catalog: fragileIn(folder) })
    const url = (await ask(app, '/shop/env')).body.variables['CATALOG_URL']
    await endCatalog(app, folder)
    const response = await fetch(url)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.match(((await response.json()) as { detail: string }).detail, /service 'catalog' has stopped/)
  })
})

describe('the variables of a command', () => {
  const pair = { 'stock-levels': catalog, catalog, other: catalog }
  const needs = ['stock-levels', 'catalog']

  test('name exactly the services that it needs', async () => {
    await using app = await started({ shop: command('shop.mjs', { needs }), ...pair })
    const { variables } = (await ask(app, '/shop/env')).body
    assert.deepEqual(Object.keys(variables).sort(), ['CATALOG_URL', 'STOCK_LEVELS_URL'])
    for (const url of Object.values<string>(variables)) {
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      const { stdout } = await execute('curl', ['-sS', `${url}/by-curl?a=1`])
      assert.deepEqual(JSON.parse(stdout).url, '/by-curl?a=1')
    }
  })

  test('are overridden by its own env', async () => {
    const env = { CATALOG_URL: 'http://elsewhere:80' }
    await using app = await started({ shop: command('shop.mjs', { needs, env }), ...pair })
    assert.equal((await ask(app, '/shop/env')).body.variables['CATALOG_URL'], 'http://elsewhere:80')
  })

  test('stay the same during restarts, and answer meanwhile', async () => {
    await using app = await started({ shop: command('shop.mjs', { needs }), ...pair })
    const before = (await ask(app, '/shop/env')).body
    const url = before.variables['CATALOG_URL']
    // A kept connection may be closed just when a worker has been replaced.
    const answered = async (): Promise<boolean> => (await fetch(url, { headers: { connection: 'close' } })).ok
    await app.running.replace(undefined, ['catalog'])
    assert.ok(await answered())
    await app.running.replace()
    assert.ok(await answered())
    assert.deepEqual((await ask(app, '/shop/env')).body.variables, before.variables)
  })
})

describe('a name that does not lead to a service', () => {
  const to = (url: string): string => `/shop/?url=${encodeURIComponent(url)}`

  test('fails with the list of services', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const { body } = await ask(app, to('http://catalogue.internal/'))
    assert.equal(body.code, 'ENOTFOUND')
    assert.match(
      body.message,
      /no service has this name; there are http:\/\/catalog\.internal, http:\/\/shop\.internal/,
    )
  })

  test('fails with the reason while its service is down', async () => {
    using folder = new TestFolder()
    await using app = await started({ shop: command('shop.mjs'), catalog: fragileIn(folder) })
    await endCatalog(app, folder)
    const { body } = await ask(app, to('http://catalog.internal/'))
    assert.equal(body.code, 'ECONNREFUSED')
    assert.equal(body.message, "connect ECONNREFUSED catalog.internal:80 (service 'catalog' has stopped)")
  })

  test('fails with the right URL if it is called with TLS', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const { body } = await ask(app, to('https://catalog.internal/'))
    assert.equal(body.code, 'HTTPS_TO_SERVICE')
    assert.match(body.message, /write http:\/\/catalog\.internal/)
  })

  test('fails with the reason after the app has ended', async () => {
    const app = await started({ shop: command('shop.mjs'), catalog })
    const environment = await environmentOf(app)
    await app.running.stop()
    const said = await runNode(
      `fetch('http://catalog.internal/').catch(({ cause }) => console.log(cause.message))`,
      environment,
    )
    assert.equal(said, 'connect ECONNREFUSED catalog.internal:80 (the app of this program is not running)\n')
  })
})

describe('the private ports', () => {
  test('refuse connections without the token', async () => {
    await using app = await started({ shop: command('shop.mjs'), catalog })
    const environment = await environmentOf(app)
    const access = JSON.parse(environment[callsVariable]!) as CallerAccess
    const ask = `fetch('http://catalog.internal/').then((answer) => console.log(answer.status), ({ cause }) => console.log(cause.code))`
    assert.equal(await runNode(ask, environment), '200\n')
    const stranger = { ...environment, [callsVariable]: JSON.stringify({ ...access, token: 'guessed' }) }
    assert.equal(await runNode(ask, stranger), 'ECONNREFUSED\n')
  })

  test('are not given to a program that opts out', async () => {
    await using app = await started({ shop: command('shop.mjs', { env: { [callsVariable]: '' } }), catalog })
    const { body } = await ask(app, `/shop/?url=${encodeURIComponent('http://catalog.internal/')}`)
    assert.equal(body.code, 'ENOTFOUND')
  })
})
