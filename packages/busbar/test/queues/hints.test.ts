/** What `busbar queue` says when the queue of a cluster cannot be used, and what to do. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { freePorts } from '../support/http/free-ports.ts'
import { QueueProcess, quick } from './support.ts'

const configOf = (nats: string | string[]): object => ({ queues: quick, cluster: { nats, name: 'shop' } })

async function said(nats: string | string[]): Promise<string> {
  await using app = new QueueProcess(configOf(nats))
  await app.start()
  const { code, stderr } = await app.queue()
  assert.equal(code, 1, stderr)
  assert.match(stderr, /QUEUE_UNAVAILABLE/)
  return stderr
}

/** A user with the given permissions. */
function permit(permissions: string): string {
  return `authorization: { users: [{ user: "shop", password: "p", permissions: { ${permissions} } }] }`
}

// An app waits for 10 s before it says so.
describe('busbar queue', { skip: withoutNats, concurrency: true }, () => {
  it('says of each server that cannot be reached what its socket says', async () => {
    const [one, other] = await freePorts(2)
    const text = await said([`nats://127.0.0.1:${one}`, `nats://127.0.0.1:${other}`])
    assert.match(text, /NATS at 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ cannot be reached: connection refused/)
    assert.match(text, /Start the servers that cluster\.nats names/)
    assert.doesNotMatch(text, /majority|nats-server -js/)
  })

  it('says which server does not answer, and which one refuses', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using silent = await FaultProxy.open(nats.port)
    silent.freeze()
    const [closed] = await freePorts(1)
    const text = await said([`nats://127.0.0.1:${silent.port}`, `nats://127.0.0.1:${closed}`])
    assert.match(text, new RegExp(`127.0.0.1:${silent.port}: no answer within 3 s`))
    assert.match(text, new RegExp(`127.0.0.1:${closed}: connection refused`))
    assert.match(text, /Start the servers that cluster\.nats names/)
  })

  it('says that the servers do not accept the user', async () => {
    await using nats = await NatsServer.startWithJetStream(permit('publish: ">", subscribe: ">"'))
    const text = await said(`nats://shop:wrong@127.0.0.1:${nats.port}`)
    assert.match(text, /cannot be reached: .*Authorization Violation/)
    assert.match(text, /Check cluster\.credentials, or the user and password in cluster\.nats/)
    assert.doesNotMatch(text, /majority|nats-server -js/)
  })

  it('says that there is no JetStream', async () => {
    await using nats = await NatsServer.start()
    const text = await said(`nats://127.0.0.1:${nats.port}`)
    assert.match(text, /start the NATS servers with nats-server -js/)
    assert.doesNotMatch(text, /majority/)
  })

  it('says what the user may not do', async () => {
    await using nats = await NatsServer.startWithJetStream(permit('publish: "busbar.shop.>", subscribe: ">"'))
    const text = await said(`nats://shop:p@127.0.0.1:${nats.port}`)
    assert.match(text, /JetStream cannot be used: .*Permissions Violation for Publish to "\$JS\.API\./i)
    assert.match(text, /Permit the user of the app what the message names/)
    assert.doesNotMatch(text, /majority|nats-server -js/)
  })

  it('says that a single server does not keep three copies', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess({
      queues: quick,
      cluster: { nats: `nats://127.0.0.1:${nats.port}`, name: 'shop', replicas: 3 },
    })
    await app.start()
    const { stderr } = await app.queue()
    assert.match(stderr, /cluster\.replicas may be at most the number of NATS servers/)
  })

  it('says that the account may have no further streams', async () => {
    const users = 'users: [{ user: "shop", password: "p" }]'
    await using nats = await NatsServer.startWithJetStream(
      `accounts: { A: { jetstream: { max_streams: 2 }, ${users} } }`,
    )
    const text = await said(`nats://shop:p@127.0.0.1:${nats.port}`)
    assert.match(text, /JetStream cannot be used: maximum number of streams reached/)
    assert.match(text, /needs four streams: raise max_streams of the account/)
  })

  it('says that a stream was deleted, which the app makes anew; what is enqueued meanwhile runs', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess(configOf(`nats://127.0.0.1:${nats.port}`))
    await app.start()
    await app.enqueue('send', { to: 'ada' })
    await app.busbar.message('sent ada')
    const connection = await nats.connect()
    const { streams } = await jetstreamManager(connection)
    for (const stream of ['ready', 'later', 'dead', 'begun']) {
      await streams.delete(`busbar_shop_queue_${stream}`)
      await app.enqueue('send', { to: stream })
      await app.busbar.message(
        `the stream busbar_shop_queue_${stream} was deleted, with what it held; it has been made`,
      )
      await app.busbar.message(`sent ${stream}`)
    }
    await connection.close()
    const { code, stdout } = await app.queue()
    assert.equal(code, 0)
    assert.match(stdout, /the queue is empty/)
  })

  it('says in the log why a stream that was deleted cannot be made anew', async () => {
    const users = 'users: [{ user: "shop", password: "p" }]'
    await using nats = await NatsServer.startWithJetStream(
      `accounts: { A: { jetstream: { max_streams: 4 }, ${users} } }`,
    )
    const address = `nats://shop:p@127.0.0.1:${nats.port}`
    await using app = new QueueProcess(configOf(address))
    await app.start()
    await app.enqueue('send', { to: 'ada' })
    await app.busbar.message('sent ada')
    const connection = await connect({ servers: `127.0.0.1:${nats.port}`, user: 'shop', pass: 'p' })
    const { streams } = await jetstreamManager(connection)
    // The app may make it first.
    for (let isTaken = false; !isTaken;) {
      await streams.delete('busbar_shop_queue_begun')
      isTaken = await streams.add({ name: 'other', subjects: ['other'] }).then(
        () => true,
        () => false,
      )
    }
    await connection.close()
    await app.busbar.message('a stream was deleted, and cannot be made anew: maximum number of streams reached')
    const { code, stderr } = await app.queue()
    assert.equal(code, 1)
    assert.match(stderr, /If it cannot, its log says why/)
    const live = await app.checkLive()
    assert.equal(live.code, 1)
    assert.match(live.stdout, /stream not found/)
  })

  it('says what may have changed only of what changes something', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess(configOf(`nats://127.0.0.1:${nats.port}`))
    await app.start()
    await app.enqueue('send', { to: 'ada' })
    await app.busbar.message('sent ada')
    nats.freeze()
    const looked = await app.queue()
    assert.doesNotMatch(looked.stderr, /may be/)
    nats.thaw()
  })

  it('says that the servers have gone, when they were connected before', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess(configOf(`nats://127.0.0.1:${nats.port}`))
    await app.start()
    await app.enqueue('send', { to: 'ada' })
    await app.busbar.message('sent ada')
    await nats.kill()
    const { stderr } = await app.queue()
    assert.match(stderr, /Start the servers that cluster\.nats names/)
    assert.doesNotMatch(stderr, /majority|nats-server -js/)
  })
})
