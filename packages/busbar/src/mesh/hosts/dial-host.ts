import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { BusbarError } from '../../contract/errors.ts'
import type { HostAddress, Identity } from '../../shared/hosts.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import { tlsFault } from '../../shared/tls-fault.ts'
import type { IncompletePackets } from '../transports/incomplete-packets.ts'
import { greet, type HandshakeResult } from '../transports/socket.ts'
import { callerGreeting, type HostHello } from './host-hello.ts'
import type { ProvenPeers } from './export/proven-peers.ts'

/** Milliseconds until the connection is open, the TLS handshake included. */
const connectTimeout = 5_000

export interface DialOptions {
  readonly address: HostAddress
  /** One of the addresses that the host's name has. */
  readonly ip: string
  /** The name of this app. */
  readonly app: string
  /** Undefined only for `tcp`. */
  readonly identity: Identity | undefined
  /** Both are of all links that this worker has dialled. */
  readonly peers: ProvenPeers
  readonly incomplete: IncompletePackets
  readonly signal: AbortSignal
}

/** Rejects with LINK_LOST if nothing there accepts links of this app. */
export async function dialHost(options: DialOptions): Promise<HandshakeResult<HostHello>> {
  const { app, incomplete, signal } = options
  const socket = options.address.protocol === 'tls' ? openTls(options) : openTcp(options)
  const abort = (): void => void socket.destroy()
  signal.addEventListener('abort', abort)
  try {
    await opened(socket, options.address.protocol === 'tls' ? 'secureConnect' : 'connect', signal)
    const wasRefused = watchRefusal(socket)
    return await greet(socket, true, callerGreeting(app), incomplete).catch((error: Error) => {
      throw options.address.protocol === 'tls' && wasRefused() ? refusal(options.identity!, error) : error
    })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function openTcp({ ip, address: { port } }: DialOptions): Socket {
  return connectTcp({ host: ip, port, noDelay: true })
}

/** The certificate must have the name that the config gives. */
function openTls({ ip, address: { host, port }, identity, peers }: DialOptions): TLSSocket {
  const { cert, key, ca, revocations } = identity!
  const socket = connectTls({
    host: ip,
    port,
    cert,
    key,
    ca,
    ...(revocations && { crl: [...revocations.lists] }),
    minVersion: 'TLSv1.3',
    // Node's default is NODE_TLS_REJECT_UNAUTHORIZED, which is for requests of programs.
    rejectUnauthorized: true,
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  })
  socket.once('secureConnect', () => peers.add(socket))
  return socket.setNoDelay(true)
}

/**
 * The other end checks this app's certificate when the handshake is over for this app. Returns
 * whether it has ended the connection without a word.
 */
function watchRefusal(socket: Socket): () => boolean {
  let hasSaid = false
  let hasEnded = false
  socket.once('data', () => (hasSaid = true))
  for (const event of ['end', 'error']) socket.once(event, () => (hasEnded = true))
  return () => hasEnded && !hasSaid
}

function refusal({ cert }: Identity, cause: Error): BusbarError {
  const { validToDate } = new X509Certificate(cert)
  const message =
    validToDate.getTime() < Date.now()
      ? `this app's certificate (identity.cert) has expired at ${validToDate.toISOString()}, and the other end refuses it`
      : "the other end has closed the connection after the TLS handshake: it has probably refused this app's certificate " +
        '(identity.cert), and its log says why'
  return new BusbarError('LINK_LOST', { message, cause })
}

/** A socket that is destroyed without an error emits none. */
async function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const late = (): void => void socket.destroy(new Error(`no answer within ${connectTimeout / 1000} s`))
  const clearLate = startRunningTimeout(connectTimeout, late)
  try {
    await once(socket, event, { signal })
  } catch (cause) {
    socket.destroy()
    throw new BusbarError('LINK_LOST', { message: explain(cause as NodeJS.ErrnoException), cause })
  } finally {
    clearLate()
  }
}

const tlsNames = { ca: 'identity.ca', cert: 'identity.cert' }

function explain(error: NodeJS.ErrnoException): string {
  const { code, message } = error
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `the certificate of the other end, or of its CA, is not accepted: ${message}`
  // The message says what is wrong with a certificate. If a connection is refused, only the code
  // does.
  const other = code === undefined || code.startsWith('ERR_') || message.includes('certificate') ? message : code
  return tlsFault(error, tlsNames) ?? other
}
