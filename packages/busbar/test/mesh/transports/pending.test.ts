import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet, PacketTransport, PacketTransportListener } from '../../../src/mesh/links/packet-transport.ts'
import { PendingTransport } from '../../../src/mesh/transports/pending.ts'

const packet = (text: string): Packet => ({ text, bytes: [] })

/** Delivers a packet when it is opened. */
class Arrived implements PacketTransport {
  readonly sent: string[] = []
  isClosed = false

  open(listener: PacketTransportListener): void {
    listener.onPacket(packet('ping'))
  }

  send({ text }: Packet): boolean {
    this.sent.push(text)
    return true
  }

  close(): void {
    this.isClosed = true
  }
}

describe('a transport that connects, at which packets have arrived already', () => {
  const listenerOf = (onPacket: () => void): PacketTransportListener => ({
    onPacket,
    onPart: () => {},
    onDrain: () => {},
    onClose: () => {},
  })

  it('sends what was queued before what is sent for them', () => {
    const [pending, connected] = [new PendingTransport(), new Arrived()]
    pending.open(listenerOf(() => void pending.send(packet('pong'))))
    for (const text of ['one', 'two']) pending.send(packet(text))
    assert.equal(pending.connect(connected), true)
    pending.send(packet('three'))
    assert.deepEqual(connected.sent, ['one', 'two', 'pong', 'three'])
  })

  it('closes if they close it', () => {
    const [pending, connected] = [new PendingTransport(), new Arrived()]
    pending.open(listenerOf(() => pending.close()))
    assert.equal(pending.connect(connected), true)
    assert.equal(connected.isClosed, true)
  })
})
