import { maxInTransit } from '../links/limits/limits.ts'
import type { Packet, PacketTransport, PacketTransportListener } from '../links/packet-transport.ts'

type State =
  | { readonly is: 'pending'; readonly queued: Packet[] }
  | { readonly is: 'connected'; readonly transport: PacketTransport }
  | { readonly is: 'closed' }

/**
 * A transport that is not connected yet: this worker is dialling, or the peer will. It queues
 * packets, so that a link can use it and services can call each other at once.
 */
export class PendingTransport implements PacketTransport {
  #state: State = { is: 'pending', queued: [] }
  #size = 0
  #listener: PacketTransportListener | undefined

  open(listener: PacketTransportListener): void {
    this.#listener = listener
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'connected') return this.#state.transport.send(packet)
    if (this.#state.is === 'closed') return true
    this.#state.queued.push(packet)
    this.#size += packet.text.length
    return this.#size < maxInTransit
  }

  close(): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    if (before.is === 'connected') before.transport.close()
  }

  /** Returns false if it is closed or connected already. */
  connect(transport: PacketTransport): boolean {
    const before = this.#state
    if (before.is !== 'pending') return false
    // What has arrived is delivered now. What the link sends for it is queued behind the rest.
    transport.open(this.#listener!)
    let needsDrain = this.#size >= maxInTransit
    for (const packet of before.queued) needsDrain = !transport.send(packet)
    if (this.#state !== before) {
      transport.close()
      return true
    }
    this.#state = { is: 'connected', transport }
    if (!needsDrain && this.#size >= maxInTransit) this.#listener!.onDrain()
    return true
  }

  fail(reason: string): void {
    if (this.#state.is !== 'pending') return
    this.#state = { is: 'closed' }
    this.#listener?.onClose(reason)
  }
}
