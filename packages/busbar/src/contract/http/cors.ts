/**
 * CORS headers (Fetch standard, 3.3), for any runtime. Credentials are never allowed: cookies are
 * not read.
 */

/**
 * Headers of every response to another origin: pages of origins that are not listed may not read
 * it.
 */
export function corsHeaders(origins: readonly string[], origin: string): Record<string, string> {
  const allowed = origins.includes('*') ? '*' : origins.find((one) => one === origin)
  if (allowed === undefined) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': allowed, 'access-control-expose-headers': '*' }
}

/**
 * Headers of a preflight response. Without any, the browser refuses. `asked`: the requested
 * headers.
 */
export function preflightHeaders(allows: boolean, asked: string | undefined): Record<string, string> {
  if (!allows) return {}
  return {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    'access-control-max-age': '7200',
  }
}
