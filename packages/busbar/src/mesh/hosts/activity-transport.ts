import type { Packet, PacketTransport, PacketTransportListener } from '../links/packet-transport.ts'

/** A transport that knows when the peer was heard last. */
export class ActivityTransport implements PacketTransport {
  readonly #transport: PacketTransport
  /** By `Date.now()`. */
  lastReceivedAt = Date.now()

  constructor(transport: PacketTransport) {
    this.#transport = transport
  }

  open(listener: PacketTransportListener): void {
    this.#transport.open({
      onPacket: (packet) => {
        this.lastReceivedAt = Date.now()
        listener.onPacket(packet)
      },
      onPart: () => {
        this.lastReceivedAt = Date.now()
        listener.onPart()
      },
      onDrain: () => listener.onDrain(),
      onClose: (reason) => listener.onClose(reason),
    })
  }

  send(packet: Packet): boolean {
    return this.#transport.send(packet)
  }

  close(): void {
    this.#transport.close()
  }
}
