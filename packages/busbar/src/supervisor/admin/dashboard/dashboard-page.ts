/** The files of the dashboard (`packages/dashboard`), which the build puts into this package. */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { BusbarError } from '../../../contract/errors.ts'
import { sendProblem } from '../http/send.ts'
import { packageFile } from '../../../shared/package-files.ts'

const folder = packageFile('dist/dashboard/')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** True for the page and its files. They hold nothing of the app, and need no token. */
export function isPage({ method, url = '' }: IncomingMessage): boolean {
  const path = pathOf(url)
  return (method === 'GET' || method === 'HEAD') && (path === '/' || path.startsWith('/assets/'))
}

/** `frames`: the origins that the page may show, those of the API reference. */
export async function sendPage(req: IncomingMessage, res: ServerResponse, frames: readonly string[]): Promise<void> {
  const path = pathOf(req.url!)
  const name = path === '/' ? 'index.html' : path.slice(1)
  if (!exists(name)) return sendProblem(res, path === '/' ? notBuilt() : unknown(path))
  try {
    const content = await readFile(new URL(name, folder))
    const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '')
    const body = isZipped ? await promisify(gzip)(content) : content
    if (res.destroyed) return
    res.writeHead(200, {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      'content-length': body.length,
      // The names of assets contain a hash of their content.
      'cache-control': path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(isZipped && { 'content-encoding': 'gzip' }),
      ...securityHeaders(frames),
    })
    res.end(req.method === 'HEAD' ? undefined : body)
  } catch (error) {
    sendProblem(res, error)
  }
}

/** Only its own files run, and only this server is contacted, so that the page works offline. */
function securityHeaders(frames: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${frames.length === 0 ? "'none'" : frames.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }
}

/** The files that exist: a path from outside is never resolved. */
let known: ReadonlySet<string> = new Set()
let lookedAt = -Infinity

/** Milliseconds between two looks. */
const lookInterval = 1000

/** An update of Busbar under a running app gives the files new names. */
function exists(name: string): boolean {
  const now = performance.now()
  if (!known.has(name) && now - lookedAt >= lookInterval) {
    lookedAt = now
    known = namesIn(folder)
  }
  return known.has(name)
}

function namesIn(place: URL): ReadonlySet<string> {
  try {
    return new Set(readdirSync(place, { recursive: true }).map((name) => String(name).replaceAll('\\', '/')))
  } catch {
    return new Set()
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}

function notBuilt(): BusbarError {
  return new BusbarError('ROUTE_NOT_FOUND', {
    message: 'the dashboard exists only in the built package',
    hint: 'Run npm run build, to use it from the sources.',
  })
}

function unknown(path: string): BusbarError {
  return new BusbarError('ROUTE_NOT_FOUND', { message: `the dashboard has no ${path}` })
}
