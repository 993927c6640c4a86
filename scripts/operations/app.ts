/** Starts the app of the operations scripts as a process, and asks its admin API. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'

const programs = join(import.meta.dirname, 'programs')
const command = join(import.meta.dirname, '../../packages/busbar/bin/busbar.js')

export interface Service {
  readonly run: 'shared' | 'thread' | 'process'
  readonly instances?: number
}

export class MeasuredApp implements AsyncDisposable {
  readonly port: number
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #socket: string

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child
    this.#folder = folder
    this.port = port
    const run = join(folder, 'run', 'busbar')
    this.#socket = join(
      run,
      readdirSync(run).find((file) => file.endsWith('.sock'))!,
    )
  }

  /** `web` gets the requests, and asks `catalog` for each. */
  static async start(web: Service, catalog: Service): Promise<MeasuredApp> {
    const folder = mkdtempSync(join(tmpdir(), 'busbar-operations-'))
    const at = (name: string): string => join(programs, `${name}.mjs`)
    const services = { web: { path: at('web'), ...web }, catalog: { path: at('catalog'), ...catalog } }
    // A change waits for the drain of the one before.
    const limits = { webSocketDrain: 200 }
    // Instances are ended on purpose: no restart waits because of those before.
    const config = { gateway: { port: 0, routes: { '/': 'web' } }, limits, stableAfter: '500ms', services }
    writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
    const env = { ...process.env, XDG_RUNTIME_DIR: join(folder, 'run') }
    const child = spawn(process.execPath, [command, 'start', folder, '--once'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    endWith(child)
    const addresses = await addressesOf(child)
    return new MeasuredApp(child, folder, Number(new URL(addresses[0]!.url).port))
  }

  /** Rejects with the problem's text unless the operation succeeds. */
  async ask(method: 'GET' | 'POST', path: string, body?: object): Promise<any> {
    const req = request({
      socketPath: this.#socket,
      method,
      path,
      headers: { 'content-type': 'application/json' },
      agent: false,
    })
    req.end(body && JSON.stringify(body))
    const [response] = (await once(req, 'response')) as [IncomingMessage]
    const answer = (await json(response)) as { detail?: string }
    if (response.statusCode! >= 300) throw new Error(`${method} ${path}: ${answer.detail}`)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** However this process ends, the app ends too. */
function endWith(child: ChildProcess): void {
  process.once('exit', () => child.kill('SIGKILL'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}

async function addressesOf(child: ChildProcess): Promise<{ url: string }[]> {
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) {
    const { addresses } = JSON.parse(line) as { addresses?: { url: string }[] }
    if (addresses === undefined) continue
    // Its later lines are read and dropped.
    child.stdout!.resume()
    return addresses
  }
  throw new Error('the app ended before it served')
}
