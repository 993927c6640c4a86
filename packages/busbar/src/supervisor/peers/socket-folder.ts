import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { temporaryPrefix } from '../../shared/process/temporary-folders.ts'

/** Bytes. A socket path has at most 103 on macOS, 107 on Linux. */
const longest = 103
/** Bytes for the number of a worker and of its server: `/1234-56`. */
const reserved = 12

/**
 * The folder of the Unix sockets on which workers accept links, and services the connections of
 * others; only its user can open it.
 */
export class SocketFolder {
  /** Undefined on Windows, where named pipes have no folder. */
  readonly path: string | undefined
  readonly #prefix: string

  /** `secret`: makes the names of pipes unguessable. Throws PLACEMENT_UNSUPPORTED. */
  constructor(secret: string) {
    this.path = process.platform === 'win32' ? undefined : makeFolder(tmpdir())
    this.#prefix = this.path === undefined ? `\\\\.\\pipe\\busbar-${secret.slice(0, 16)}-` : `${this.path}/`
    if (this.path !== undefined) foldersToRemove.add(this.path)
  }

  socketOf(worker: number): string {
    return `${this.#prefix}${worker}`
  }

  remove(): void {
    if (this.path !== undefined) foldersToRemove.remove(this.path)
  }
}

/** The program in which apps run may call `process.exit()`. One listener serves all apps. */
class FoldersToRemove {
  readonly #paths = new Set<string>()
  readonly #onExit = (): void => this.#paths.forEach((path) => this.remove(path))

  add(path: string): void {
    if (this.#paths.size === 0) process.on('exit', this.#onExit)
    this.#paths.add(path)
  }

  remove(path: string): void {
    this.#paths.delete(path)
    if (this.#paths.size === 0) process.off('exit', this.#onExit)
    rmSync(path, { recursive: true, force: true })
  }
}

const foldersToRemove = new FoldersToRemove()

/** Absolute, because the working directory of a process is its service's folder. */
function makeFolder(temporary: string): string {
  const parent = resolve(temporary)
  const template = join(parent, temporaryPrefix('links'))
  if (Buffer.byteLength(template) + '123456'.length + reserved > longest)
    throw unusable(parent, `the path is too long: a path of a socket has at most ${longest} bytes`)
  try {
    // It is created with 0700.
    return mkdtempSync(template)
  } catch (cause) {
    throw unusable(parent, (cause as Error).message, cause)
  }
}

function unusable(parent: string, why: string, cause?: unknown): BusbarError {
  return new BusbarError('PLACEMENT_UNSUPPORTED', {
    message: `services need a folder for their sockets, which cannot be created in ${parent}: ${why}`,
    hint: 'Set TMPDIR to a folder with a short path that this user may write to, such as /tmp.',
    cause,
  })
}
