import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'

/** It is not documented. Without it, a host that stops holds up a method for 10 s. */
it(
  'the client of NATS has the subscription by which an ending consumer takes what is on its way',
  {
    skip: withoutNats,
  },
  async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using connection = await nats.connect()
    const { streams, consumers } = await jetstreamManager(connection)
    await streams.add({ name: 'items', subjects: ['item'] })
    await consumers.add('items', { durable_name: 'host', ack_policy: AckPolicy.Explicit })
    const consumer = await jetstream(connection).consumers.get('items', 'host')
    const messages = await consumer.consume({ callback: () => {} })
    const { sub } = messages as { readonly sub?: { drain?(): Promise<void> } }
    assert.equal(typeof sub?.drain, 'function')
    await sub!.drain!()
    await messages.close()
  },
)
