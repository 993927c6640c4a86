/** A program cannot reach the channel between its worker and the supervisor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { TestApp } from '../support/app/test-app.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const file = `${import.meta.dirname}/programs/control/index.mjs`
const places = { shared: { run: 'shared' }, thread: { run: 'thread' }, process: { run: 'process' } } as const

/**
 * Requests go through the gateway, so that the end of a worker does not close the test's
 * connections.
 */
async function start(place: Partial<Service>): Promise<TestApp> {
  const services = { web: { file, ...place }, other: { file, run: 'shared' } } as const
  return await TestApp.start({
    services,
    gateway: { routes: [{ host: undefined, prefix: '/other', service: 'other' }] },
  })
}

async function ask(app: TestApp, deed: string): Promise<unknown> {
  return await (await fetch(`${app.url}/${encodeURIComponent(deed)}`)).json()
}

const deeds = [
  'post to the parent port',
  'post to the parent port of an own thread',
  'post to the main thread from an own thread',
  'post to all ports that Node lists',
  'send to the parent',
  'give orders',
  'hear orders',
  'take listeners off',
  'close the channel',
]

for (const [name, place] of Object.entries(places))
  suite(`a program in ${name} form`, () => {
    test('may misuse any channel that it sees: the app goes on serving and stops normally', async () => {
      await using app = await start(place)
      for (const deed of deeds) {
        await ask(app, deed)
        assert.deepEqual(await ask(app, 'none'), null, deed)
      }
      const { deaths, states } = stateOf(app)
      assert.deepEqual({ deaths, states: new Set(states) }, { deaths: 0, states: new Set(['serving']) })
      await app.running.replace()
      assert.deepEqual(await ask(app, 'none'), null)
      await app.running.stop()
      assert.deepEqual(new Set(stateOf(app).states), new Set(['stopped']))
    })

    test('receives from such a channel only its own events', async () => {
      await using app = await start(place)
      assert.deepEqual(await ask(app, 'hear orders'), { heard: ['own', 'own', 'own'], listeners: 1 })
      assert.deepEqual(await ask(app, 'send to the parent'), [])
      assert.deepEqual(await ask(app, 'close the channel'), [false, null])
    })
  })

async function json<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T
}

function stateOf({ running: { workers } }: TestApp): { deaths: number; states: string[] } {
  return { deaths: Math.max(...workers.map(({ deaths }) => deaths)), states: workers.map(({ state }) => state) }
}

for (const deed of ['write what is no message', 'write what is no message of Busbar'])
  test(`bytes that a program writes to the channel's descriptor end at most its own process: ${deed}`, async () => {
    using folder = new TestFolder({
      'busbar.config.json': {
        gateway: { port: 0, entry: 'web', routes: { '/other': 'other' } },
        services: { web: { path: './web', run: 'process', env: { CHANNEL: '3' } }, other: './other' },
      },
      'web/index.mjs': `import ${JSON.stringify(file)}`,
      'other/index.mjs': `import ${JSON.stringify(file)}`,
    })
    await using busbar = new BusbarProcess(['start', folder.path])
    const url = await busbar.url()
    const supervisor = (): Promise<number> => json(`${url}/other/pid`)
    const before = await supervisor()
    await (await fetch(`${url}/${encodeURIComponent(deed)}`)).text()
    // The process that wrote them may have been replaced.
    while ((await fetch(`${url}/none`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    // If the supervisor had died, the keeper would have started another one.
    assert.equal(await supervisor(), before)
    busbar.child.kill('SIGTERM')
    assert.equal((await busbar.ended).code, 0)
  })
