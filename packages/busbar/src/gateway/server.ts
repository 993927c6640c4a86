import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import type { Limits } from '../config/app.ts'
import type { TlsMaterial } from '../shared/control.ts'

/** An option of Node's servers since 24.9, and not in its types yet. */
interface Upgrades {
  /** False makes the request a plain one. */
  readonly shouldUpgradeCallback: (req: IncomingMessage) => boolean
}

/** The server that stands at the entrance; it has no listeners yet. */
export function createServer(limits: Limits, tls: TlsMaterial | undefined, upgrades: Upgrades): Server | HttpsServer {
  const options = { ...httpOptions(limits), ...upgrades }
  const server = tls === undefined ? createHttpServer(options) : createTlsServer(options, limits, tls)
  // Node drops headers beyond 2,000 without a word; the size bounds them already.
  server.maxHeadersCount = 0
  return server
}

export function secureContext({ cert, key, ticketKeys }: TlsMaterial): SecureContextOptions & { ticketKeys: Buffer } {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    // Both the same in all workers, so that any of them resumes what another began.
    ticketKeys: Buffer.from(ticketKeys),
    sessionIdContext: 'busbar',
  }
}

function createTlsServer(options: ServerOptions, limits: Limits, tls: TlsMaterial): HttpsServer {
  return createHttpsServer({
    ...options,
    ...secureContext(tls),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.headerTimeout,
  })
}

function httpOptions({ headerTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize }: Limits): ServerOptions {
  return {
    // Node refuses a header timeout above the request's.
    headersTimeout: requestTimeout === 0 ? headerTimeout : Math.min(headerTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout,
    maxHeaderSize,
    // Node looks every 30 s by default, which would make 10 s mean 40.
    connectionsCheckingInterval: Math.min(1000, Math.max(50, headerTimeout / 4)),
    insecureHTTPParser: false,
    // We say 400 with a reason ourselves.
    requireHostHeader: false,
    noDelay: true,
  }
}
