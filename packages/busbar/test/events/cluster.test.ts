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
