import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NatsConnection } from '@nats-io/transport-node'
import { LinkEnds } from '../../src/mesh/cluster/link-ends.ts'
import { clientOf } from '../../src/shared/cluster/connection.ts'
import { subjectsOf } from '../../src/shared/cluster/subjects.ts'
import { NatsServer, subscriptionsOf, withoutNats } from './support/nats-server.ts'

const subjects = subjectsOf('test')
const [data, close] = [Uint8Array.of(1, 1, 0, 0, 0), Uint8Array.of(3, 1, 0, 0, 0)]

describe('an end of a link over NATS', { skip: withoutNats }, () => {
  it('closes when the other end says that it has no such link, though its subscription stays', async () => {
    await using nats = await NatsServer.start()
    const [here, there] = [await open(nats), await open(nats)]
    const [one, other] = [here.ends.create(), there.ends.create()]
    one.connect(other.address, 1024 ** 2)
    const { promise: closed, resolve } = Promise.withResolvers<string | undefined>()
    one.transport.open({ onPacket() {}, onPart() {}, onDrain() {}, onClose: resolve })
    // It does not know yet where to say that it has ended, as if that were lost on the way.
    other.transport.close()
    one.transport.send({ text: '[]', bytes: [] })
    assert.equal(await closed, 'has ended, or has lost its connection to NATS')
    await Promise.all([here, there].map(({ connection }) => connection.close()))
  })

  it('that is not open answers what expects more, once, and only to ends of links', async () => {
    await using nats = await NatsServer.start()
    const { ends, connection } = await open(nats)
    const subject = subjects.link(`${ends.create().address.split('.')[0]}.99`)
    const peer = await nats.connect()
    // The server has the subscription of the ends before another connection publishes to it.
    await connection.flush()
    const mine = subjects.link(`${'a'.repeat(24)}.1`)
    const seen: string[] = []
    const callback = (_: unknown, { subject: to, headers }: { subject: string; headers?: { code: number } }): void =>
      void seen.push(`${to} ${headers?.code}`)
    for (const to of [mine, 'elsewhere', subjects.link('elsewhere')]) peer.subscribe(to, { callback })
    const { headers } = clientOf(nats.config())
    const answer = headers(503, 'Unknown Link')
    peer.publish(subject, close, { reply: mine })
    peer.publish(subject, data)
    peer.publish(subject, data, { reply: 'elsewhere' })
    peer.publish(subject, data, { reply: subjects.link('elsewhere') })
    peer.publish(subject, undefined, { reply: mine, headers: answer })
    peer.publish(subject, data, { reply: mine })
    // The ends have all messages, then the server has their answers, then the peer has these.
    for (const one of [peer, connection, connection, peer]) await one.flush()
    assert.deepEqual(seen, [`${mine} 503`])
    await Promise.all([connection.close(), peer.close()])
  })
})

async function open(nats: NatsServer): Promise<{ connection: NatsConnection; ends: LinkEnds }> {
  const connection = await nats.connect()
  return { connection, ends: new LinkEnds(connection, subscriptionsOf(connection), subjects, clientOf(nats.config())) }
}
