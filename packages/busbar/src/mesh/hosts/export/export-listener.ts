/** Accepts the links of other apps, on connections that the supervisor transfers. */
import { constants, type X509Certificate } from 'node:crypto'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls'
import { BusbarError } from '../../../contract/errors.ts'
import { type ExportConfig, type Identity, appUri } from '../../../shared/hosts.ts'
import { type ConnectionSink, toConnectionSink } from '../../sockets/instance/connection-sink.ts'
import { IncompletePackets } from '../../transports/incomplete-packets.ts'
import { greet } from '../../transports/socket.ts'
import { ConnectingPeers } from './connecting-peers.ts'
import type { ExportedLinks } from './exported-links.ts'
import { type ExportedService, exporterGreeting } from '../host-hello.ts'
import { ProvenPeers } from './proven-peers.ts'

/** Milliseconds for the TLS handshake. */
const handshakeTimeout = 5_000

export interface ExportListenerParts {
  readonly links: ExportedLinks
  readonly config: ExportConfig
  /** The name of this app. */
  readonly app: string
  /** Of the app. '' if it has none. */
  readonly version: string
  readonly services: readonly ExportedService[]
  /** Undefined only for `tcp`. */
  readonly identity: Identity | undefined
  /** Default: with the usual limit. */
  readonly incomplete?: IncompletePackets
  readonly log: (level: 'info' | 'warn', line: string) => void
}

export class ExportListener implements ConnectionSink {
  readonly #parts: ExportListenerParts
  readonly #server: Server
  readonly #sink: ConnectionSink
  readonly #incomplete: IncompletePackets
  readonly #peers = new ProvenPeers()
  readonly #connecting = new ConnectingPeers((peer, why) => this.#refused(peer, why))
  #lastLogged = -Infinity

  constructor(parts: ExportListenerParts) {
    this.#parts = parts
    this.#incomplete = parts.incomplete ?? new IncompletePackets()
    this.#server = parts.config.protocol === 'tls' ? this.#tlsServer() : this.#tcpServer()
    this.#sink = toConnectionSink(this.#server)
  }

  accept(socket: Socket): void {
    // A connection that its peer has reset has no address any more.
    const isGone = socket.remoteAddress === undefined
    if (isGone || this.#parts.links.isFull || !this.#connecting.add(addressOf(socket), socket))
      return void socket.destroy()
    socket.setNoDelay(true)
    this.#sink.accept(socket)
  }

  /** For new connections. Links stay open, unless the certificate of their peer is revoked. */
  setIdentity(identity: Identity): void {
    if (this.#parts.config.protocol !== 'tls') return
    const server = this.#server as TlsServer
    server.setSecureContext(contextOf(identity))
    this.#peers.setIdentity(identity)
  }

  /** Closes the connections that are not links yet. */
  close(): void {
    this.#connecting.close()
  }

  #tcpServer(): Server {
    return createTcpServer((socket) => void this.#greet(socket, undefined))
  }

  /** A peer without a certificate of the CA is refused before anything that it sends is read. */
  #tlsServer(): Server {
    const { identity } = this.#parts
    const options = { requestCert: true, rejectUnauthorized: false, handshakeTimeout }
    const server = createTlsServer({ ...contextOf(identity!), ...options })
    server.on('secureConnection', (socket) => {
      const certificate = socket.getPeerX509Certificate()
      if (socket.authorized && certificate !== undefined) {
        this.#connecting.prove(addressOf(socket))
        this.#peers.add(socket)
        return void this.#greet(socket, certificate)
      }
      // Without one, Node's reason is that of an unknown CA.
      const why = certificate && `its certificate is not accepted: ${String(socket.authorizationError)}`
      this.#refused(addressOf(socket), why ?? 'it has sent no certificate')
      socket.destroy()
    })
    server.on('tlsClientError', (error, socket) => {
      this.#refused(addressOf(socket), (error as NodeJS.ErrnoException).code ?? error.message)
      socket.destroy()
    })
    return server
  }

  async #greet(socket: Socket, certificate: X509Certificate | undefined): Promise<void> {
    const { links, app, version, services, config } = this.#parts
    const names = certificate === undefined ? [] : peerNames(certificate)
    const allows = (service: string): boolean => isAllowed(config, service, names)
    try {
      const greeting = exporterGreeting({ app, version, services: services.filter(({ name }) => allows(name)) })
      const { transport, peer } = await greet(socket, false, greeting, this.#incomplete)
      const caller = names[0] ?? peer
      if (links.isFullFor(caller)) {
        transport.close()
        return this.#refused(addressOf(socket), `app ${caller} has too many links already`)
      }
      links.open(transport, { app: caller, label: `app ${caller} at ${addressOf(socket)}`, allows, certificate })
    } catch (error) {
      this.#refused(addressOf(socket), BusbarError.from(error).message)
    } finally {
      this.#connecting.remove(addressOf(socket))
    }
  }

  /** At most once a second: anybody can connect. */
  #refused(peer: string, why: string): void {
    const now = performance.now()
    if (now - this.#lastLogged < 1_000) return
    this.#lastLogged = now
    this.#parts.log('warn', `the export refused a connection from ${peer}: ${why}`)
  }
}

/** No session tickets: a resumed session would not show a certificate that has expired since. */
function contextOf({ cert, key, ca, revocations }: Identity): SecureContextOptions {
  const crl = revocations && { crl: [...revocations.lists] }
  return { cert, key, ca, ...crl, minVersion: 'TLSv1.3', secureOptions: constants.SSL_OP_NO_TICKET }
}

function isAllowed({ services, allow }: ExportConfig, service: string, names: readonly string[]): boolean {
  if (!services.includes(service)) return false
  const callers = allow?.[service]
  return allow === undefined || callers?.some((caller) => caller === '*' || names.includes(caller)) === true
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? 'an unknown address'}:${remotePort ?? 0}`
}

/**
 * The names of the app that a certificate belongs to: those of its URIs. A CA that exists already
 * may issue none, so its DNS names count then. If there is a URI, they do not: a host may have the
 * name of another app.
 */
export function peerNames({ subjectAltName = '' }: Pick<X509Certificate, 'subjectAltName'>): readonly string[] {
  // Node quotes an entry that contains a comma or a quote (CVE-2021-44532). No name of ours does.
  const entries = subjectAltName.split(', ').filter((entry) => !entry.includes('"'))
  const named = (kind: string): string[] =>
    entries.flatMap((entry) => (entry.startsWith(kind) ? [entry.slice(kind.length)] : []))
  const apps = named(`URI:${appUri}`)
  return apps.length > 0 ? apps : named('DNS:')
}
