import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders, preflightHeaders } from '../../contract/http/cors.ts'

/** Lets pages of these origins read the answer. */
export function allowOrigin(origins: readonly string[], req: IncomingMessage, res: ServerResponse): void {
  for (const [name, value] of Object.entries(corsHeaders(origins, req.headers.origin!))) res.setHeader(name, value)
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const asked = req.headers['access-control-request-headers']
  res.writeHead(204, preflightHeaders(res.hasHeader('access-control-allow-origin'), asked)).end()
}
