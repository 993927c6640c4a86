import type { IncomingMessage, ServerResponse } from 'node:http'

/** Lets pages of these origins read the answer (Fetch standard, 3.3). Cookies are never allowed: nothing here reads them. */
export function allowOrigin(origins: readonly string[], req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('vary', 'origin')
  const allowed = origins.includes('*') ? '*' : origins.find((origin) => origin === req.headers.origin)
  if (allowed === undefined) return
  res.setHeader('access-control-allow-origin', allowed)
  res.setHeader('access-control-expose-headers', '*')
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Without the headers of {@link allowOrigin} a browser takes this for a no. */
export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  if (res.hasHeader('access-control-allow-origin')) {
    res.setHeader('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
    const asked = req.headers['access-control-request-headers']
    if (asked !== undefined) res.setHeader('access-control-allow-headers', asked)
    res.setHeader('access-control-max-age', '7200')
  }
  res.writeHead(204).end()
}
