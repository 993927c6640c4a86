import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { App } from '../../src/config/app.ts'
import { loadApp } from '../../src/config/load.ts'
import { BusbarError } from '../../src/contract/errors.ts'
import { TestFolder } from '../support/app/test-folder.ts'

async function load(service: object, app: object = {}): Promise<App> {
  using folder = new TestFolder({
    'web/index.js': '',
    'typed/contract.js': '',
    'typed/index.js': '',
    'busbar.config.json': { ...app, services: { web: { path: './web', ...service } } },
  })
  return await loadApp(folder.path, { env: {} })
}

async function problemOf(service: object): Promise<string> {
  try {
    await load(service)
  } catch (error) {
    assert.ok(BusbarError.is(error))
    return `${error.code} ${error.message}`
  }
  return 'none'
}

describe('health', () => {
  it('is a path, with the defaults of the object', async () => {
    const [short, long] = [await load({ health: '/health' }), await load({ health: { path: '/health' } })]
    assert.deepEqual(short.services[0]!.health, {
      path: '/health',
      interval: 5000,
      timeout: 2000,
      unhealthyAfter: 3,
      healthyAfter: 1,
      restartAfter: 12,
    })
    assert.deepEqual(long.services[0]!.health, short.services[0]!.health)
  })

  for (const path of ['/', '/health?deep=1', '/a/b'])
    it(`may request ${path}`, async () => {
      assert.equal((await load({ health: path })).services[0]!.health?.path, path)
    })

  for (const path of ['', 'health', '//elsewhere', '/a b', '/a#b', '/a\r\nx: y'])
    it(`may not request ${JSON.stringify(path)}`, async () => {
      await assert.rejects(load({ health: path }), { code: 'CONFIG_INVALID' })
    })

  it('may never restart', async () => {
    const { services } = await load({ health: { path: '/', restartAfter: false } }).catch(() =>
      load({ health: { path: '/up', restartAfter: false } }),
    )
    assert.equal(services[0]!.health?.restartAfter, false)
  })
})

describe('cronRestart', () => {
  it('is a cron expression, with or without a time zone', async () => {
    assert.deepEqual((await load({ cronRestart: '0 4 * * *' })).services[0]!.cronRestart, {
      cron: '0 4 * * *',
      timeZone: undefined,
    })
    const cronRestart = { cron: '*/10 0 4 * * MON', timeZone: 'Europe/Berlin' }
    assert.deepEqual((await load({ cronRestart })).services[0]!.cronRestart, cronRestart)
  })

  for (const wrong of [
    'daily',
    '61 * * * *',
    '0 4 * *',
    '2030-01-01T00:00:00',
    { cron: '0 4 * * *', timeZone: 'Mars' },
  ])
    it(`is not ${JSON.stringify(wrong)}`, async () => {
      assert.match(await problemOf({ cronRestart: wrong }), /^CONFIG_INVALID .*cronRestart/s)
    })
})

it('a command cannot signal that it is ready', async () => {
  const problem = await problemOf({ path: undefined, command: 'node server.js', ready: 'signal' })
  assert.match(problem, /^CONFIG_INVALID .*ready is 'signal', but a command cannot signal/)
})

it('what the config leaves out is not set', async () => {
  const { stopDelay, stableAfter, startConcurrency, gateway, services } = await load({})
  assert.deepEqual([stopDelay, stableAfter, startConcurrency, gateway.probes], [0, 60_000, undefined, undefined])
  for (const key of ['ready', 'health', 'maxUptime', 'cronRestart']) assert.ok(!(key in services[0]!), key)
})

it('with probes the sole entry does not get raw connections', async () => {
  assert.equal((await load({}, { gateway: { probes: true } })).gateway.probes, true)
})
