import { dialTimeout } from '../links/limits/limits.ts'
import type { PacketTransport } from '../links/packet-transport.ts'
import { PendingTransport } from './pending.ts'
import type { HandshakeResult } from './socket.ts'

interface Numbered<Transport> {
  readonly link: number
  readonly transport: Transport
}

/**
 * Brings together the workers that dial this one and the links that the supervisor announces, which
 * come in either order. The supervisor numbers the links upwards. Each dial names its link: a
 * worker that was blocked for a while dials for all links that were announced meanwhile, in one go.
 */
export class AcceptedDials {
  readonly #expected = new Map<number, Numbered<PendingTransport>>()
  /** Of workers that have dialled before the link was announced. */
  readonly #early = new Map<number, Numbered<PacketTransport>>()

  /** The link of that number is announced. */
  expect(worker: number, link: number): PacketTransport {
    const early = this.#early.get(worker)
    if (early?.link === link) {
      this.#early.delete(worker)
      return early.transport
    }
    if (early !== undefined && early.link < link) this.#drop(worker, early)
    const transport = new PendingTransport()
    this.#expected.set(worker, { link, transport })
    setTimeout(() => transport.fail('has not dialled in time'), dialTimeout).unref()
    return transport
  }

  dialled({ transport, peer: { worker, link } }: HandshakeResult): void {
    const expected = this.#expected.get(worker)
    if (expected !== undefined && link <= expected.link) {
      // A dial for a link that another one has replaced.
      if (link < expected.link) return transport.close()
      this.#expected.delete(worker)
      if (!expected.transport.connect(transport)) transport.close()
      return
    }
    const early = this.#early.get(worker)
    if (early !== undefined && early.link >= link) return transport.close()
    if (early !== undefined) this.#drop(worker, early)
    const dial = { link, transport }
    this.#early.set(worker, dial)
    setTimeout(() => this.#drop(worker, dial), dialTimeout).unref()
  }

  /** Nothing is expected of the worker any more. */
  forget(worker: number): void {
    this.#expected.delete(worker)
  }

  close(): void {
    for (const { transport } of this.#early.values()) transport.close()
  }

  #drop(worker: number, dial: Numbered<PacketTransport>): void {
    if (this.#early.get(worker) !== dial) return
    this.#early.delete(worker)
    dial.transport.close()
  }
}
