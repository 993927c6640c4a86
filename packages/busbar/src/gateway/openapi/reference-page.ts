import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { OpenApi } from '../../config/app.ts'
import { packageFile } from '../../shared/package-files.ts'

/** Scalar's API reference in one file. The build creates it (`scripts/emit-reference-page.ts`). */
const script = packageFile('dist/gateway/openapi/reference.js')

/** Path of the script, below the page's. */
export const scriptName = 'reference.js'

/**
 * Only the page's own script runs, and only this server is contacted: the page works offline and
 * tells no third party about its readers. Scalar adds inline styles. Only the dashboard of this
 * machine may show it inside of another page.
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
  'frame-ancestors http://127.0.0.1:* http://localhost:*',
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

/** Returns false if the file does not exist: Busbar runs from its sources and was not built. */
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
  // Rejects if the client disconnects.
  const sent = isZipped
    ? pipeline(createReadStream(script), createGzip(), res)
    : pipeline(createReadStream(script), res)
  await sent.catch(() => res.destroy())
  return true
}

/** Turns off everything that would contact another server and be blocked by the policy. */
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

/** A relative link. It also works behind a proxy that adds a prefix to both paths. */
function relative(page: string, target: string): string {
  return '../'.repeat(page.split('/').length - 2) + target.slice(1)
}
