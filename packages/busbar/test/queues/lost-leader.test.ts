import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { NatsCluster, NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { QueueProcess, quick } from './support.ts'

const stream = 'busbar_shop_queue_dead'

/** Moves the leader of the stream away from the first server. Resolves to the one that has it. */
async function leaderOf(nats: NatsCluster): Promise<number> {
  const connection = await nats.servers[0]!.connect()
  const manager = await jetstreamManager(connection)
  for (;;) {
    const { cluster } = await manager.streams.info(stream)
    const leader = Number(/^s(\d)$/.exec(cluster?.leader ?? '')?.[1] ?? 0)
    if (leader !== 0) {
      await connection.close()
      return leader
    }
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`).catch(() => {})
    await sleep(200)
  }
}

describe('busbar queue', { skip: withoutNats }, () => {
  it('waits until the servers have another leader when that of the dead letters is killed', async () => {
    await using nats = await NatsCluster.start()
    const cluster = { nats: nats.addresses[0]!, name: 'shop', replicas: 3 }
    await using app = new QueueProcess({ queues: quick, cluster })
    await app.start()
    await app.enqueue('flaky', { failures: 1, as: 'declared' }, 'gone')
    await app.busbar.message('is a dead letter')
    await nats.servers[await leaderOf(nats)]!.kill()
    const { code, stdout, stderr } = await app.queue()
    assert.equal(code, 0, stderr)
    assert.match(stdout, /mail\.flaky +gone/)
  })

  it('waits as long if the app has lost its connection, too', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    const cluster = { nats: `nats://127.0.0.1:${proxy.port}`, name: 'shop' }
    await using app = new QueueProcess({ queues: quick, cluster })
    await app.start()
    await app.enqueue('send', { to: 'ada' })
    await app.busbar.message('sent ada')
    await nats.reloadWithoutJetStream()
    proxy.cut()
    await app.busbar.message('JetStream cannot be used: timeout')
    const asked = app.queue()
    // Longer than an item waits for the server.
    await sleep(13_000)
    await nats.restart('')
    proxy.retarget(nats.port)
    const { code, stderr } = await asked
    assert.equal(code, 0, stderr)
  })
})
