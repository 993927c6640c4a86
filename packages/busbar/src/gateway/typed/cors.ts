import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders, preflightHeaders } from '../../contract/http/cors.ts'

/** Lets pages of these origins read the response. The request must have an `Origin`. */
export function allowOrigin(origins: readonly string[], req: IncomingMessage, res: ServerResponse): void {
  for (const [name, value] of Object.entries(corsHeaders(origins, req.headers.origin!))) res.setHeader(name, value)
}

/** Sets the CORS headers, and answers a preflight. Returns true if the request was a preflight. */
export function handleCors(origins: readonly string[], req: IncomingMessage, res: ServerResponse): boolean {
  if (req.headers.origin === undefined) return false
  allowOrigin(origins, req, res)
  if (!isPreflight(req)) return false
  const headers = req.headers['access-control-request-headers']
  res.writeHead(204, preflightHeaders(res.hasHeader('access-control-allow-origin'), headers)).end()
  return true
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}
