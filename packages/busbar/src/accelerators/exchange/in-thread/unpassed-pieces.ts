import type { Piece } from '../../../node/handle-socket.ts'

/** Bytes that are passed at a time. The caller gets a copy: the program may reuse its memory. */
const largest = 64 * 1024

/** Text never is. It cannot change, so it is not copied. */
export function isLarge(chunk: string | Uint8Array): chunk is Uint8Array {
  return typeof chunk !== 'string' && chunk.length > largest
}

/**
 * What a program has written and its caller has not got yet. As with a system socket, it stays the
 * program's own memory until the write is over. A copy of a body for each client that does not read
 * took 8 MB for each of 400.
 */
export class UnpassedPieces {
  readonly #pieces: Piece[] = []

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  add(piece: Piece): void {
    this.#pieces.push(piece)
  }

  clear(): void {
    this.#pieces.length = 0
  }

  /**
   * Until `pass` returns false, since the caller has no room for more. True: all was passed, and
   * there is room. `mayCut`: large pieces are passed in parts.
   */
  pass(mayCut: boolean, pass: (chunk: string | Uint8Array, encoding: BufferEncoding) => boolean): boolean {
    const pieces = this.#pieces
    let hasRoom = true
    while (hasRoom && pieces.length > 0) {
      const { chunk, encoding } = pieces[0]!
      if (mayCut && isLarge(chunk)) {
        pieces[0] = { chunk: chunk.subarray(largest), encoding }
        hasRoom = pass(chunk.subarray(0, largest), encoding)
      } else {
        pieces.shift()
        hasRoom = pass(chunk, encoding)
      }
    }
    return hasRoom && pieces.length === 0
  }
}
