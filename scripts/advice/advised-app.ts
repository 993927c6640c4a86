/** Runs a generated app under load, asks for advice, and moves its services. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GeneratedApp, programOf } from './generated-app.ts'

const command = join(import.meta.dirname, '../../packages/busbar/bin/busbar.js')
const clients = 8

interface Suggestion {
  readonly moves: readonly { readonly service: string; readonly run: string }[]
}

export class AdvisedApp implements AsyncDisposable {
  readonly #app: GeneratedApp
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #url: string
  readonly #load: Load
  #shared: ReadonlySet<string> = new Set()

  private constructor(app: GeneratedApp, child: ChildProcess, folder: string, url: string) {
    this.#app = app
    this.#child = child
    this.#folder = folder
    this.#url = url
    this.#load = new Load(url)
  }

  static async start(app: GeneratedApp): Promise<AdvisedApp> {
    const folder = mkdtempSync(join(tmpdir(), 'busbar-advice-'))
    for (const service of app.services) {
      mkdirSync(join(folder, service.name))
      writeFileSync(join(folder, service.name, 'index.js'), programOf(service))
    }
    const services = Object.fromEntries(app.services.map(({ name }) => [name, `./${name}`]))
    const config = { gateway: { port: 0, entry: 'web' }, traces: { sample: 0.01 }, services }
    writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
    const child = spawn(process.execPath, [command, 'start', folder, '--once'], {
      env: { ...process.env, XDG_RUNTIME_DIR: join(folder, 'run') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    process.once('exit', () => child.kill('SIGKILL'))
    return new AdvisedApp(app, child, folder, await urlOf(child))
  }

  /** The services that run together when the first suggestion is applied. */
  async advice(seconds: number): Promise<readonly string[]> {
    await this.#costs()
    const { suggestions } = (await this.#ask('GET', `/advice?seconds=${seconds}`)) as { suggestions: Suggestion[] }
    const shared = suggestions[0]?.moves.filter(({ run }) => run === 'shared').map(({ service }) => service) ?? []
    return shared.length === 1 ? [] : shared
  }

  async place(shared: readonly string[]): Promise<void> {
    for (const { name } of this.#app.services) {
      const [is, should] = [this.#shared.has(name), shared.includes(name)]
      if (is !== should) await this.#ask('POST', `/services/${name}/move`, { run: should ? 'shared' : 'thread' })
    }
    this.#shared = new Set(shared)
  }

  /** Answers per second. */
  async rate(seconds: number): Promise<number> {
    const [before, began] = [this.#load.answers, performance.now()]
    await sleep(seconds * 1000)
    return ((this.#load.answers - before) / (performance.now() - began)) * 1000
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load.stop()
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #costs(): Promise<void> {
    const { costs } = (await this.#ask('GET', '/advice/costs')) as { costs: object | null }
    if (costs === null) await this.#ask('POST', '/advice/costs', {})
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
    if (response.statusCode! >= 300) throw new Error(`${method} ${path} of ${this.#url}: ${answer.detail}`)
    return answer
  }
}

/** Clients that wait for each answer. */
class Load {
  answers = 0
  readonly #agent = new Agent({ keepAlive: true })
  #isOver = false
  readonly #clients: Promise<unknown>

  constructor(url: string) {
    this.#clients = Promise.all(Array.from({ length: clients }, () => this.#call(url)))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#clients
    this.#agent.destroy()
  }

  async #call(url: string): Promise<void> {
    while (!this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      get(url, { agent: this.#agent }, (response) => {
        response.on('end', () => resolve(response.statusCode === 200)).on('error', () => resolve(false))
        response.resume()
      }).on('error', () => resolve(false))
      if (await promise) this.answers++
    }
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
