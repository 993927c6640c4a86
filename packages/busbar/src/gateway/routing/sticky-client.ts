import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Sticky } from '../../config/app.ts'

/** A client that stays with an instance of a service. */
export interface StickyClient {
  /** Requests with the same key go to the same instance while it serves. */
  readonly key: string
  /** The value of `Set-Cookie`, for a client that has no cookie yet. */
  readonly setCookie: string | undefined
}

export function stickyClientOf(req: IncomingMessage, service: string, sticky: Sticky): StickyClient {
  if (sticky === 'address') return { key: req.socket.remoteAddress ?? '', setCookie: undefined }
  const name = `busbar-${service}`
  const known = cookieOf(req.headers.cookie, name)
  if (known !== undefined && form.test(known)) return { key: known, setCookie: undefined }
  const key = randomBytes(16).toString('base64url')
  const { encrypted } = req.socket as Socket & Partial<TLSSocket>
  const secure = encrypted === true ? '; Secure' : ''
  return { key, setCookie: `${name}=${key}; Path=/; HttpOnly; SameSite=Lax${secure}` }
}

/** Of 16 random bytes. Other values are not the gateway's. */
const form = /^[\w-]{22}$/

function cookieOf(cookies: string | undefined, name: string): string | undefined {
  const start = `${name}=`
  for (const one of cookies?.split(';') ?? []) {
    const cookie = one.trim()
    if (cookie.startsWith(start)) return cookie.slice(start.length)
  }
  return undefined
}
