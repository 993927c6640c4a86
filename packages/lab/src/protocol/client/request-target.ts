import type { Protocol } from '../../engine/job.ts'

export interface RequestTarget {
  /** `127.0.0.1:3043` */
  readonly address?: string
  /** The path of a Unix socket. */
  readonly unix?: string
  /** PEM: the only certificate that is trusted. Undefined: no TLS. */
  readonly certificate?: string
  /** SNI. Default: `localhost`. */
  readonly serverName?: string
  /** Default: HTTP/1.1. */
  readonly protocol?: Protocol
}

/** Of `127.0.0.1:3043` or `[::1]:3043`. */
export function placeOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) }
}
