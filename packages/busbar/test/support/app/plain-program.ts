import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'

/**
 * A program under plain `node`, for comparison with a hosted one. Killed at the end of its scope.
 */
export class PlainProgram implements AsyncDisposable {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** The program listens on `PORT`, and prints `listening on <port>`. */
  static async start(file: string, env: NodeJS.ProcessEnv = {}): Promise<PlainProgram> {
    const child = spawn(process.execPath, [file], {
      cwd: dirname(file),
      env: { ...process.env, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      printed += text
      const found = /listening on (\d+)/.exec(printed)
      // Leaving the loop closes the pipe.
      if (found !== null) return new PlainProgram(child, Number(found[1]))
    }
    throw new Error(`${file} ended before it listened: ${printed}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.kill('SIGKILL')) await ended
  }
}
