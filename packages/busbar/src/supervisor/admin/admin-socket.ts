/** The admin socket of an app: found by the app's folder, and open only to its user. */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { isAbandonedSocket } from '../../shared/listeners/abandoned-socket.ts'
import { isAlive } from '../../shared/process/process-identity.ts'
import { removeAbandonedFolders } from '../../shared/process/temporary-folders.ts'
import { removeSocket } from './start-record.ts'

/** Bytes. A socket path has at most 103 on macOS, 107 on Linux. */
const longest = 103

const isWindows = process.platform === 'win32'

/** Milliseconds. The process of a younger socket may be about to listen. */
const young = 1000

/** Runs of apps in this process. */
let runs = 0

/**
 * The user's own folder: `$XDG_RUNTIME_DIR/busbar`, or else one below the folder for temporary
 * files.
 */
export function runtimeFolder({ XDG_RUNTIME_DIR: base }: NodeJS.ProcessEnv = process.env): string {
  if (isWindows) return String.raw`\\.\pipe`
  return base === undefined || base === '' ? join(tmpdir(), `busbar-${process.getuid?.()}`) : join(base, 'busbar')
}

/**
 * Where commands look for apps. A unit of the machine, `su` and cron have no `XDG_RUNTIME_DIR`, and
 * a session has the usual one: each finds what the other has started.
 */
export function runtimeFolders(env: NodeJS.ProcessEnv = process.env): string[] {
  const uid = process.getuid?.()
  const usual = `/run/user/${uid}`
  const { XDG_RUNTIME_DIR: base = '' } = env
  if (isWindows || (base !== '' && resolve(base) !== usual)) return [runtimeFolder(env)]
  return [runtimeFolder({ XDG_RUNTIME_DIR: usual }), runtimeFolder({})]
}

/**
 * Chooses the path for a run of the app, by its folder and process. Rejects with ADMIN_UNAVAILABLE.
 */
export async function claimSocket(folder: string, root: string): Promise<string> {
  const path = join(folder, `busbar-${nameOf(root)}-${process.pid}-${runs++}.sock`)
  if (isWindows) return path
  if (Buffer.byteLength(path) > longest) throw tooLong(path)
  makePrivate(folder)
  await removeStale(folder)
  // Left by an earlier process with the same ID.
  removeSocket(path)
  return path
}

export interface FoundSocket {
  readonly path: string
  readonly pid: number
}

/** The sockets of all apps of this user. Removes what processes that were killed have left. */
export async function listSockets(...folders: readonly string[]): Promise<FoundSocket[]> {
  if (!isWindows) await removeStale(...folders)
  return folders.flatMap(socketsIn)
}

/** The sockets of all runs of the app, including those that were killed. */
export function findSockets(folder: string | readonly string[], root: string): FoundSocket[] {
  const name = nameOf(root)
  return [folder]
    .flat()
    .flatMap(socketsIn)
    .filter((socket) => socket.name === name)
}

/** Removes the sockets of processes that were killed, and their temporary folders. */
async function removeStale(...folders: readonly string[]): Promise<void> {
  const sockets = folders.flatMap(socketsIn).filter(({ path, pid }) => !isAlive(pid) || ageOf(path) > young)
  const removed = sockets.map(async ({ path }) => {
    if (await isAbandonedSocket(path)) removeSocket(path)
  })
  await Promise.all([...removed, removeAbandonedFolders()])
}

function ageOf(path: string): number {
  return Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0)
}

function socketsIn(folder: string): (FoundSocket & { readonly name: string })[] {
  return filesOf(folder).flatMap((file) => {
    const parts = /^busbar-([\da-f]+)-(\d+)-\d+\.sock$/.exec(file)
    return parts === null ? [] : [{ path: join(folder, file), name: parts[1]!, pid: Number(parts[2]) }]
  })
}

/** Empty for a folder of another user, whose files could impersonate an app of this user. */
export function filesOf(folder: string): string[] {
  try {
    return isWindows || isOwn(folder) ? readdirSync(folder) : []
  } catch {
    return []
  }
}

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Another user may have created it among the temporary files.
  if (!isOwn(folder)) throw foreign(folder)
  if ((lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

/** Not a symbolic link: its owner chooses where it leads. */
export function isOwn(folder: string): boolean {
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === process.getuid?.()
}

function nameOf(root: string): string {
  return createHash('sha256').update(realPath(root)).digest('hex').slice(0, 16)
}

/** Resolves symbolic links, so that each name of the folder finds the same socket. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function tooLong(path: string): BusbarError {
  return new BusbarError('ADMIN_UNAVAILABLE', {
    message: `the path of the admin socket, ${path}, is longer than ${longest} bytes`,
    hint: 'Set XDG_RUNTIME_DIR to a shorter path.',
  })
}

function foreign(folder: string): BusbarError {
  return new BusbarError('ADMIN_UNAVAILABLE', {
    message: `${folder}, the folder of the admin socket, belongs to another user`,
    hint: 'Set XDG_RUNTIME_DIR to a folder of your own.',
  })
}
