/** What a server refuses while a connection lasts, and what happens when it permits that again. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { connect } from '@nats-io/transport-node'
import { safe } from '../../src/contract/client-entry.ts'
import { encodeDial, readDial } from '../../src/mesh/cluster/dial-message.ts'
import { callerGreeting } from '../../src/mesh/hosts/host-hello.ts'
import type { ClusterConfig } from '../../src/shared/hosts.ts'
import { Shop } from '../hosts/support/shop.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, subscriptionsOf, withoutNats } from './support/nats-server.ts'

const user = { user: 'shop', password: 'p' }

/** A user who may subscribe only `subjects`, and one who may do everything. */
function permit(...subjects: string[]): string {
  const permissions = `{ publish: ["busbar.test.>", "_INBOX.>"], subscribe: ${JSON.stringify(subjects)} }`
  const users = `{ user: "shop", password: "p", permissions: ${permissions} }, { user: "all", password: "p" }`
  return `authorization: { users: [${users}] }`
}

async function open(nats: NatsServer, name: string): Promise<NatsConnection> {
  return await connect({ servers: `127.0.0.1:${nats.port}`, user: name, pass: 'p', reconnect: false })
}

async function untilLogged(log: readonly string[], text: RegExp): Promise<void> {
  await pollUntil(
    () => log.some((line) => text.test(line)),
    () => log,
  )
}

async function untilCall(caller: ClusterCaller, how: 'fails' | 'succeeds'): Promise<void> {
  const fails = async (): Promise<boolean> => (await safe(caller.shop.write(0)))[0] !== undefined
  while ((await fails()) !== (how === 'fails')) await sleep(10)
}

describe('subscriptions that a server no longer permits', { skip: withoutNats }, () => {
  it('come back when it does, for all groups of a subject, and each message arrives once', async () => {
    await using nats = await NatsServer.start(permit('busbar.test.>'))
    const [own, other] = [await open(nats, 'shop'), await open(nats, 'all')]
    const [lines, seen]: [string[], string[]] = [[], []]
    const subscriptions = subscriptionsOf(own, lines)
    const listen = (name: string, queue?: string) =>
      subscriptions.subscribe('busbar.test.news', {
        queue,
        without: `${name} gets none`,
        callback: (message) => seen.push(`${name} ${message.string()}`),
      })
    listen('plain')
    listen('one', 'one')
    listen('two', 'two')
    const ended = listen('ended', 'ended')
    const say = async (text: string): Promise<void> => {
      seen.length = 0
      other.publish('busbar.test.news', text)
      for (const connection of [own, other, own]) await connection.flush()
      seen.sort()
    }
    await own.flush()
    await nats.reload(permit('busbar.other.>'))
    await untilLogged(lines, /refuses subscriptions: .*plain gets none.*one gets none.*two gets none.*permit the user/)
    ended.unsubscribe()
    await say('refused')
    assert.deepEqual(seen, [])
    assert.match(subscriptions.fault ?? '', /two gets none/)
    await nats.reload(permit('busbar.test.>'))
    await untilLogged(lines, /no longer refuses subscriptions: .*plain.*one.*two/)
    await say('permitted')
    assert.deepEqual(seen, ['one permitted', 'plain permitted', 'two permitted'])
    assert.equal(subscriptions.fault, undefined)
    assert.equal(lines.length, 2, lines.join('\n'))
    await Promise.all([own.close(), other.close()])
  })

  it('keep no call from working when they are back', async () => {
    await using nats = await NatsServer.start(permit('busbar.test.>'))
    const config: ClusterConfig = nats.config(user)
    await using host = await ClusterShop.start(new Shop('far'), config)
    await using caller = await ClusterCaller.open(config, 1, 300)
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    await nats.reload(permit('busbar.other.>'))
    await untilCall(caller, 'fails')
    await untilLogged(host.shop.log, /busbar\.test\.dial\.\w+ \(other apps of the cluster cannot call services of this/)
    await untilLogged(caller.log, /busbar\.test\.hosts \(hosts of services of the cluster are not found\)/)
    await nats.reload(permit('busbar.test.>'))
    await untilCall(caller, 'succeeds')
    for (const log of [host.shop.log, caller.log]) await untilLogged(log, /no longer refuses/)
  })
})

describe('a server that refuses the messages of a link', { skip: withoutNats }, () => {
  it('is named by calls at once, and by the log', async () => {
    const denied = 'publish: { deny: ["busbar.test.link.>"] }'
    const users = `{ user: "shop", password: "p", permissions: { ${denied} } }, { user: "all", password: "p" }`
    await using nats = await NatsServer.start(`authorization: { users: [${users}] }`)
    await using _ = await ClusterShop.start(new Shop('far'), nats.config({ user: 'all', password: 'p' }))
    await using caller = await ClusterCaller.open(nats.config(user))
    const [error] = await safe(caller.shop.write(1))
    assert.equal(error?.code, 'LINK_LOST')
    assert.match(error.message, /gets no messages, which NATS refuses: .*busbar\.test\.link\./)
    await untilLogged(caller.log, /refuses something: .*busbar\.test\.link\./)
  })
})

describe('a server that takes no further subscriptions', { skip: withoutNats }, () => {
  it('is named with what does not work, and what to do', async () => {
    await using nats = await NatsServer.start('max_subscriptions: 3')
    const connection = await nats.connect()
    const lines: string[] = []
    const subscriptions = subscriptionsOf(connection, lines)
    const listen = (at: number) =>
      subscriptions.subscribe(`news.${at}`, { without: `no news ${at}`, callback: () => {} })
    const [first] = [0, 1, 2, 3, 4].map(listen)
    const refusal =
      /refuses subscriptions: news\.3 \(no news 3\), news\.4 \(no news 4\): .*; raise its max_subscriptions/
    await untilLogged(lines, refusal)
    first!.unsubscribe()
    await untilLogged(lines, /no longer refuses subscriptions: news\.3 \(no news 3\)$/)
    await connection.close()
  })
})

describe('a server whose max_payload is too small', { skip: withoutNats }, () => {
  it('is said so, with what is needed, by the log and by calls', async () => {
    await using nats = await NatsServer.start()
    const config = nats.config()
    await using host = await ClusterShop.start(new Shop('far'), config)
    await using caller = await ClusterCaller.open(config)
    await nats.restart('max_payload: 256')
    const fault =
      /NATS at 127.* cannot be reached: its max_payload is 256 bytes, and Busbar needs at least 1024: raise it/
    for (const log of [host.shop.log, caller.log]) await untilLogged(log, fault)
    const [error] = await safe(caller.shop.write(1))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
    assert.match(error.message, fault)
    await nats.restart('max_payload: 1024')
    await untilCall(caller, 'succeeds')
  })

  it('is said of a caller that uses it', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    const connection = await nats.connect()
    const end = `${'a'.repeat(24)}.1`
    const request = encodeDial({ hello: callerGreeting('raw').own.text, end, maxMessage: 256 })
    await host.accept()
    const dialled = await connection.request(`busbar.test.dial.${host.host}`, request, { timeout: 10_000 })
    assert.equal(readDial(dialled.string()).end, '')
    await untilLogged(host.shop.log, /refused a link of an app that uses a NATS server whose max_payload is 256 bytes/)
    await connection.close()
  })
})
