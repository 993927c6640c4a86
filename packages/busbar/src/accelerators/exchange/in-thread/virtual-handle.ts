import type { AddressInfo } from 'node:net'
import type { SocketHandle } from '../../../node/handle-socket.ts'

export interface HandleOwner {
  /** The socket reads again. */
  reading(): void
  /** The program has half-closed the connection (`socket.end()`). */
  ended(): void
  /** The socket was destroyed. */
  closed(): void
}

/** Replaces libuv's TCP handle. */
export class VirtualHandle implements SocketHandle {
  reading = false
  /** Counts bodies only: there is no text. */
  bytesRead = 0
  bytesWritten = 0
  readonly fd = -1
  readonly #local: AddressInfo
  readonly #remote: AddressInfo
  #owner: HandleOwner | undefined

  constructor(local: AddressInfo, remote: AddressInfo) {
    this.#local = local
    this.#remote = remote
  }

  attach(owner: HandleOwner): void {
    this.#owner = owner
  }

  readStart(): number {
    this.#owner?.reading()
    return 0
  }

  readStop(): number {
    return 0
  }

  /** Returns 1: done synchronously. */
  shutdown(): number {
    this.#owner?.ended()
    return 1
  }

  /** Calls `done` after the current turn, as libuv does. */
  close(done: () => void): void {
    this.#owner?.closed()
    setImmediate(done)
  }

  getsockname(out: Partial<AddressInfo>): number {
    Object.assign(out, this.#local)
    return 0
  }

  getpeername(out: Partial<AddressInfo>): number {
    Object.assign(out, this.#remote)
    return 0
  }

  setNoDelay(): number {
    return 0
  }

  setKeepAlive(): number {
    return 0
  }

  ref(): void {}

  unref(): void {}
}
