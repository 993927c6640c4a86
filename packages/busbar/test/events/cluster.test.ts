import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { EventsApp } from './support.ts'

/** `shop` publishes and has `audit`; `mail` runs in the two other apps. */
describe('events between apps of a cluster', { skip: withoutNats }, () => {
  let nats: NatsServer
  let shop: EventsApp
  let posts: EventsApp[]

  before(async () => {
    nats = await NatsServer.start()
    const config = { cluster: { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' } }
    const start = (services: object): Promise<EventsApp> => EventsApp.start(services, config)
    shop = await start({ audit: { run: 'shared' } })
    posts = [await start({ mail: { run: 'shared' } }), await start({ mail: { run: 'shared' } })]
  })

  after(async () => {
    for (const app of [shop, ...posts]) await app[Symbol.asyncDispose]()
    await nats[Symbol.asyncDispose]()
  })

  const logged = (pattern: RegExp): string[] => posts.flatMap((app) => app.logged(pattern))

  /** A subscription reaches the server a moment after its app is ready. */
  async function untilHeard(path: string, pattern: RegExp): Promise<void> {
    while (posts.some((app) => app.logged(pattern).length === 0)) {
      await shop.ask(path)
      await sleep(20)
    }
  }

  async function untilLogged(pattern: RegExp, count: number): Promise<string[]> {
    while (logged(pattern).length < count) await sleep(5)
    return logged(pattern)
  }

  it('reach every instance by broadcast', async () => {
    await untilHeard('broadcast/placed/1', /welcome (1) /)
    const [seen] = logged(/welcome 1 (\[.*\]) by/)
    // The name of a service of another app means nothing here.
    assert.deepEqual(JSON.parse(seen!), [new Date(1).toJSON(), 0.5, [1, 255], null, 'mail', 'welcome'])
  })

  it('reach one instance of a service, in whichever app', async () => {
    for (let id = 100; id < 140; id++)
      assert.deepEqual(await shop.ask(`emit/placed/${id}`), { accepted: 1, dropped: 0 })
    const ids = Array.from({ length: 40 }, (_, at) => String(100 + at))
    assert.deepEqual((await untilLogged(/welcome (1\d\d) /, 40)).toSorted(), ids)
    await shop.untilLogged(/audit (1\d\d)/, 40)
    assert.deepEqual(shop.logged(/audit (1\d\d)/), ids)
  })

  it('stay in their app if the service runs there', async () => {
    const [own, other] = posts as [EventsApp, EventsApp]
    for (let id = 200; id < 210; id++) await own.ask(`emit/placed/${id}`)
    await own.untilLogged(/welcome (2\d\d) /, 10)
    // `audit` runs elsewhere.
    await shop.untilLogged(/audit (2\d\d)/, 10)
    assert.deepEqual(other.logged(/welcome (2\d\d) /), [])
  })

  it('fail at their publisher if no server takes them', async () => {
    assert.equal(await shop.ask('large'), 'INPUT_INVALID')
  })

  it('are ignored if they are none', async () => {
    const tool = await nats.connect()
    for (const payload of ['', '[]', '\x04\0\0\0\0\0\0\0[1]]', '\x02\0\0\0\0\0\0\0{}'])
      tool.publish('busbar.shop.broadcast.orders.placed', payload)
    await tool.close()
    await untilHeard('broadcast/placed/2', /welcome (2) /)
  })

  it('arrive again when the server is back', async () => {
    await nats.kill()
    assert.deepEqual(await shop.ask('emit/placed/3'), { accepted: 1, dropped: 0 })
    await nats.start()
    await untilHeard('broadcast/placed/4', /welcome (4) /)
  })
})

describe('events between hosts of one app', { skip: withoutNats }, () => {
  it('are handled once by every instance of every host if broadcast, and by one if emitted', async () => {
    await using nats = await NatsServer.start()
    await using scope = new AsyncDisposableStack()
    const config = { cluster: { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop' } }
    const hosts: EventsApp[] = []
    for (let host = 0; host < 3; host++)
      hosts.push(scope.use(await EventsApp.start({ mail: { run: 'thread', instances: 2 } }, config)))
    /** The instances that have handled it, each as often as it has. */
    const handled = (id: number): string[] =>
      hosts.flatMap((app) => app.logged(new RegExp(`welcome ${id} .* by (\\w+)`))).toSorted()
    const untilAll = async (id: number): Promise<void> => {
      while (new Set(handled(id)).size < 6) await sleep(5)
    }
    // A subscription reaches the server a moment after its app is ready.
    for (const [id, app] of hosts.entries())
      while (new Set(handled(id)).size < 6) {
        await app.ask(`broadcast/placed/${id}`)
        await sleep(20)
      }
    const instances = [...new Set(handled(0))]
    for (const [at, app] of hosts.entries()) {
      assert.deepEqual(await app.ask(`broadcast/placed/${100 + at}`), { accepted: 2, dropped: 0 })
      assert.deepEqual(await app.ask(`emit/placed/${200 + at}`), { accepted: 1, dropped: 0 })
      // It follows the others everywhere.
      await app.ask(`broadcast/placed/${300 + at}`)
    }
    for (const at of hosts.keys()) {
      await untilAll(300 + at)
      assert.deepEqual(handled(100 + at), instances)
      assert.equal(handled(200 + at).length, 1)
    }
  })
})
