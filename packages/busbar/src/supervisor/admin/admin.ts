import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AdminPort, App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { formatMetrics } from '../../observe/metrics.ts'
import { metricsContentType } from '../../observe/prometheus.ts'
import type { AppStatus } from '../../observe/status.ts'
import { reservedDescriptors } from '../../shared/descriptors.ts'
import { claimSocket } from './admin-socket.ts'

export interface AdminParts {
  /** From what the supervisor knows by itself: no request waits for a worker. */
  readonly status: () => AppStatus
  readonly warn: (line: string) => void
}

/** Where others can ask what the app says of itself. */
export interface Admin {
  /** `unix:/run/user/1000/busbar/….sock`, `http://127.0.0.1:9464`. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

interface Door {
  readonly url: string
  close(): Promise<void>
}

/**
 * Opens the app's socket in `folder`, if there is one, and its port, if the config asks for it. Without the socket the app
 * runs as well, which is said. Rejects with ADMIN_UNAVAILABLE where the port cannot be had.
 */
export async function openAdmin(app: App, folder: string | undefined, parts: AdminParts): Promise<Admin> {
  const doors: Door[] = []
  if (app.admin !== undefined) doors.push(await openPort(app.admin, parts))
  try {
    if (folder !== undefined) doors.push(await openSocket(claimSocket(folder, app.root), parts))
  } catch (error) {
    parts.warn(`busbar ps cannot see this app: ${(error as Error).message}`)
  }
  return {
    urls: doors.map(({ url }) => url),
    close: async () => void (await Promise.all(doors.map((door) => door.close()))),
  }
}

/** For this user alone. */
async function openSocket(path: string, parts: AdminParts): Promise<Door> {
  const server = createAdmin(parts, () => true)
  await listening(server, { path })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  return {
    url: `unix:${path}`,
    async close() {
      await closed(server)
      if (process.platform !== 'win32') rmSync(path, { force: true })
    },
  }
}

/** For whoever has the token. */
async function openPort({ host, port, token }: AdminPort, parts: AdminParts): Promise<Door> {
  const expected = digest(`Bearer ${token}`)
  const server = createAdmin(parts, ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ''), expected))
  await listening(server, { host, port })
  const { port: open } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${open}`, close: () => closed(server) }
}

function createAdmin(parts: AdminParts, admits: (req: IncomingMessage) => boolean): Server {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (req, res) => {
    if (admits(req)) answer(parts, req, res)
    else refuse(res, 401, 'UNAUTHENTICATED', 'the token is missing or wrong', { 'www-authenticate': 'Bearer' })
  })
  // Scrapers keep one connection each; whoever holds more by mistake must leave descriptors for everything else.
  server.maxConnections = Math.floor(reservedDescriptors() / 2)
  return server
}

function answer({ status }: AdminParts, req: IncomingMessage, res: ServerResponse): void {
  const path = req.url!.split('?', 1)[0]
  if (path !== '/status' && path !== '/metrics' && path !== '/ready')
    return refuse(res, 404, 'ROUTE_NOT_FOUND', 'there are /status, /metrics and /ready')
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return refuse(res, 405, 'REQUEST_MALFORMED', 'it is asked by GET', { allow: 'GET, HEAD' })
  if (path === '/ready') answerReady(status(), res)
  else if (path === '/status') send(res, 200, 'application/json', JSON.stringify(status()))
  else send(res, 200, metricsContentType, formatMetrics(status()))
}

function answerReady({ app: { ready, unready } }: AppStatus, res: ServerResponse): void {
  if (ready) send(res, 200, 'application/json', JSON.stringify({ ready }))
  else refuse(res, 503, 'SERVICE_UNAVAILABLE', `not ready: ${unready.join(', ')}`, { 'retry-after': '1' })
}

/** RFC 9457. */
function refuse(
  res: ServerResponse,
  status: number,
  code: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  send(res, status, 'application/problem+json', JSON.stringify({ type: 'about:blank', status, code, detail }))
}

function send(res: ServerResponse, status: number, type: string, body: string): void {
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  })
  res.end(body)
}

/** Of equal length whatever was sent, so that comparing says nothing of the token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

async function listening(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  try {
    await once(server.listen(where), 'listening')
    // A connection that could not be accepted is the client's to make again.
    server.on('error', () => {})
  } catch (cause) {
    const at = 'path' in where ? where.path : `${where.host}:${where.port}`
    throw new BusbarError('ADMIN_UNAVAILABLE', {
      message: `the admin listener cannot open ${at}: ${(cause as Error).message}`,
      hint: 'path' in where ? 'set XDG_RUNTIME_DIR to a folder of your own' : 'change admin.port in the config',
      cause,
    })
  }
}

async function closed(server: Server): Promise<void> {
  const done = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await done
}
