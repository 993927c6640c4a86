import type { Socket } from 'node:net'

/** The most connections of one worker that are not links yet. */
const maxConnecting = 256

/**
 * Connections that are not links yet, by the address and port of their peers. Anybody can connect
 * and send nothing, which must not keep others out: when all places are taken, a new connection
 * gets the place of the oldest one whose peer has not proved who it is.
 */
export class ConnectingPeers {
  /** The oldest first. Without TLS no peer proves anything, and all stay here. */
  readonly #unproven = new Map<string, Socket>()
  /** They have not sent their hello yet, and lose no place to others. */
  readonly #proven = new Map<string, Socket>()

  readonly #replaced: (peer: string, why: string) => void

  /** `replaced` is told of peers that have lost their places. */
  constructor(replaced: (peer: string, why: string) => void) {
    this.#replaced = replaced
  }

  /** False if every place has a peer that has proved who it is. */
  add(peer: string, socket: Socket): boolean {
    if (this.#unproven.size + this.#proven.size >= maxConnecting) {
      const [oldest] = this.#unproven
      if (oldest === undefined) return false
      this.#replaced(oldest[0], `${maxConnecting} newer ones wait to prove who they are, too`)
      this.#unproven.delete(oldest[0])
      oldest[1].destroy()
    }
    this.#unproven.set(peer, socket)
    socket.once('close', () => this.remove(peer))
    return true
  }

  /** The peer has shown a certificate that is accepted. */
  prove(peer: string): void {
    const socket = this.#unproven.get(peer)
    if (socket === undefined) return
    this.#unproven.delete(peer)
    this.#proven.set(peer, socket)
  }

  /** The connection is a link now, or has ended. */
  remove(peer: string): void {
    this.#unproven.delete(peer)
    this.#proven.delete(peer)
  }

  close(): void {
    for (const sockets of [this.#unproven, this.#proven]) for (const socket of sockets.values()) socket.destroy()
  }
}
