import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AdminPort, App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { reservedDescriptors } from '../../shared/process/descriptors.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { removeAbandonedFolders } from '../../shared/process/temporary-folders.ts'
import { referenceUrl } from '../reference-url.ts'
import type { PagePort, StartOptions } from '../running-app.ts'
import { claimSocket } from './admin-socket.ts'
import { isPage, sendPage } from './dashboard/dashboard-page.ts'
import { distrust, isLoopbackAddress } from './dashboard/trusted-origin.ts'
import type * as AdminApi from './http/answer.ts'
import type { AnswerContext } from './http/answer.ts'
import { sendProblem } from './http/send.ts'
import type { OperationContext } from './operations/operation.ts'
import { limitConnections } from './limit-connections.ts'
import { removeSocket, writeStartRecord } from './start-record.ts'

export interface AdminParts extends Omit<OperationContext, 'signal'>, Pick<StartOptions, 'adminFolder' | 'page'> {
  readonly warn: (line: string) => void
}

/** What requests are answered with. */
type OpenParts = AdminParts & Pick<AnswerContext, 'closing'>

/** Milliseconds that clients have to read the last answers, above all those that follow the app. */
const farewell = 250

/** The admin listeners of an app. */
export interface Admin {
  /** `unix:/run/user/1000/busbar/….sock`, `http://127.0.0.1:9464`. */
  readonly urls: readonly string[]
  /** The port for the dashboard. */
  readonly pageUrl: string | undefined
  close(): Promise<void>
}

interface AdminListener {
  readonly url: string
  close(): Promise<void>
}

/**
 * Opens the admin socket, if it has a folder, and the admin ports. A socket that cannot be opened
 * is only a warning. Rejects with ADMIN_UNAVAILABLE when a port cannot be opened.
 */
export async function openAdmin(app: App, given: AdminParts): Promise<Admin> {
  const { adminFolder: folder, page } = given
  const closing = new AbortController()
  const parts = { ...given, closing: closing.signal }
  const listeners: AdminListener[] = []
  let pageUrl: string | undefined
  if (app.admin !== undefined) listeners.push(await openPort(app.admin, parts))
  if (page !== undefined) {
    const opened = await openPagePort(page, parts)
    listeners.push(opened)
    pageUrl = opened.url
  }
  try {
    if (folder !== undefined) listeners.push(await openSocket(await claimSocket(folder, app.root), parts))
    // Claiming a socket does that, too.
    else await removeAbandonedFolders()
  } catch (error) {
    parts.warn(`busbar ps cannot see this app: ${(error as Error).message}`)
  }
  return {
    urls: listeners.map(({ url }) => url),
    pageUrl,
    close: async () => {
      closing.abort()
      await Promise.all(listeners.map((listener) => listener.close()))
    },
  }
}

/** Only this user can connect. */
async function openSocket(path: string, parts: OpenParts): Promise<AdminListener> {
  const server = createAdmin((api, req, res) => void api.answer(parts, true, req, res))
  await listening(server, { path })
  const { running, command } = parts
  if (process.platform !== 'win32') {
    chmodSync(path, 0o600)
    if (command !== undefined) writeStartRecord(path, { ...running.app, ...command, args: [...command.args] })
  }
  return {
    url: `unix:${path}`,
    async close() {
      await closed(server)
      if (process.platform !== 'win32') removeSocket(path)
    },
  }
}

/** For this run alone, on the loopback interface. Another one if the port is taken meanwhile. */
async function openPagePort({ port, token }: PagePort, parts: OpenParts): Promise<AdminListener> {
  const host = '127.0.0.1'
  try {
    return await openPort({ host, port, token }, parts)
  } catch (error) {
    if (port === 0) throw error
    return await openPort({ host, port: 0, token }, parts)
  }
}

/** Each request needs the token, except probes and the files of the dashboard. */
async function openPort({ host, port, token }: AdminPort, parts: OpenParts): Promise<AdminListener> {
  const expected = digest(token)
  const isLoopback = isLoopbackAddress(host)
  const server = createAdmin((api, req, res) => {
    if (api.isPublic(req.url!)) return void api.answer(parts, false, req, res)
    const distrusted = distrust(req.headers, isLoopback)
    if (distrusted !== undefined) return sendProblem(res, distrusted)
    if (isPage(req)) return void sendPage(req, res, referenceOrigins(parts.running, req.headers.host))
    if (timingSafeEqual(digest(bearerOf(req.headers.authorization)), expected))
      return void api.answer(parts, false, req, res)
    const hint = 'Send `Authorization: Bearer <token>` with the token of `admin.token` in the config.'
    sendProblem(res, new BusbarError('UNAUTHENTICATED', { message: 'the token is missing or wrong', hint }))
  })
  await listening(server, { host, port })
  const { port: open } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${open}`, close: () => closed(server) }
}

/** RFC 9110, 11.1: the scheme is case-insensitive. */
function bearerOf(authorization = ''): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1] ?? ''
}

/** Loads what answers requests. An app starts without it: it consists of some 400 schemas. */
export function loadAdminApi(): Promise<typeof AdminApi> {
  return import('./http/answer.ts')
}

function createAdmin(listener: (api: typeof AdminApi, ...args: Parameters<RequestListener>) => void): Server {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (req, res) => {
    // RFC 9112, 3.2. Node takes the first one.
    if ((req.headersDistinct.host?.length ?? 0) > 1)
      return sendProblem(res, new BusbarError('REQUEST_MALFORMED', { message: 'the request has several Host fields' }))
    const answered = loadAdminApi().then((api) => (res.destroyed ? undefined : listener(api, req, res)))
    void answered.catch((error: unknown) => sendProblem(res, error))
  })
  limitConnections(server, Math.floor(reservedDescriptors() / 2))
  return server
}

/** The origin of the app's API reference, as the browser that sent `host` reaches it. */
function referenceOrigins(running: AdminParts['running'], host = ''): string[] {
  const reference = referenceUrl(running)
  if (reference === undefined) return []
  const reached = new URL(reference)
  if (/^(?:0\.0\.0\.0|\[::\])$/.test(reached.hostname)) reached.hostname = host.replace(/:\d+$/, '')
  return [reached.origin]
}

/**
 * Digests have equal length, so that a comparison in constant time reveals nothing about the token.
 */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

async function listening(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  try {
    await once(server.listen(where), 'listening')
    // After a failed accept, the client can connect again.
    server.on('error', () => {})
  } catch (cause) {
    const at = 'path' in where ? where.path : `${where.host}:${where.port}`
    throw new BusbarError('ADMIN_UNAVAILABLE', {
      message: `the admin listener cannot open ${at}: ${(cause as Error).message}`,
      hint: 'path' in where ? 'Set XDG_RUNTIME_DIR to a folder of your own.' : 'Change admin.port in the config.',
      cause,
    })
  }
}

async function closed(server: Server): Promise<void> {
  const done = once(server, 'close')
  server.close()
  if (!(await settlesWithin(farewell, [done]))) server.closeAllConnections()
  await done
}
