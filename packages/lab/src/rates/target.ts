/** A running server, as `--url` names it. */
import { X509Certificate } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { LoadJob, Protocol } from '../engine/job.ts'

export interface UrlTarget {
  readonly target: LoadJob['target']
  /** Path and query. */
  readonly path: string
  /** Value of the `Host` header. */
  readonly host: string
}

const timeoutMs = 5000

export interface TargetOptions {
  readonly protocol: Protocol
  /** Accepts any certificate. */
  readonly skipVerify: boolean
}

/**
 * In clear, or over TLS with a certificate that Node trusts. The engine then accepts only this
 * certificate. Throws an error with a message for the user.
 */
export async function toTarget(text: string, options: TargetOptions): Promise<UrlTarget> {
  if (!URL.canParse(text)) throw new Error(`--url needs a URL such as http://127.0.0.1:3000/path, not "${text}"`)
  const { protocol } = options
  const url = new URL(protocol === 'http2' ? text.replace(/^grpc(s?):/, 'http$1:') : text)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && url.protocol !== 'http:') throw new Error(`--url supports http: and https:, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Error('--url must not have a password: give it by --header')
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const { address, family } = await lookup(hostname).catch((error: Error) => {
    throw new Error(`${hostname} was not found: ${error.message}`, { cause: error })
  })
  const target = { address: `${family === 6 ? `[${address}]` : address}:${port}`, protocol }
  const path = url.pathname + url.search
  if (!isSecure) return { target, path, host: url.host }
  const certificate = await certificateOf(hostname, port, options)
  return { target: { ...target, tls: { serverName: hostname, certificate } }, path, host: url.host }
}

/** PEM. */
async function certificateOf(host: string, port: number, { protocol, skipVerify }: TargetOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // Servers of gRPC refuse a client that does not offer HTTP/2.
  const offered = { ALPNProtocols: [protocol === 'http2' ? 'h2' : 'http/1.1'] }
  const checked = { servername: isIP(host) ? '' : host, rejectUnauthorized: !skipVerify }
  const socket = connect({ host, port, ...offered, ...checked, timeout: timeoutMs })
  socket.once('secureConnect', () => resolve(new X509Certificate(socket.getPeerCertificate().raw).toString()))
  socket.once('timeout', () => reject(new Error(`${host}:${port} does not answer`)))
  socket.once('error', (error: NodeJS.ErrnoException) =>
    reject(
      new Error(`${host}:${port}: ${tlsReasons[error.code ?? ''] ?? certificateReason(error, skipVerify)}`, {
        cause: error,
      }),
    ),
  )
  return await promise.finally(() => socket.destroy())
}

/** Why TLS could not begin. Anything else, such as a wrong certificate, is said well by Node. */
const tlsReasons: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: use http:',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS: use http:',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'it does not offer HTTP/2 over TLS: leave --http2 out',
  ECONNREFUSED: 'nothing listens there',
}

function certificateReason({ message }: Error, skipVerify: boolean): string {
  return `${message}${skipVerify ? '' : '; --skip-verify accepts any certificate'}`
}

/** Why there was no answer to a first request, and what may be wrong with the command line. */
export function noAnswerReason(error: NodeJS.ErrnoException, protocol: Protocol): string {
  const { code = '', message } = error
  // Over HTTP/2 it is the cause of a cancelled stream.
  if (/\bECONNREFUSED\b/.test(message)) return 'nothing listens there'
  if (code.startsWith('HPE_')) return `it does not speak HTTP/1.1 (${message}): --http2 speaks HTTP/2`
  if (protocol === 'http2' && /protocol error/i.test(message)) return `${message}: does it speak HTTP/2?`
  return code === 'ECONNRESET' ? `${message}: it closed the connection. Is it the right scheme?` : message
}
