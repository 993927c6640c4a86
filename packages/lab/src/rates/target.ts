/** A running server, as `--url` names it. */
import { X509Certificate } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { connect } from 'node:tls'
import type { LoadJob } from '../engine/job.ts'

export interface UrlTarget {
  readonly target: LoadJob['target']
  /** Path and query. */
  readonly path: string
  /** Value of the `Host` header. */
  readonly host: string
}

const timeoutMs = 5000

/**
 * HTTP/1.1, or HTTPS with a certificate that Node trusts. The engine then accepts only this
 * certificate. `skipVerify` accepts any. Throws an error with a message for the user.
 */
export async function toTarget(text: string, skipVerify: boolean): Promise<UrlTarget> {
  if (!URL.canParse(text)) throw new Error(`--url needs a URL such as http://127.0.0.1:3000/path, not "${text}"`)
  const url = new URL(text)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && url.protocol !== 'http:') throw new Error(`--url supports http: and https:, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Error('--url must not have a password: give it by --header')
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const { address, family } = await lookup(hostname).catch((error: Error) => {
    throw new Error(`${hostname} was not found: ${error.message}`, { cause: error })
  })
  const target = { address: `${family === 6 ? `[${address}]` : address}:${port}` }
  const path = url.pathname + url.search
  if (!isSecure) return { target, path, host: url.host }
  const certificate = await certificateOf(hostname, port, skipVerify)
  return { target: { ...target, tls: { serverName: hostname, certificate } }, path, host: url.host }
}

/** PEM. */
async function certificateOf(host: string, port: number, skipVerify: boolean): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ host, port, servername: host, rejectUnauthorized: !skipVerify, timeout: timeoutMs })
  socket.once('secureConnect', () => resolve(new X509Certificate(socket.getPeerCertificate().raw).toString()))
  socket.once('timeout', () => reject(new Error(`${host}:${port} does not answer`)))
  socket.once('error', (error: Error) =>
    reject(
      new Error(`${host}:${port}: ${error.message}${skipVerify ? '' : '; --skip-verify accepts any certificate'}`, {
        cause: error,
      }),
    ),
  )
  return await promise.finally(() => socket.destroy())
}
