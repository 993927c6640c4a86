/**
 * Keeps other sites from using an admin port through a browser of the machine. Their scripts cannot
 * know the token; this also refuses them the page, and names that they can point to this machine
 * (DNS rebinding).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { BusbarError } from '../../../contract/errors.ts'

/**
 * Why a request is not trusted; undefined if it is. `isLoopback`: the port is open on the loopback
 * interface only. Elsewhere it may have any name.
 */
export function distrust({ host = '', origin }: IncomingHttpHeaders, isLoopback: boolean): BusbarError | undefined {
  if (isLoopback && !isLocalName(hostname(host)))
    return new BusbarError('FORBIDDEN', {
      message: `the admin port is on the loopback interface, and does not serve the host ${JSON.stringify(host)}`,
      hint: 'Use http://127.0.0.1 or localhost, or set admin.host.',
    })
  if (origin === undefined || isSame(origin, host)) return undefined
  return new BusbarError('FORBIDDEN', { message: `pages of ${origin} cannot use the admin API` })
}

export function isLoopbackAddress(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/**
 * Names that nobody can register: `localhost` (RFC 6761), and the private `internal`, by which
 * containers reach their machine. An address cannot be rebound.
 */
function isLocalName(name: string): boolean {
  return isIP(name) !== 0 || /^(?:.+\.)?(?:localhost|internal)$/i.test(name)
}

function hostname(host: string): string {
  return host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}

/** A proxy may end TLS before this port. */
function isSame(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
