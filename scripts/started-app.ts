/** Starts the app of a temporary folder as a process, and asks its admin API. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'

const command = join(import.meta.dirname, '../packages/busbar/bin/busbar.js')

/** However this process ends, the apps end too. */
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export class StartedApp implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #socket: string

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url
    this.#child = child
    this.#folder = folder
    const run = join(folder, 'run', 'busbar')
    this.#socket = join(
      run,
      readdirSync(run).find((file) => file.endsWith('.sock'))!,
    )
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** The folder has the config, and is deleted with the app. */
  static async start(folder: string, env: NodeJS.ProcessEnv = {}): Promise<StartedApp> {
    const child = spawn(process.execPath, [command, 'start', folder, '--once'], {
      env: { ...process.env, XDG_RUNTIME_DIR: join(folder, 'run'), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return new StartedApp(await urlOf(child), child, folder)
  }

  /** Rejects with the problem's text unless the operation succeeds. */
  async ask(method: 'GET' | 'POST', path: string, body?: object): Promise<any> {
    const headers = { 'content-type': 'application/json' }
    const sent = request({ socketPath: this.#socket, method, path, headers, agent: false })
    sent.end(body && JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const answer = (await json(response)) as { detail?: string }
    if (response.statusCode! >= 300) throw new Error(`${method} ${path} of ${this.url}: ${answer.detail}`)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { addresses } = JSON.parse(line) as { addresses?: { url: string }[] }
    if (addresses === undefined) continue
    // Its later lines are read and dropped.
    child.stdout!.resume()
    return addresses[0]!.url
  }
  throw new Error('the app ended before it served')
}
