/**
 * The largest piece that is pushed at once, in bytes; as the largest read of Node's own sockets.
 */
export const pieceSize = 64 * 1024

/**
 * Bytes that may wait in one direction before a write is held. A program may respond without
 * reading the request, and a caller may send all of it before it reads the response. Over TCP both
 * can go on until the kernel's buffers are full (some MiB on Linux's loopback interface), so they
 * must be able to here.
 */
const capacity = 1024 * 1024

/**
 * Bytes that have arrived at one end of a connection and wait for its socket.
 *
 * They are copied, since a receiver may change what it gets (`ws` unmasks in place) and a sender
 * may reuse its buffer. A piece above {@link pieceSize} is copied only when it is taken: until
 * then, its write is not complete.
 */
export class Inbox {
  readonly #pieces: Buffer[] = []
  #size = 0
  /** The last piece still belongs to the writer at the other end. */
  #isBorrowed = false

  get size(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  get hasRoom(): boolean {
    return !this.#isBorrowed && this.#size < capacity
  }

  /** `owned`: nothing else can change these bytes. */
  add(chunk: Buffer, owned: boolean): void {
    const fits = owned || chunk.length <= pieceSize
    this.#pieces.push(owned || !fits ? chunk : Buffer.from(chunk))
    this.#isBorrowed = !fits
    this.#size += chunk.length
  }

  /** Like one read from a kernel: all that waits, up to {@link pieceSize}. */
  take(): Buffer | undefined {
    const first = this.#pieces[0]
    if (first === undefined) return undefined
    const piece = first.length > pieceSize ? this.#takePart(first) : this.#takeWhole()
    this.#size -= piece.length
    return piece
  }

  clear(): void {
    this.#pieces.length = 0
    this.#size = 0
  }

  #takePart(first: Buffer): Buffer {
    const piece = first.subarray(0, pieceSize)
    this.#pieces[0] = first.subarray(pieceSize)
    return this.#isBorrowed && this.#pieces.length === 1 ? Buffer.from(piece) : piece
  }

  #takeWhole(): Buffer {
    let size = 0
    const count = this.#pieces.findIndex((piece) => (size += piece.length) > pieceSize)
    const pieces = this.#pieces.splice(0, count === -1 ? this.#pieces.length : count)
    const isBorrowed = this.#isBorrowed && this.#pieces.length === 0
    if (isBorrowed) this.#isBorrowed = false
    return pieces.length === 1 && !isBorrowed ? pieces[0]! : Buffer.concat(pieces)
  }
}
