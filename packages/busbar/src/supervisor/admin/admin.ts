import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AdminPort, App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { reservedDescriptors } from '../../shared/process/descriptors.ts'
import { removeAbandonedFolders } from '../../shared/process/temporary-folders.ts'
import { claimSocket } from './admin-socket.ts'
import { answer } from './http/answer.ts'
import { isPublic } from './http/find-operation.ts'
import { sendProblem } from './http/send.ts'
import type { OperationContext } from './operations/operation.ts'
import { removeSocket, writeStartRecord } from './start-record.ts'

export interface AdminParts extends Omit<OperationContext, 'signal'> {
  readonly warn: (line: string) => void
}

/** The admin listeners of an app. */
export interface Admin {
  /** `unix:/run/user/1000/busbar/….sock`, `http://127.0.0.1:9464`. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

interface AdminListener {
  readonly url: string
  close(): Promise<void>
}

/**
 * Opens the admin socket in `folder`, if given, and the admin port, if configured. A socket that
 * cannot be opened is only a warning. Rejects with ADMIN_UNAVAILABLE when the port cannot be
 * opened.
 */
export async function openAdmin(app: App, folder: string | undefined, parts: AdminParts): Promise<Admin> {
  const listeners: AdminListener[] = []
  if (app.admin !== undefined) listeners.push(await openPort(app.admin, parts))
  try {
    if (folder !== undefined) listeners.push(await openSocket(await claimSocket(folder, app.root), parts))
    // Claiming a socket does that, too.
    else await removeAbandonedFolders()
  } catch (error) {
    parts.warn(`busbar ps cannot see this app: ${(error as Error).message}`)
  }
  return {
    urls: listeners.map(({ url }) => url),
    close: async () => void (await Promise.all(listeners.map((listener) => listener.close()))),
  }
}

/** Only this user can connect. */
async function openSocket(path: string, parts: AdminParts): Promise<AdminListener> {
  const server = createAdmin(parts, true, () => true)
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

/** Each request needs the token, except probes. */
async function openPort({ host, port, token }: AdminPort, parts: AdminParts): Promise<AdminListener> {
  const expected = digest(`Bearer ${token}`)
  const server = createAdmin(parts, false, ({ headers }) =>
    timingSafeEqual(digest(headers.authorization ?? ''), expected),
  )
  await listening(server, { host, port })
  const { port: open } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${open}`, close: () => closed(server) }
}

function createAdmin(parts: AdminParts, isLocal: boolean, admits: (req: IncomingMessage) => boolean): Server {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (req, res) => {
    if (isPublic(req.url!) || admits(req)) void answer(parts, isLocal, req, res)
    else sendProblem(res, new BusbarError('UNAUTHENTICATED', { message: 'the token is missing or wrong' }))
  })
  // Scrapers keep one connection each. Clients that leak connections must not take all descriptors.
  server.maxConnections = Math.floor(reservedDescriptors() / 2)
  return server
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
  server.closeAllConnections()
  await done
}
