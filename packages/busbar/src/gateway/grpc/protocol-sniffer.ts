import type { Socket } from 'node:net'
import { startsHttp2 } from '../../mesh/sockets/first-bytes.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'

/** Where a connection goes, once its protocol is known. */
export interface Protocols {
  readonly http1: (socket: Socket) => void
  readonly http2: (socket: Socket) => void
}

/**
 * Tells HTTP/2 from HTTP/1.1 on connections in clear, by their first bytes: a gRPC client knows in
 * advance that the server speaks HTTP/2 (RFC 9113, 3.3).
 */
export class ProtocolSniffer {
  readonly #timeout: number
  readonly #waiting = new Set<Socket>()

  /** `timeout`: milliseconds for the first bytes. */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  accept(socket: Socket, protocols: Protocols): void {
    void this.#decide(socket, protocols)
  }

  /** Closes the connections that have sent nothing yet. */
  destroy(): void {
    for (const socket of this.#waiting) socket.destroy()
  }

  async #decide(socket: Socket, { http1, http2 }: Protocols): Promise<void> {
    const ignore = (): void => {}
    const clearLimit = startRunningTimeout(this.#timeout, () => socket.destroy())
    socket.on('error', ignore)
    this.#waiting.add(socket)
    const isHttp2 = await startsHttp2(socket, true)
    clearLimit()
    socket.off('error', ignore)
    this.#waiting.delete(socket)
    if (socket.destroyed) return
    if (isHttp2) http2(socket)
    else http1(socket)
  }
}
