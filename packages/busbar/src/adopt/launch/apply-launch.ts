import { relative } from 'node:path'
import type { ImportDraft } from '../import-draft.ts'
import type { ServiceDraft } from '../imported.ts'
import { literal } from '../key-rules.ts'
import type { Launch } from './launch.ts'
import { findServer, mayListen } from './server-evidence.ts'

export interface LaunchedService {
  readonly service: ServiceDraft
  /** Absolute: the working directory. */
  readonly folder: string
  readonly launch: Launch
}

/**
 * Writes into the service's config how it starts. False if it was left out, since it opens no
 * server. A program that is started by the file that Busbar finds anyway needs no `entry`.
 */
export async function applyLaunch({ service, folder, launch }: LaunchedService, draft: ImportDraft): Promise<boolean> {
  const { config } = service
  const env = Object.fromEntries(Object.entries(launch.env).map(([name, value]) => [name, literal(value)]))
  if (Object.keys(env).length > 0) config.env = { ...env, ...config.env }
  const path = pathText(draft.root, folder)
  if (launch.kind === 'command') {
    config.command = literal(launch.command)
    if (path !== '.') config.path = path
    service.port ??= portOfEnv(launch.env)
    if (launch.file === undefined || (await mayListen(launch.file))) return true
    leaveOut(service, launch.file, draft)
    return false
  }
  config.path = path
  config.entry = literal(launch.entry)
  if (launch.args.length > 0) config.args = launch.args.map(literal)
  if (launch.nodeOptions.length > 0) {
    config.nodeOptions = launch.nodeOptions.map(literal)
    config.run = 'process'
  }
  const { file, nodeOptions } = launch
  const server = file === undefined ? undefined : await findServer(file, { folder, nodeOptions })
  service.port ??= portOfEnv(launch.env) ?? server?.port
  if (server === undefined || server.listens) return true
  leaveOut(service, launch.file!, draft)
  return false
}

function leaveOut(service: ServiceDraft, file: string, draft: ImportDraft): void {
  const why = `nothing in ${relative(draft.root, file)} opens a server or exports one, and Busbar runs services that listen`
  draft.leaveOut(service, service.name, why)
}

/** A folder as a config names it. */
export function pathText(root: string, folder: string): string {
  const path = relative(root, folder).replaceAll('\\', '/')
  return path === '' ? '.' : path.startsWith('.') ? path : `./${path}`
}

/** The port that `PORT` says. */
export function portOfEnv(env: unknown): number | undefined {
  const value = typeof env === 'object' && env !== null ? (env as Record<string, unknown>)['PORT'] : undefined
  const port = Number(value)
  return value !== undefined && value !== '' && Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined
}
