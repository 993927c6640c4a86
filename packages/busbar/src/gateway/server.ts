import { EventEmitter } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Limits } from '../config/app.ts'
import type { TlsMaterial } from '../shared/control-messages.ts'
import { admitsClient } from './tls/client-certificate.ts'
import { SecureContexts } from './tls/secure-contexts.ts'

/** An option of Node's servers since 24.9; its types do not have it yet. */
interface Upgrades {
  /** False makes the request an ordinary one. */
  readonly shouldUpgradeCallback: (req: IncomingMessage) => boolean
}

export interface GatewayServer {
  readonly server: Server | HttpsServer
  /** Applies to later connections. Throws for a certificate that cannot be used. */
  readonly setTls: (tls: TlsMaterial) => void
}

/** Node's own, before a service of this thread can change it. */
const emit = Reflect.get(EventEmitter.prototype, 'emit')

/** Creates the gateway's HTTP or HTTPS server, without listeners. */
export function createServer(
  limits: Limits,
  tls: TlsMaterial | undefined,
  upgrades: Upgrades,
  offersHttp2 = false,
): GatewayServer {
  const options = { ...httpOptions(limits), ...upgrades }
  const created = tls === undefined ? plainServer(options) : tlsServer(options, limits, tls, offersHttp2)
  // Node silently drops headers beyond 2,000. `maxHeaderSize` limits them already.
  created.server.maxHeadersCount = 0
  // Instrumentation of services in this thread replaces that of all servers' prototype. A request
  // is theirs when their own server gets it.
  created.server.emit = emit
  return created
}

function plainServer(options: ServerOptions): GatewayServer {
  return { server: createHttpServer(options), setTls: () => {} }
}

function tlsServer(options: ServerOptions, limits: Limits, tls: TlsMaterial, offersHttp2: boolean): GatewayServer {
  const contexts = new SecureContexts(tls)
  const server = createHttpsServer({
    ...options,
    ...contexts.options,
    SNICallback: (name, done) => done(null, contexts.of(name)),
    ...(offersHttp2 ? { ALPNCallback: selectProtocol } : { ALPNProtocols: ['http/1.1'] }),
    handshakeTimeout: limits.headerTimeout,
  })
  const asksForCertificates = tls.clientCa !== undefined
  readOnly(server, (socket) => (!asksForCertificates || admitsClient(socket)) && !isHttp2(socket))
  return {
    server,
    setTls(next) {
      contexts.set(next)
      server.setSecureContext(contexts.options)
    },
  }
}

/**
 * HTTP/2 is for clients that offer nothing else, as those of gRPC do. Browsers and others get
 * HTTP/1.1, which serves everything.
 */
function selectProtocol({ protocols }: { protocols: string[] }): string | undefined {
  return protocols.includes('http/1.1') ? 'http/1.1' : protocols.find((protocol) => protocol === 'h2')
}

/**
 * Only of this gateway's own TLS: a stream of the native entrance says the same, and is HTTP/1.1.
 */
export function isHttp2(socket: Socket): boolean {
  return (socket as Partial<TLSSocket>).alpnProtocol === 'h2'
}

/**
 * Puts a condition before the listener with which Node's server reads a connection. A socket that
 * a later listener destroys would still be read: its request may come with the end of the
 * handshake.
 */
function readOnly(server: HttpsServer, isRead: (socket: TLSSocket) => boolean): void {
  const listeners = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (isRead(socket)) for (const listener of listeners) Reflect.apply(listener, server, [socket])
  })
}

function httpOptions({ headerTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize }: Limits): ServerOptions {
  return {
    // Node rejects a header timeout above the request timeout.
    headersTimeout: requestTimeout === 0 ? headerTimeout : Math.min(headerTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout,
    maxHeaderSize,
    // Node checks every 30 s by default: a timeout of 10 s could take 40 s.
    connectionsCheckingInterval: Math.min(1000, Math.max(50, headerTimeout / 4)),
    insecureHTTPParser: false,
    // The gateway responds with 400 and a reason.
    requireHostHeader: false,
    noDelay: true,
  }
}
