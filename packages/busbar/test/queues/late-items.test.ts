/** Items that come too late to a host: an attempt that has not begun is none. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { programs, QueueApp, quick } from './support.ts'

const once = { ...quick, attempts: 1 }
const clusterAt = (port: number): object => ({ nats: `nats://127.0.0.1:${port}`, name: 'shop' })

/** Runs the items of `mail`. */
async function startPost(port: number, queues: object = once): Promise<QueueApp> {
  const services = { mail: `${programs}/mail` }
  return await QueueApp.start({ queues, cluster: clusterAt(port), gateway: { port: 0 }, services })
}

/** Enqueues, and runs nothing. */
async function startShop(port: number): Promise<QueueApp> {
  const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
  return await QueueApp.start({ queues: once, cluster: clusterAt(port), services })
}

const names = Array.from({ length: 6 }, (_, at) => `no${at}`)

/** Every one has run once, as its first attempt, and none is a dead letter. */
async function untilAllRan(posts: readonly QueueApp[]): Promise<void> {
  const runs = (): string[] => posts.flatMap((post) => post.logged('sent no'))
  await pollUntil(() => names.every((name) => runs().some((line) => line.includes(`sent ${name} `))), runs)
  await pollUntil(() => posts.every(({ counts }) => counts.waiting === 0 && counts.running === 0))
  for (const line of runs()) assert.match(line, /"attempt":1,/)
  assert.equal(runs().length, names.length)
  for (const { counts } of posts) assert.equal(counts.dead, 0)
}

/** The outcome of what has run is on the server. */
async function untilTaken(nats: NatsServer): Promise<void> {
  const connection = await nats.connect()
  const { streams } = await jetstreamManager(connection)
  while ((await streams.info('busbar_shop_queue_ready')).state.messages > 0);
  await connection.close()
}

describe('items of a cluster that may be attempted once', { skip: withoutNats }, () => {
  it('run at another host if the first one did not get them in time', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using shop = await startShop(nats.port)
    await using cut = await startPost(proxy.port)
    await using well = await startPost(nats.port)
    await shop.mail.send.enqueue({ to: 'first' })
    await pollUntil(() => [cut, well].some((post) => post.logged('sent first').length > 0))
    await untilTaken(nats)
    // The server sends it what it has asked for.
    proxy.freeze()
    for (const to of names) await shop.mail.send.enqueue({ to })
    await untilAllRan([well])
    proxy.thaw()
  })

  it('wait while no instance of their service serves', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = await QueueApp.start({ queues: once, cluster: clusterAt(nats.port) })
    await app.mail.send.enqueue({ to: 'first' })
    await app.untilLogged('sent first')
    await app.mail.crash.enqueue()
    await app.untilLogged(/worker \d died/)
    for (const to of names) await app.mail.send.enqueue({ to })
    await pollUntil(() => names.every((to) => app.logged(`sent ${to} `).length > 0))
    const dead = await app.untilLogged('is a dead letter')
    assert.equal(dead.length, 1)
    assert.match(
      dead[0]!,
      /mail\.crash: item 1 is a dead letter after 1 attempt: WORKER_DIED: .*; it may have been carried out$/,
    )
  })
})
