import type { TLSSocket } from 'node:tls'
import type { GrpcPeer } from '../../shared/entrance/grpc-carrier.ts'

/** The gateway sets it, and removes what clients send by that name (RFC 9440). */
export const clientCertificateField = 'client-cert'

const known = new WeakMap<GrpcPeer, string>()

/** The certificate that the client has shown, as the value of `Client-Cert` (RFC 9440, 2.2). */
export function clientCertificateOf(socket: GrpcPeer): string | undefined {
  if (socket.authorized !== true) return undefined
  const before = known.get(socket)
  if (before !== undefined) return before
  const certificate = socket.getPeerX509Certificate?.()
  if (certificate === undefined) return undefined
  const value = `:${certificate.raw.toString('base64')}:`
  known.set(socket, value)
  return value
}

/**
 * False ends a connection whose client has shown a certificate that no authority of the config has
 * signed. In Node, a resumed session of TLS 1.3 counts as authorized, also without a certificate.
 */
export function admitsClient(socket: TLSSocket): boolean {
  const isShown = socket.getPeerX509Certificate() !== undefined
  if (!isShown) socket.authorized = false
  else if (!socket.authorized) socket.destroy()
  return !socket.destroyed
}
