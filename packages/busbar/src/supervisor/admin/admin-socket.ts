/** Where the admin socket of an app is: whoever knows the app's folder finds it, and only its user can open it. */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'

/** Names of sockets have at most 103 bytes on macOS, 107 on Linux. */
const longest = 103

const isWindows = process.platform === 'win32'

let runs = 0

/** The user's own: `$XDG_RUNTIME_DIR/busbar` where there is such a thing, else below the system's folder for temporary files. */
export function runtimeFolder({ XDG_RUNTIME_DIR: base }: NodeJS.ProcessEnv = process.env): string {
  if (isWindows) return String.raw`\\.\pipe`
  return base === undefined || base === '' ? join(tmpdir(), `busbar-${process.getuid?.()}`) : join(base, 'busbar')
}

/** For one more run of the app: its folder and its process say the name. Throws ADMIN_UNAVAILABLE. */
export function claimSocket(folder: string, root: string): string {
  const path = join(folder, `busbar-${nameOf(root)}-${process.pid}-${runs++}.sock`)
  if (isWindows) return path
  if (Buffer.byteLength(path) > longest) throw tooLong(path)
  makePrivate(folder)
  removeStale(folder)
  // Of an earlier process with the number of this one.
  rmSync(path, { force: true })
  return path
}

export interface FoundSocket {
  readonly path: string
  readonly pid: number
}

/** Of all runs of the app, those that ended without a word included. */
export function findSockets(folder: string, root: string): FoundSocket[] {
  const name = nameOf(root)
  return socketsIn(folder).filter((socket) => socket.name === name)
}

/** Of processes that were killed: nothing else takes them away. */
function removeStale(folder: string): void {
  for (const { path, pid } of socketsIn(folder)) if (!isAlive(pid)) rmSync(path, { force: true })
}

function socketsIn(folder: string): (FoundSocket & { readonly name: string })[] {
  return filesOf(folder).flatMap((file) => {
    const parts = /^busbar-([\da-f]+)-(\d+)-\d+\.sock$/.exec(file)
    return parts === null ? [] : [{ path: join(folder, file), name: parts[1]!, pid: Number(parts[2]) }]
  })
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stats = lstatSync(folder)
  // Anybody can make a folder among the temporary files before this user does.
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) throw foreign(folder)
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

function nameOf(root: string): string {
  return createHash('sha256').update(realPath(root)).digest('hex').slice(0, 16)
}

/** The folder may be known by several names. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function tooLong(path: string): BusbarError {
  return new BusbarError('ADMIN_UNAVAILABLE', {
    message: `the name of the admin socket, ${path}, is longer than the ${longest} bytes that systems allow`,
    hint: 'set XDG_RUNTIME_DIR to a shorter path',
  })
}

function foreign(folder: string): BusbarError {
  return new BusbarError('ADMIN_UNAVAILABLE', {
    message: `${folder}, where the admin socket would be, belongs to another user`,
    hint: 'set XDG_RUNTIME_DIR to a folder of your own',
  })
}
