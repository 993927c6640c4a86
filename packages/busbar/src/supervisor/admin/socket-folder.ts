import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'

/** Where the processes of an app listen for each other: a folder that nobody else may look into. */
export class SocketFolder {
  /** Undefined on Windows, whose pipes have names of their own. */
  readonly path: string | undefined
  readonly #prefix: string

  /** `secret`: what nobody else can guess, for names that are not in a folder. Throws PLACEMENT_UNSUPPORTED. */
  constructor(secret: string) {
    this.path = process.platform === 'win32' ? undefined : makeFolder(tmpdir())
    this.#prefix = this.path === undefined ? `\\\\.\\pipe\\busbar-${secret.slice(0, 16)}-` : `${this.path}/`
  }

  socketOf(worker: number): string {
    return `${this.#prefix}${worker}`
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { recursive: true, force: true })
  }
}

function makeFolder(parent: string): string {
  try {
    // `mkdtemp` gives 0700. The name is short: a socket's path has room for 107 bytes, on macOS for 103.
    return mkdtempSync(join(parent, 'busbar-links-'))
  } catch (cause) {
    throw new BusbarError('PLACEMENT_UNSUPPORTED', {
      message: `services that run as a process need a folder for their sockets, and ${parent} cannot have one: ${(cause as Error).message}`,
      hint: "set TMPDIR to a folder that this user may write to, or mount one there; run: 'thread' and 'shared' need none",
      cause,
    })
  }
}
