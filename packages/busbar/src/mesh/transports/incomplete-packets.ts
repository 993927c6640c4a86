import { maxPacket } from '../links/limits/limits.ts'
import { ProtocolError } from '../links/packet-transport.ts'

/**
 * Bytes of packets that have arrived in part, of all links together. A peer could open many links,
 * and leave a large packet incomplete on each.
 */
export class IncompletePackets {
  readonly #limit: number
  readonly #byLink = new Map<object, number>()
  #size = 0

  /** `limit`: bytes. */
  constructor(limit: number = 2 * maxPacket) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  /**
   * A link has so many bytes of an incomplete packet now. Throws {@link ProtocolError} if that is
   * too much with those of the other links; the link must then end, and call {@link remove}.
   */
  set(link: object, bytes: number): void {
    this.#size += bytes - (this.#byLink.get(link) ?? 0)
    if (bytes === 0) this.#byLink.delete(link)
    else this.#byLink.set(link, bytes)
    if (bytes > 0 && this.#size > this.#limit)
      throw new ProtocolError('has sent a part of a packet, while those of all links need too much memory')
  }

  remove(link: object): void {
    this.set(link, 0)
  }
}
