import { clusterWindow } from '../links/limits/limits.ts'

/** Bytes read after which they are acknowledged. */
export const ackAfter = clusterWindow / 32
/** Earlier versions do so after as many. */
const longestAck = clusterWindow / 8
/** Milliseconds that what is in transit may take, at the speed at which the peer has read last. */
const longestTransit = 2_000

/**
 * How much a link may have in transit. All links of a connection share it with the client's pings,
 * here and at the peer. Over a slow network, 2 MiB delayed them until the connection counted as
 * lost. So a link begins with less, and has only as much in transit as its peer reads in two
 * seconds.
 */
export class SendWindow {
  #size = longestAck
  #least = longestAck
  #inTransit = 0
  /** Since when the peer owes acknowledgements all the time, and what it has read since. */
  #owedSince: number | undefined
  #read = 0

  get isOpen(): boolean {
    return this.#inTransit < this.#size
  }

  sent(bytes: number): void {
    this.#inTransit += bytes
    if (this.#owedSince !== undefined || this.#inTransit < this.#least) return
    this.#owedSince = performance.now()
    this.#read = 0
    // The network may have become slow meanwhile.
    this.#size = Math.min(this.#size, longestAck)
  }

  /** False: the peer was not sent so much. */
  acknowledged(bytes: number): boolean {
    if (bytes > this.#inTransit) return false
    this.#inTransit -= bytes
    this.#read += bytes
    this.#least = Math.min(this.#least, Math.max(ackAfter, bytes))
    this.#adapt(bytes)
    if (this.#inTransit < this.#least) this.#owedSince = undefined
    return true
  }

  #adapt(bytes: number): void {
    if (this.#owedSince === undefined) return
    const now = performance.now()
    const elapsed = Math.max(1, now - this.#owedSince)
    const fitting = (this.#read * longestTransit) / elapsed
    // Some that come together after a pause do not mean that the network is fast.
    const grown = Math.min(clusterWindow, this.#size + bytes)
    this.#size = Math.max(this.#least, Math.min(grown, fitting))
    if (elapsed < longestTransit) return
    // What was read long ago counts less.
    this.#owedSince = now - elapsed / 2
    this.#read /= 2
  }
}
