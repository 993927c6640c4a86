import { clusterWindow } from '../links/limits.ts'

/** Bytes read after which they are acknowledged. */
export const ackAfter = clusterWindow / 8
/** Milliseconds that what is in transit may take, at the speed at which the peer has read last. */
const longestTransit = 2_000

/**
 * How much a link may have in transit. All links of a connection share it with the client's pings,
 * here and at the peer. Over a slow network, 2 MiB delayed them until the connection counted as
 * lost. So a link has only as much in transit as its peer has lately read in two seconds.
 */
export class SendWindow {
  #size = ackAfter
  #inTransit = 0
  /** Since when the peer owes an acknowledgement. */
  #owedSince: number | undefined

  get isOpen(): boolean {
    return this.#inTransit < this.#size
  }

  sent(bytes: number): void {
    this.#inTransit += bytes
    if (this.#inTransit >= ackAfter) this.#owedSince ??= performance.now()
  }

  /** False: the peer was not sent so much. */
  acknowledged(bytes: number): boolean {
    if (bytes > this.#inTransit) return false
    this.#inTransit -= bytes
    const now = performance.now()
    const fitting = (bytes * longestTransit) / Math.max(1, now - (this.#owedSince ?? now))
    // Some that come together after a pause do not mean that the network is fast.
    const grown = Math.min(clusterWindow, this.#size + bytes)
    this.#size = Math.max(ackAfter, Math.min(grown, fitting))
    this.#owedSince = this.#inTransit >= ackAfter ? now : undefined
    return true
  }
}
