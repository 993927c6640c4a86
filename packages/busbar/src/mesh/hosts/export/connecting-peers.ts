import { isIPv6, type Socket } from 'node:net'

/** The most connections of one worker that are not links yet. */
const maxConnecting = 256

/**
 * Connections that are not links yet, by the address and port of their peers. Anybody can connect
 * and send nothing, which must not keep others out. So when all places are taken, a new connection
 * gets the place of one whose peer has not proved who it is: the oldest of the network that has the
 * most. By age alone, a peer that connects 2,000 times a second left a handshake 0.1 s.
 */
export class ConnectingPeers {
  /** By network. The oldest first. Without TLS no peer proves anything, and all stay here. */
  readonly #unproven = new Map<string, Map<string, Socket>>()
  #unprovenSize = 0
  /** They have not sent their hello yet, and lose no place to others. */
  readonly #proven = new Map<string, Socket>()

  readonly #replaced: (peer: string, why: string) => void

  /** `replaced` is told of peers that have lost their places. */
  constructor(replaced: (peer: string, why: string) => void) {
    this.#replaced = replaced
  }

  /** False if every place has a peer that has proved who it is. The socket has not closed. */
  add(peer: string, socket: Socket): boolean {
    // Of a connection that has ended, and whose `close` is to come.
    this.remove(peer)
    if (this.#unprovenSize + this.#proven.size >= maxConnecting && !this.#replaceOne()) return false
    const network = networkOf(peer)
    const sockets = this.#unproven.get(network)
    if (sockets === undefined) this.#unproven.set(network, new Map([[peer, socket]]))
    else sockets.set(peer, socket)
    this.#unprovenSize++
    socket.once('close', () => {
      if ((this.#unproven.get(network)?.get(peer) ?? this.#proven.get(peer)) === socket) this.remove(peer)
    })
    return true
  }

  /** The peer has shown a certificate that is accepted. */
  prove(peer: string): void {
    const socket = this.#takeUnproven(peer)
    if (socket !== undefined) this.#proven.set(peer, socket)
  }

  /** The connection is a link now, or has ended. */
  remove(peer: string): void {
    this.#takeUnproven(peer)
    this.#proven.delete(peer)
  }

  close(): void {
    for (const sockets of [...this.#unproven.values(), this.#proven])
      for (const socket of sockets.values()) socket.destroy()
  }

  #replaceOne(): boolean {
    let most: ReadonlyMap<string, Socket> | undefined
    // The first of equals: its oldest connection is the oldest of all.
    for (const sockets of this.#unproven.values()) if (sockets.size > (most?.size ?? 0)) most = sockets
    if (most === undefined) return false
    const [peer, socket] = most.entries().next().value!
    this.#replaced(peer, `${maxConnecting} newer ones wait to prove who they are, too`)
    this.#takeUnproven(peer)
    socket.destroy()
    return true
  }

  #takeUnproven(peer: string): Socket | undefined {
    const network = networkOf(peer)
    const sockets = this.#unproven.get(network)
    const socket = sockets?.get(peer)
    if (socket === undefined) return undefined
    sockets!.delete(peer)
    this.#unprovenSize--
    if (sockets!.size === 0) this.#unproven.delete(network)
    return socket
  }
}

/** Its address, or the /64 of an IPv6 address, in which one machine has as many as it likes. */
function networkOf(peer: string): string {
  const address = peer.slice(0, peer.lastIndexOf(':'))
  // An IPv4 address may be written as one of IPv6.
  if (!isIPv6(address) || address.includes('.')) return address
  const [start = ''] = address.split('::')
  const groups = start.split(':')
  return [0, 1, 2, 3].map((at) => groups[at] || '0').join(':')
}
