/** What servers refuse while the queue of a cluster is connected, and what the log says of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, quick } from './support.ts'

const configOf = (port: number): object => ({
  queues: quick,
  cluster: { nats: `nats://shop:p@127.0.0.1:${port}`, name: 'shop' },
})

/** A user who may subscribe only `subject`. */
function permit(subject: string): string {
  const permissions = `{ publish: ">", subscribe: "${subject}" }`
  return `authorization: { users: [{ user: "shop", password: "p", permissions: ${permissions} }] }`
}

describe('the queue of a cluster whose server refuses something', { skip: withoutNats }, () => {
  it('goes on when it is permitted again, and the log does not repeat itself', async () => {
    await using nats = await NatsServer.startWithJetStream(permit('>'))
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.send.enqueue({ to: 'ada' })
    await app.untilLogged('sent ada')
    await nats.reload(permit('nothing.>'))
    await app.untilLogged('mail=send cannot be consumed')
    await assert.rejects(app.mail.send.enqueue({ to: 'bob' }, { id: 'b' }), { code: 'QUEUE_UNAVAILABLE' })
    const said = app.logged('mail=send cannot be consumed')
    assert.equal(new Set(said).size, said.length)
    await nats.reload(permit('>'))
    await app.mail.send.enqueue({ to: 'bob' }, { id: 'b' })
    await app.untilLogged('sent bob')
    await pollUntil(() => app.counts.waiting === 0 && app.counts.running === 0)
  })

  it('says once that it cannot be used, whatever subject for answers is refused', async () => {
    await using nats = await NatsServer.startWithJetStream(permit('busbar.shop.hosts'))
    await using app = await QueueApp.start(configOf(nats.port))
    await app.untilLogged('JetStream cannot be used')
    await sleep(2_500)
    assert.equal(app.logged('JetStream cannot be used').length, 1)
  })

  it('says of an item that its account has no JetStream any more', async () => {
    const account = (jetstream: string): string =>
      `accounts: { A: { jetstream: ${jetstream}, users: [{ user: "shop", password: "p" }] } }`
    await using nats = await NatsServer.startWithJetStream(account('enabled'))
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.send.enqueue({ to: 'ada' })
    await app.untilLogged('sent ada')
    await nats.reload(account('disabled'))
    const message = /JetStream not enabled|jetstream is not enabled/i
    await assert.rejects(app.mail.send.enqueue({ to: 'bob' }), { code: 'QUEUE_UNAVAILABLE', message })
  })

  it('says of an item that JetStream does not answer any more', async () => {
    await using nats = await NatsServer.startWithJetStream(permit('>'))
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.send.enqueue({ to: 'ada' })
    await app.untilLogged('sent ada')
    await nats.reloadWithoutJetStream(permit('>'))
    const message = /NATS has not kept the item: JetStream does not answer: it has no leader, or was disabled/
    await assert.rejects(app.mail.send.enqueue({ to: 'bob' }), { code: 'QUEUE_UNAVAILABLE', message })
  })

  it('says whose items are not run because the server takes no further subscriptions', async () => {
    await using nats = await NatsServer.startWithJetStream(`${permit('>')}\nmax_subscriptions: 3`)
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.send.enqueue({ to: 'ada' })
    await app.untilLogged(/mail=send gets no messages; they are asked for anew/)
  })
})
