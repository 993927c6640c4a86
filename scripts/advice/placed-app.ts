/** A generated app at one placement, as a process of its own, and what it advises. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { type GeneratedApp, type Placement, programOf } from './generated-app.ts'

const command = join(import.meta.dirname, '../../packages/busbar/bin/busbar.js')
/** Of traces: the bytes of calls are known from them. */
const sample = 0.05

const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export interface Suggestion {
  readonly moves: readonly { readonly service: string; readonly run: Placement[string] }[]
  readonly text: string
}

export class PlacedApp implements AsyncDisposable {
  readonly placement: Placement
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(placement: Placement, url: string, child: ChildProcess, folder: string) {
    this.placement = placement
    this.url = url
    this.#child = child
    this.#folder = folder
  }

  /** `cache`: the folder where the measured costs of calls are kept. */
  static async start(app: GeneratedApp, placement: Placement, cache: string): Promise<PlacedApp> {
    const folder = mkdtempSync(join(tmpdir(), 'busbar-advice-'))
    for (const service of app.services) {
      mkdirSync(join(folder, service.name))
      writeFileSync(join(folder, service.name, 'index.js'), programOf(service))
    }
    const services = Object.fromEntries(
      app.services.map(({ name }) => [name, { path: `./${name}`, run: placement[name] }]),
    )
    const config = { gateway: { port: 0, entry: 'web' }, traces: { sample }, services }
    writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
    const child = spawn(process.execPath, [command, 'start', folder, '--once'], {
      env: { ...process.env, XDG_RUNTIME_DIR: join(folder, 'run'), XDG_CACHE_HOME: cache },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return new PlacedApp(placement, await urlOf(child), child, folder)
  }

  /** The best suggestion, if there is one. The app needs load meanwhile. */
  async advice(seconds: number): Promise<Suggestion | undefined> {
    const { suggestions } = (await this.#ask('GET', `/advice?seconds=${seconds}`)) as { suggestions: Suggestion[] }
    return suggestions[0]
  }

  /** Measures the costs of calls on this machine, without load. */
  async calibrate(): Promise<{ readonly others: number }> {
    const { costs } = (await this.#ask('POST', '/advice/costs', {})) as { costs: { others: number } }
    return costs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #ask(method: string, path: string, body?: object): Promise<object> {
    const folder = join(this.#folder, 'run', 'busbar')
    const socketPath = join(
      folder,
      readdirSync(folder).find((file) => file.endsWith('.sock'))!,
    )
    const sent = request({ socketPath, method, path, headers: { 'content-type': 'application/json' }, agent: false })
    sent.end(body && JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const answer = (await json(response)) as { detail?: string }
    if (response.statusCode! >= 300) throw new Error(`${method} ${path} of ${this.url}: ${answer.detail}`)
    return answer
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { addresses } = JSON.parse(line) as { addresses?: { url: string }[] }
    if (addresses === undefined) continue
    child.stdout!.resume()
    return addresses[0]!.url
  }
  throw new Error('the app ended before it served')
}
