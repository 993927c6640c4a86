/** Items that come too late to a host: an attempt that has not begun is none. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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

async function untilEmpty(nats: NatsServer): Promise<void> {
  const connection = await nats.connect()
  const { streams } = await jetstreamManager(connection)
  while ((await streams.info('busbar_shop_queue_ready')).state.messages > 0) await sleep(50)
  await connection.close()
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

describe('items of a cluster that may be attempted once', { skip: withoutNats }, () => {
  it('run at another host if the first one did not get them in time', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using shop = await startShop(nats.port)
    await using cut = await startPost(proxy.port)
    await using well = await startPost(nats.port)
    await shop.mail.send.enqueue({ to: 'first' })
    await pollUntil(() => [cut, well].some((post) => post.logged('sent first').length > 0))
    // It has begun, and must have an outcome before its host is cut off.
    await untilEmpty(nats)
    // The server sends the host what it has asked for.
    proxy.freeze()
    for (const to of names) await shop.mail.send.enqueue({ to })
    await untilAllRan([well])
    proxy.thaw()
  })
})
