import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const source = join(import.meta.dirname, '..', 'go')

/** Built once for the tests of a file. Go's own cache makes it quick from the second time on. */
export class GoProgram implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** A reason to skip tests of Go, or false. */
  static async missing(): Promise<string | false> {
    return await run('go', ['version']).then(
      () => false as const,
      () => 'there is no go on PATH',
    )
  }

  static async build(): Promise<GoProgram> {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-go-'))
    const env = { ...process.env, GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' }
    await run('go', ['build', '-o', join(folder, 'program'), '.'], { cwd: source, env })
    return new GoProgram(folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  /** Returns the lines that the program writes. Rejects with its words if it fails. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const { stdout } = await run(join(this.#folder, 'program'), args, { env: { ...process.env, ...env } })
    return stdout.trim().split('\n')
  }

  /** The program as a server, and the port that it listens on. */
  async serve(): Promise<{ child: ChildProcess; port: number }> {
    const child = spawn(join(this.#folder, 'program'), ['server'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    return { child, port: Number(line) }
  }
}
