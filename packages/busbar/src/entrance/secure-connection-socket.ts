import { X509Certificate } from 'node:crypto'
import { ConnectionSocket } from './connection-socket.ts'

/**
 * The program's end of a connection over TLS, or of a stream of HTTP/2: what programs read of a
 * `TLSSocket`.
 */
export class SecureConnectionSocket extends ConnectionSocket {
  readonly encrypted = true
  alpnProtocol: 'http/1.1' | 'h2' = 'http/1.1'
  #shown: Buffer | undefined
  #certificate: X509Certificate | undefined

  /** DER. The handshake has checked it. */
  showsCertificate(der: Buffer): void {
    this.#shown = der
  }

  get authorized(): boolean {
    return this.#shown !== undefined
  }

  getPeerX509Certificate(): X509Certificate | undefined {
    if (this.#shown !== undefined) this.#certificate ??= new X509Certificate(this.#shown)
    return this.#certificate
  }

  /** It is one stream of a client that speaks HTTP/2. */
  isStream(): void {
    this.alpnProtocol = 'h2'
  }

  getPeerCertificate(): object {
    return this.getPeerX509Certificate()?.toLegacyObject() ?? {}
  }
}
