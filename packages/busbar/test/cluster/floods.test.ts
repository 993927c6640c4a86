/** What a peer of a cluster can do that is not bound by the rules. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { safe } from '../../src/contract/client-entry.ts'
import { encodeAnnouncement } from '../../src/shared/cluster/announcement.ts'
import { subjectsOf } from '../../src/shared/cluster/subjects.ts'
import { LinkEnds } from '../../src/mesh/cluster/link-ends.ts'
import { maxHostCalls } from '../../src/mesh/links/limits/limits.ts'
import { clientOf } from '../../src/shared/cluster/connection.ts'
import { IncompletePackets } from '../../src/mesh/transports/incomplete-packets.ts'
import { encodePacket } from '../../src/mesh/transports/packet-codec.ts'
import { Shop } from '../hosts/support/shop.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { NatsServer, subscriptionsOf, withoutNats } from './support/nats-server.ts'
import { RawClusterPeer } from './support/raw-cluster-peer.ts'

describe('a peer that floods over NATS', { skip: withoutNats }, () => {
  it('loses its link when it makes calls and acknowledges no answers, and others are answered', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    await using peer = new RawClusterPeer(await nats.connect())
    const link = await peer.dial(await peer.host())
    const large = 'x'.repeat(64 * 1024)
    await pollUntil(() => host.links.size === 2)
    for (let round = 0; host.links.size === 2 && round < 400; round++) {
      link!.calls(8, large)
      await peer.connection.flush()
      assert.deepEqual(await caller.shop.write(round), { at: 'far', input: round })
    }
    while (host.links.size === 2) {
      link!.calls(2_000, 1)
      await peer.connection.flush()
    }
    assert.ok(host.shop.done.filter((input) => input === large).length <= maxHostCalls)
    assert.deepEqual(await caller.shop.write('last'), { at: 'far', input: 'last' })
  })

  it('gets half of the links of a host at most', async () => {
    await using nats = await NatsServer.start()
    await using host = await ClusterShop.start(new Shop('far'), nats.config())
    await using peer = new RawClusterPeer(await nats.connect())
    const id = await peer.host()
    const links = await Promise.all(Array.from({ length: 600 }, () => peer.dial(id)))
    assert.equal(links.filter((link) => link !== undefined).length, 500)
    assert.match(host.shop.log.join('\n'), /refused a link of an app that has too many links already/)
    await using caller = await ClusterCaller.open(nats.config())
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
  })

  it('loses a link on which a packet is never complete, when those of all links need too much', async () => {
    await using nats = await NatsServer.start()
    const connection = await nats.connect()
    const incomplete = new IncompletePackets(1024 ** 2)
    const ends = new LinkEnds(
      connection,
      subscriptionsOf(connection),
      subjectsOf('test'),
      clientOf(nats.config()),
      incomplete,
    )
    const open = () => {
      const end = ends.create()
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      end.transport.open({ onPacket: () => {}, onPart: () => {}, onDrain: () => {}, onClose: resolve })
      return { end, closed: promise }
    }
    const [first, second] = [open(), open()]
    await using peer = new RawClusterPeer(await nats.connect())
    const part = Buffer.alloc(300 * 1024)
    part.writeUInt32LE(60 * 1024 ** 2)
    const links = [first, second].map(({ end }) => peer.linkTo(end.address))
    for (let round = 0; round < 2; round++) for (const link of links) link.data(part)
    assert.match(String(await second.closed), /need too much memory/)
    // What the ended link had needs none any more.
    const third = open()
    peer.linkTo(third.end.address).data(encodePacket({ text: '[]', bytes: [part] })[0])
    links[0]!.data(part)
    await pollUntil(() => incomplete.size > 3 * part.length)
    await connection.close()
  })

  it('makes up hosts: calls go on, and errors and the log stay short', async () => {
    await using nats = await NatsServer.start()
    await using far = await ClusterShop.start(new Shop('far'), nats.config())
    await using caller = await ClusterCaller.open(nats.config())
    await using peer = new RawClusterPeer(await nats.connect())
    const common = { app: 'raw', machine: 'm', version: '', state: 'serving' } as const
    const services = [{ name: 'shop', typed: true, load: 0, contract: '' }]
    const makeUp = (hosts: number): void => {
      for (let at = 0; at < hosts; at++) peer.announce(encodeAnnouncement({ ...common, host: `h${at}`, services }))
    }
    makeUp(3_000)
    await pollUntil(() => caller.hosts.connections.length > 200)
    for (let at = 0; at < 200; at++) assert.deepEqual(await caller.shop.write(at), { at: 'far', input: at })
    assert.ok(caller.log.length <= 100, `${caller.log.length} lines`)
    await far.drain()
    // Those above may have expired.
    makeUp(30)
    const { hosts } = caller
    await pollUntil(() => hosts.connections.length >= 30 && hosts.connections.every(({ fault }) => fault !== undefined))
    const [down] = await safe(caller.shop.write('down'))
    assert.match(down!.message, /; \d+ other hosts have faults, too$/)
    assert.ok(down!.message.length < 1_000, down!.message)
  })
})
