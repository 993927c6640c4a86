import type { CallHandler, Link } from '../links/link.ts'
import { createLink } from '../links/live-link.ts'
import type { Packet, PacketTransport, PacketTransportListener } from '../links/packet-transport.ts'

/**
 * A link of a worker to itself. It calls an instance in this thread like a remote one, so that the
 * caller can wait for room. Closing it closes both ends.
 */
export function loopbackLink(worker: number, answer: CallHandler): Link {
  const [near, far] = loopbackTransports()
  createLink(far, { peer: worker, answer })
  return createLink(near, { peer: worker, answer: () => ({}) })
}

/** Two connected ends within this thread. Packets arrive in a later turn of the event loop. */
export function loopbackTransports(): [PacketTransport, PacketTransport] {
  const one = new LoopbackTransport()
  const other = new LoopbackTransport()
  one.other = other
  other.other = one
  return [one, other]
}

type State =
  | { readonly is: 'waiting'; readonly arrived: (() => void)[] }
  | { readonly is: 'open'; readonly listener: PacketTransportListener }
  | { readonly is: 'closed' }

class LoopbackTransport implements PacketTransport {
  other: LoopbackTransport | undefined
  #state: State = { is: 'waiting', arrived: [] }

  open(listener: PacketTransportListener): void {
    const before = this.#state
    this.#state = { is: 'open', listener }
    if (before.is === 'waiting') for (const deliver of before.arrived) deliver()
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'open') setImmediate(() => this.other?.arrive(() => this.other?.receive(packet)))
    return true
  }

  close(): void {
    if (this.#state.is === 'closed') return
    this.end()
    setImmediate(() => this.other?.arrive(() => this.other?.end()))
  }

  arrive(deliver: () => void): void {
    if (this.#state.is === 'waiting') this.#state.arrived.push(deliver)
    else deliver()
  }

  receive(packet: Packet): void {
    if (this.#state.is === 'open') this.#state.listener.onPacket(packet)
  }

  end(): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    if (before.is === 'open') before.listener.onClose(undefined)
  }
}
