import type { TLSSocket } from 'node:tls'
import type { Identity } from '../../../shared/hosts.ts'

/**
 * Open connections, by the certificates of their peers. TLS checks a certificate only when a
 * connection is made, and a link may live for months.
 */
export class ProvenPeers {
  /** The serial numbers of the peers' certificates. */
  readonly #sockets = new Map<TLSSocket, string>()
  #revoked: ReadonlySet<string> = new Set()

  /** `socket` has proved who its peer is. */
  add(socket: TLSSocket): void {
    const serial = socket.getPeerX509Certificate()?.serialNumber
    if (serial === undefined) return
    this.#sockets.set(socket, serial)
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.#revoked.has(serial)) end(socket)
  }

  /**
   * Ends the connections whose peers have revoked certificates. If another CA has used the number
   * of a revoked certificate, a link ends that is accepted again when it is dialled.
   */
  setIdentity({ revocations }: Identity): void {
    this.#revoked = new Set(revocations?.serials)
    for (const [socket, serial] of this.#sockets) if (this.#revoked.has(serial)) end(socket)
  }
}

function end(socket: TLSSocket): void {
  socket.destroy(Object.assign(new Error('its certificate was revoked'), { code: 'CERT_REVOKED' }))
}
