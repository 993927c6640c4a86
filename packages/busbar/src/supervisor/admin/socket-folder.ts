import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the processes of an app listen for each other: a folder that nobody else may look into. */
export class SocketFolder {
  /** Undefined on Windows, whose pipes have names of their own. */
  readonly path: string | undefined
  readonly #prefix: string

  /** `secret`: what nobody else can guess, for names that are not in a folder. */
  constructor(secret: string) {
    // `mkdtemp` gives 0700. The name is short: a socket's path has room for 107 bytes, on macOS for 103.
    this.path = process.platform === 'win32' ? undefined : mkdtempSync(join(tmpdir(), 'busbar-links-'))
    this.#prefix = this.path === undefined ? `\\\\.\\pipe\\busbar-${secret.slice(0, 16)}-` : `${this.path}/`
  }

  socketOf(worker: number): string {
    return `${this.#prefix}${worker}`
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { recursive: true, force: true })
  }
}
