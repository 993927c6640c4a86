import { randomUUID } from 'node:crypto'
import type { App } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import type { StartOptions } from '../../../src/supervisor/running-app.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/**
 * Answers with the thread that it runs in, and forwards `/call/<service>/<path>` to that service.
 */
const program = `
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
const id = randomUUID()
createServer(async (request, response) => {
  const [, what, argument, ...rest] = request.url.split('/')
  if (what === 'later') await new Promise((resolve) => setTimeout(resolve, Number(argument)))
  if (what !== 'call') return response.end(JSON.stringify({ id, mode: process.env.MODE, pid: process.pid }))
  try {
    response.end(await (await fetch('http://' + argument + '.internal/' + rest.join('/'))).text())
  } catch (error) {
    response.writeHead(502).end(String(error.cause ?? error))
  }
}).listen(3000)`

export interface Answer {
  readonly id: string
  readonly mode?: string
  readonly pid: number
}

/** An app whose config the test edits while it runs. */
export class ChangingApp implements AsyncDisposable {
  readonly folder: TestFolder
  readonly app: TestApp

  private constructor(folder: TestFolder, app: TestApp) {
    this.folder = folder
    this.app = app
  }

  /** `services` by name, without their path. The first one is the entry. `files`: more of them. */
  static async start(
    services: object,
    rest: object = {},
    options: Partial<StartOptions> = {},
    files: Readonly<Record<string, string>> = {},
  ): Promise<ChangingApp> {
    const broken = `throw new Error('${randomUUID()}')`
    const folder = new TestFolder({ 'program.mjs': program, 'broken.mjs': broken, ...files })
    folder.write('busbar.config.json', configOf(services, rest))
    const load: StartOptions['load'] = (placements) => loadApp(folder.path, { placements })
    return new ChangingApp(folder, await TestApp.startLoaded(await load({}), { load, ...options }))
  }

  write(services: object, rest: object = {}): void {
    this.folder.write('busbar.config.json', configOf(services, rest))
  }

  /** The app as the config is now. */
  async load(): Promise<App> {
    return await loadApp(this.folder.path)
  }

  async get(path: string): Promise<Response> {
    return await fetch(`${this.app.url}${path}`, { headers: { connection: 'close' } })
  }

  /** The instance of the service that answers, as the entry calls it. */
  async ask(service: string): Promise<Answer> {
    const answer = await this.get(`/call/${service}`)
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return JSON.parse(text) as Answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

/**
 * Calls the `cart` until the returned function is called. `seen` gets the text of each answer.
 */
export function callAgainAndAgain(app: ChangingApp, seen?: (text: string) => void): () => Promise<unknown> {
  let isOver = false
  const calling = Promise.all(
    Array.from({ length: 4 }, async () => {
      // A test that has failed stops the app under it.
      while (!isOver)
        await app
          .get('/call/cart')
          .then((answer) => answer.text())
          .then(seen)
          .catch(() => (isOver = true))
    }),
  )
  return () => {
    isOver = true
    return calling
  }
}

function configOf(services: object, rest: object): object {
  const listed = Object.entries(services).map(([name, service]) => [name, { path: './program.mjs', ...service }])
  const [entry] = Object.keys(services)
  // Shorter than the default: most tests are not about it, and call often enough for it.
  return { gateway: { port: 0, entry }, slowStart: 1000, services: Object.fromEntries(listed), ...rest }
}
