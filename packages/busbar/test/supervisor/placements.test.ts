/** The same two services in every placement. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const programs = `${import.meta.dirname}/programs/placements`
const expected = {
  first: { method: 'GET', url: '/first', size: 0 },
  second: { method: 'POST', url: '/x?y=1', size: 100_000 },
}

/** Milliseconds; long, for a machine that starts a dozen processes at the same time. */
const startTimeout = 60_000

type Place = Partial<Service>

const places: Readonly<Record<string, Place>> = {
  shared: { run: 'shared' },
  thread: { run: 'thread' },
  group: { run: 'thread', group: 'both' },
  'two threads': { run: 'thread', instances: 2 },
  process: { run: 'process' },
  'two processes': { run: 'process', instances: 2 },
}

const command: Place = {
  kind: 'command',
  run: 'process',
  entry: { file: process.execPath, args: [`${programs}/api.js`], nodeOptions: [], foundBy: 'command' },
}

const callers = ['shared', 'thread', 'process', 'group'] as const

for (const caller of callers)
  for (const [api, apiPlace] of Object.entries({ ...places, command }))
    test(`the same answers, with web in ${caller} and api in ${api}`, async () => {
      const webPlace = places[caller]!
      await using app = await start(webPlace, apiPlace)
      const { where } = await call(app)
      assert.equal(where.web === where.api, sameWorker(webPlace, apiPlace))
      assert.equal(pidOf(where.web) === process.pid, webPlace.run !== 'process')
      assert.equal(pidOf(where.api) === process.pid, apiPlace.run !== 'process')
    })

for (const run of ['thread', 'process'] as const)
  test(`calls continue while the ${run} of the callee is replaced, and then reach the new one`, async () => {
    await using app = await start({ run: 'shared' }, { run })
    const { where: before } = await call(app)
    const stop = new AbortController()
    const calling = (async () => {
      while (!stop.signal.aborted) await call(app)
    })()
    await app.running.replace(undefined, ['api'])
    stop.abort()
    await calling
    const { where: after } = await call(app)
    assert.notEqual(after.api, before.api)
    assert.equal(after.web, before.web)
  })

for (const run of ['thread', 'process'] as const)
  test(`a replaced ${run} accepts the calls of a caller that does not know of the replacement yet`, async () => {
    using notes = new TestFolder()
    const common = { startTimeout, env: { NOTES: notes.path } }
    await using app = await TestApp.start({
      services: {
        late: { file: `${programs}/late.js`, needs: ['notes'], ...common },
        notes: { file: `${programs}/notes.js`, run, ...common },
      },
    })
    const called = fetch(app.url, { headers: { connection: 'close' } })
    await app.untilLogged('hears nothing')
    const [old] = readdirSync(notes.path)
    await app.running.replace(undefined, ['notes'])
    assert.equal(await (await called).text(), `${old} 100000`)
  })

test('calls go to the remaining instance when another one is killed, and later to its successor', async () => {
  await using app = await start({ run: 'shared' }, { run: 'process', instances: 2 })
  const victim = app.running.workers.find(({ kind }) => kind === 'process')
  process.kill(victim!.pid!, 'SIGKILL')
  await app.until(() => app.running.workers[victim!.worker]!.deaths === 1)
  await call(app)
  await app.untilReplaced(victim!.worker)
  await call(app)
  assert.equal(app.running.workers[victim!.worker]!.lastExit?.why, 'signal')
})

for (const accept of ['balanced', 'reusePort'] as const)
  for (const run of ['thread', 'process'] as const)
    test(
      `a ${run} gets the connections of a port of its own, accepted ${accept}`,
      { skip: skipped(accept) },
      async () => {
        const expose = [{ host: '127.0.0.1', port: 0 }]
        await using app = await TestApp.start({
          accept,
          gateway: { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] },
          services: {
            api: { file: `${programs}/api.js`, startTimeout, run, expose },
            web: { file: `${programs}/web.js`, needs: ['api'], startTimeout, run: 'shared' },
          },
        })
        await call(app)
        const { url } = app.running.addresses.find(({ id }) => id === 'expose:api')!
        const response = await fetch(`${url}/direct`, { headers: { connection: 'close' } })
        assert.equal(((await response.json()) as { url: string }).url, '/direct')
        assert.equal(pidOf(response.headers.get('x-where')!) === process.pid, run === 'thread')
      },
    )

test('a thread that exceeds its memory is replaced, without an effect on others', async () => {
  const memory = 32 * 1024 * 1024
  const any = { file: `${import.meta.dirname}/programs/any.js`, startTimeout, run: 'thread', memory } as const
  const routes = ['any', 'api'].map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  await using app = await TestApp.start({
    gateway: { entry: undefined, routes },
    services: { any, api: { file: `${programs}/api.js`, startTimeout, run: 'thread' } },
  })
  const dying = fetch(`${app.url}/any/memory`)
  const { worker } = app.running.workers.find(({ name }) => name === 'any')!
  await app.until(() => app.running.workers[worker]!.deaths === 1)
  assert.equal((await dying).status, 502)
  assert.equal((await fetch(`${app.url}/api/x`)).status, 200)
  const { lastExit } = await app.untilReplaced(worker)
  assert.equal(lastExit?.why, 'memory')
  assert.equal((await fetch(`${app.url}/any/`)).status, 200)
  assert.equal(app.running.workers.filter(({ deaths }) => deaths > 0).length, 1)
})

test('a stop follows the reverse order of needs, across shared workers, threads and processes', async () => {
  const file = `${programs}/stops.js`
  const app = await TestApp.start({
    gateway: { entry: undefined, routes: [{ host: undefined, prefix: '', service: 'first' }] },
    services: {
      // Each worker is needed by one that stops earlier, and needs one that stops later.
      fourth: { file, run: 'thread', startTimeout },
      third: { file, run: 'shared', needs: ['fourth'], env: { NEEDS: 'fourth' }, startTimeout },
      second: { file, run: 'process', needs: ['third'], env: { NEEDS: 'third' }, startTimeout },
      first: { file, run: 'shared', needs: ['second'], env: { NEEDS: 'second' }, startTimeout },
    },
  })
  await app.running.stop()
  assert.deepEqual(
    app.log.filter(({ stream }) => stream === 'stdout').map(({ service, line }) => `${service} ${line}`),
    [
      'first stops, and second is here',
      'second stops, and third is here',
      'third stops, and fourth is here',
      'fourth stops, and undefined is nobody',
    ],
  )
})

/** Only Linux balances connections over sockets with reusePort. */
function skipped(accept: string): boolean {
  return accept === 'reusePort' && process.platform !== 'linux'
}

function start(web: Place, api: Place): Promise<TestApp> {
  return TestApp.start({
    gateway: { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] },
    services: {
      api: { file: `${programs}/api.js`, startTimeout, ...api },
      web: { file: `${programs}/web.js`, needs: ['api'], startTimeout, ...web },
    },
  })
}

async function call(app: TestApp): Promise<{ where: { web: string; api: string } }> {
  const response = await fetch(`${app.url}/web/x?y=1`, { headers: { connection: 'close' } })
  assert.deepEqual(await response.json(), expected)
  return { where: JSON.parse(response.headers.get('x-places')!) as { web: string; api: string } }
}

function sameWorker(web: Place, api: Place): boolean {
  return (web.run === 'shared' && api.run === 'shared') || (web.group !== undefined && web.group === api.group)
}

function pidOf(where: string): number {
  return Number(where.split(':')[0])
}
