import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { OpenApi } from '../../config/app.ts'

/** Scalar's API reference, as one file. The build puts it there (`scripts/emit-reference-page.ts`); sources have none. */
const script = new URL('../../../dist/gateway/openapi/reference.js', import.meta.url)

/** Below the page: its script. */
export const scriptName = 'reference.js'

/**
 * Nothing but the page's own script runs, and nothing is asked of anybody but this server: the page works offline, and
 * tells nobody who reads it. Scalar writes styles of its own into the page.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function answerPage(res: ServerResponse, { path, page, title }: OpenApi & { readonly page: string }): void {
  const body = Buffer.from(html(title, relative(page, path), relative(page, `${page}/${scriptName}`)))
  res.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  })
  res.end(body)
}

/** False where there is no such file: Busbar runs from its sources and was not built. */
export async function answerScript(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const found = await stat(script).catch(() => undefined)
  if (found === undefined) return false
  const etag = `"${found.size}-${Math.round(found.mtimeMs)}"`
  const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '')
  res.setHeader('etag', etag)
  res.setHeader('vary', 'accept-encoding')
  res.setHeader('cache-control', 'no-cache')
  if (req.headers['if-none-match'] === etag) return (res.writeHead(304).end(), true)
  res.writeHead(200, {
    'content-type': 'text/javascript; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...(isZipped ? { 'content-encoding': 'gzip' } : { 'content-length': found.size }),
  })
  if (req.method === 'HEAD') return (res.end(), true)
  // A client that goes away ends it.
  const sent = isZipped
    ? pipeline(createReadStream(script), createGzip(), res)
    : pipeline(createReadStream(script), res)
  await sent.catch(() => res.destroy())
  return true
}

/** Everything that would ask another server is turned off, so that the policy has nothing to refuse. */
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
}

function html(title: string, document: string, reference: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,">
    <title>${escape(title)}</title>
  </head>
  <body>
    <script id="api-reference" data-url="${document}" data-configuration="${escape(JSON.stringify(configuration))}"></script>
    <script src="${reference}"></script>
  </body>
</html>
`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** As a link on the page: behind a proxy that puts something in front of both, it is still right. */
function relative(page: string, target: string): string {
  return '../'.repeat(page.split('/').length - 2) + target.slice(1)
}
