/** Headers of CORS (Fetch standard, 3.3), for any runtime. Cookies are never allowed: nothing here reads them. */

/** For every answer to a page: those of other origins than the listed may not read it. */
export function corsHeaders(origins: readonly string[], origin: string): Record<string, string> {
  const allowed = origins.includes('*') ? '*' : origins.find((one) => one === origin)
  if (allowed === undefined) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': allowed, 'access-control-expose-headers': '*' }
}

/** For the question whether a call may be made. Nothing, for a browser, is a no. `asked`: the headers it would have. */
export function preflightHeaders(allows: boolean, asked: string | undefined): Record<string, string> {
  if (!allows) return {}
  return {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    'access-control-max-age': '7200',
  }
}
