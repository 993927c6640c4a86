/**
 * Temporary folders. The name of each contains the process that it belongs to. A process that was
 * killed could not remove its own: the next command does.
 */
import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isAbandonedSocket } from '../listeners/abandoned-socket.ts'
import { isSameProcess, pidNamespace, startOf } from './process-identity.ts'

/** `links`: of the sockets of an app. `file`: of a file that a command reads. */
type Kind = 'links' | 'file'

const pattern = /^busbar-(?:links|file)-(\d+)-([a-z\d]+)-([a-z\d]*)-\w{6}$/

/**
 * Milliseconds. A folder of another container with the same temporary files, whose processes cannot
 * be seen from here, is left alone for this time.
 */
const foreignRest = 60_000

/**
 * For `mkdtemp`, which appends six characters and lets only this user enter the folder. `pid`: of
 * the process that it belongs to.
 */
export function temporaryPrefix(kind: Kind, pid: number = process.pid): string {
  return `busbar-${kind}-${pid}-${startOf(pid)}-${namespaceText()}-`
}

/** Removes the folders of this user whose processes have ended. Never rejects. */
export async function removeAbandonedFolders(): Promise<void> {
  if (process.platform === 'win32') return
  const parent = resolve(tmpdir())
  await Promise.all(
    namesIn(parent).map(async (name) => {
      const path = join(parent, name)
      if (await isAbandoned(path, pattern.exec(name))) remove(path)
    }),
  )
}

async function isAbandoned(path: string, match: RegExpExecArray | null): Promise<boolean> {
  if (match === null) return false
  const [, pid, start, namespace] = match as unknown as [string, string, string, string]
  const isOurs = namespace === namespaceText()
  if (isOurs && isSameProcess(Number(pid), start)) return false
  const stats = statsOf(path)
  // Anybody may create a file with such a name.
  if (stats?.isDirectory() !== true || stats.uid !== process.getuid?.()) return false
  return isOurs || (await isSilent(path, stats))
}

/** Whether nothing has changed for a while, and nobody listens on any of its sockets. */
async function isSilent(path: string, folder: Stats): Promise<boolean> {
  const paths = namesIn(path).map((name) => join(path, name))
  const newest = Math.max(folder.mtimeMs, ...paths.map((file) => statsOf(file)?.mtimeMs ?? 0))
  if (Date.now() - newest < foreignRest) return false
  const abandoned = await Promise.all(paths.map((file) => isAbandonedSocket(file)))
  return abandoned.every(Boolean)
}

function namespaceText(): string {
  const digits = pidNamespace().replaceAll(/\D/g, '')
  return digits === '' ? '' : Number(digits).toString(36)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // The next command tries again.
  }
}
