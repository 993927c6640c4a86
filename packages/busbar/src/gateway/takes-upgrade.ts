import type { IncomingMessage } from 'node:http'
import type { Endpoint, LocalEndpoint } from '../mesh/endpoint.ts'
import { hasBody } from './forward.ts'
import type { Handover } from './handover.ts'

/**
 * Whether the service takes the upgrade; else Node treats it as a plain request. One elsewhere is asked by making the request.
 * Nobody is asked for a change to HTTP/2, which clients offer with any request and Node's servers do not take (RFC 9113 has
 * dropped it), nor for what has a body or is HTTP/1.0 (RFC 9110, 7.8).
 */
export function takesUpgrade(req: IncomingMessage, endpoint: Endpoint, handover: Handover | undefined): boolean {
  if (hasBody(req) || req.httpVersionMinor === 0 || req.headers.upgrade?.toLowerCase() === 'h2c') return false
  if (endpoint.at === 'tcp') return true
  if (endpoint.at === 'link') return !endpoint.typed
  return endpoint.typed === undefined && programTakes(req, endpoint, handover)
}

/** Node's default for `shouldUpgradeCallback`. A server that decides otherwise does so when the request is forwarded to it. */
function programTakes(req: IncomingMessage, endpoint: LocalEndpoint, handover: Handover | undefined): boolean {
  if (handover?.takes(endpoint) === true) return handover.wantsUpgrade(req, endpoint)
  return endpoint.server.listenerCount('upgrade') > 0
}
