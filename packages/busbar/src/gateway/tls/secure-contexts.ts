import { constants } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls'
import type { TlsMaterial } from '../../shared/control-messages.ts'

/** The suites of the native entrance: all have forward secrecy and authenticated encryption. */
const ciphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...['ECDSA', 'RSA'].flatMap((key) =>
    ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305'].map((suite) => `ECDHE-${key}-${suite}`),
  ),
].join(':')

/** The certificates of the gateway by the names for which clients ask. */
export class SecureContexts {
  #tls: TlsMaterial
  #byName: ReadonlyMap<string, SecureContext>

  constructor(tls: TlsMaterial) {
    this.#tls = tls
    this.#byName = contextsOf(tls)
  }

  /** For handshakes that begin later. Throws for a certificate that cannot be used. */
  set(tls: TlsMaterial): void {
    this.#byName = contextsOf(tls)
    this.#tls = tls
  }

  /** With the first certificate, which is for all clients without another one. */
  get options(): TlsOptions & { ticketKeys: Buffer } {
    const { clientCa } = this.#tls
    return {
      ...contextOptions(this.#tls, this.#tls.pairs[0]!),
      // A client may come without a certificate: routes know whether they need one.
      requestCert: clientCa !== undefined,
      rejectUnauthorized: false,
    }
  }

  /** A whole name precedes a wildcard. Undefined: the first certificate is for it. */
  of(name: string): SecureContext | undefined {
    if (this.#byName.size === 0) return undefined
    const key = name.toLowerCase()
    return this.#byName.get(key) ?? this.#byName.get(`*${key.slice(Math.max(0, key.indexOf('.')))}`)
  }
}

function contextsOf(tls: TlsMaterial): Map<string, SecureContext> {
  const all = new Map<string, SecureContext>()
  if (tls.pairs.length === 1) return all
  for (const pair of tls.pairs) {
    const context = createSecureContext(contextOptions(tls, pair))
    for (const name of pair.names) if (!all.has(name)) all.set(name, context)
  }
  return all
}

function contextOptions(
  { clientCa, minVersion, ticketKeys }: TlsMaterial,
  { cert, key }: TlsMaterial['pairs'][number],
): SecureContextOptions & { ticketKeys: Buffer } {
  return {
    cert,
    key,
    ...(clientCa !== undefined && { ca: clientCa }),
    minVersion,
    ciphers,
    // A client could otherwise cause costly handshakes within its connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // Both are the same in all workers, so that any worker can resume a session of another.
    ticketKeys: Buffer.from(ticketKeys),
    sessionIdContext: 'busbar',
  }
}
